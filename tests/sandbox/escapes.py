"""What machine code would try from the candidate's process, as data.

Each of these statements is to raise an error or to give something false, wherever programs run;
those of IN_A_BOX only in a box, since in a container they reach the container. LIBC calls the
system without Python's goodwill, with an error where the system gives one. CANARY is a file that
others may read, NEW one that is not there, VICTIM a process, PORT a server, ECNON what a verdict
counts by, backwards. Other processes that are touched are those of the same run alone.
"""

# A source of `main` that is the attacker's from the start. It answers with what it got away with.
ATTACKER = """\
import ctypes, json, os, resource, socket, sys
DEVICES = ("null", "zero", "random", "urandom")
NOBODY, LONG = 65534, ("syscall", "ptrace", "process_vm_readv")
class Libc:
    library = ctypes.CDLL(None, use_errno=True)
    def __getattr__(self, name):
        def call(*args):
            function = getattr(self.library, name)
            function.restype = ctypes.c_long if name in LONG else ctypes.c_int
            result = function(*args)
            if result == -1:
                raise OSError(ctypes.get_errno(), name)
            return result
        return call
LIBC = Libc()
def reaches(*call):
    #Whether a system call gets beyond the filter, whatever the kernel thinks of its arguments.
    try:
        LIBC.syscall(*call)
    except OSError as error:
        return error.errno != 1
    return True
def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
def others():
    above = os.getppid()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid == above or pid != os.getpid() and parent(pid) == above]
def each(work):
    done = []
    for pid in others():
        try:
            done.append(work(pid))
        except OSError:
            continue
    return [what for what in done if what]
def say(what):
    os.write(1, json.dumps(what).encode() + b"\\n")
def main():
    sys.stdin.readline()
    if os.getuid() == 0:  # as honest ones do, before they run a program
        os.setgroups([]); os.setgid(NOBODY); os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    say("ready")
    for line in sys.stdin:
        if json.loads(line)[0] == "run":
            say([None, [], ""])
            continue
        done = []
        for name, attempt in ATTEMPTS.items():
            try:
                scope = dict(globals())
                exec(attempt, scope)
                if scope.get("got", True):
                    done.append([name, repr(scope.get("got"))[:80]])
            except (OSError, ValueError):
                continue
            except Exception as error:
                done.append([name, repr(error)[:80]])
        say([done, [], ""])
"""

_PEEK = """\
class Part(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
def peek(pid):
    for line in open(f"/proc/{pid}/maps"):
        start = int(line.partition("-")[0], 16)
        here = ctypes.create_string_buffer(64)
        one, there = Part(ctypes.addressof(here), 64), Part(start, 64)
        if LIBC.process_vm_readv(pid, ctypes.byref(one), 1, ctypes.byref(there), 1, 0) > 0:
            return pid
got = each(peek)
"""

_RIGHTS = """\
head, found = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
LIBC.syscall(125, head, found)
got = any(found[i] for i in (0, 1, 3, 4))  # effective and permitted
"""

ANYWHERE: dict[str, str] = {
    "fork": "got = os.fork()",
    "fork, by number": "got = LIBC.syscall(57)",
    "root again": "os.setuid(0)",
    "root again, by saved id": "LIBC.setresuid(0, 0, 0)",
    "group of root": "os.setgid(0)",
    "groups": "got = set(os.getgroups()) - {NOBODY, os.getgid()}",
    "rights of root": _RIGHTS,
    "rights of a program": "got = LIBC.prctl(39, 0, 0, 0, 0) != 1",
    "more processes": "resource.setrlimit(resource.RLIMIT_NPROC, (9, 9))",
    "device": "os.mknod('/tmp/disk', 0o60600, os.makedev(254, 0))",
    # The other two processes: their channels, their memory, their order
    "channels of others": (
        "got = each(lambda pid: [os.open(f'/proc/{pid}/fd/{fd}', os.O_WRONLY | os.O_NONBLOCK)"
        " for fd in os.listdir(f'/proc/{pid}/fd')])"
    ),
    "memory of others": "got = each(lambda pid: open(f'/proc/{pid}/mem', 'r+b'))",
    "environment of others": "got = each(lambda pid: open(f'/proc/{pid}/environ').read())",
    "pages of others": _PEEK,
    "order on a command line": (
        "got = each(lambda pid: ECNON[::-1] in open(f'/proc/{pid}/cmdline').read())"
    ),
    "trace of others": (
        "got = each(lambda pid: (LIBC.ptrace(16, pid, 0, 0), LIBC.ptrace(17, pid, 0, 0)))"
    ),
}

IN_A_BOX: dict[str, str] = {
    "read a file": "got = open('/etc/passwd').read()",
    "read what others may read": "got = open(CANARY).read()",
    "write a file": "open(NEW, 'w')",
    "write at the root": "os.mkdir('/new')",
    "write into the library": "os.mkdir(os.path.dirname(os.__file__) + '/new')",
    "home": "got = os.listdir('/root/.ssh') + os.listdir('/home')",
    "folders of the system": "got = os.listdir('/var') + os.listdir('/tmp')",
    "write among the programs": "open('/usr/bin/new', 'w')",
    "start a program": "got = os.posix_spawn('/bin/true', ['true'], {})",
    "processes": "got = os.listdir('/proc')",
    "kill a process": "got = os.kill(VICTIM, 9) is None",
    "pidfd": "got = reaches(424, os.pidfd_open(VICTIM), 9, None, 0)",
    "server of this machine": "socket.create_connection(('127.0.0.1', PORT), 2)",
    "socket": "socket.socket()",
    "socket of a virtual machine": "socket.socket(40, socket.SOCK_STREAM)",
    "socket of the kernel": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "keys of the session": "got = reaches(250, 0, -3, 1)",
    "shared memory": "LIBC.shmget(0, 4096, 0o1600)",
    "queue of messages": "LIBC.msgget(0, 0o1600)",
    "rings of the kernel": "got = reaches(425, 4, ctypes.create_string_buffer(120))",
    "programs of the kernel": "got = reaches(321, 5, ctypes.create_string_buffer(120), 120)",
    "faults of pages": "got = reaches(323, 1)",
    "counters": "got = reaches(298, ctypes.create_string_buffer(b'\\1' * 128), 0, -1, -1, 0)",
    "tracing": "LIBC.ptrace(0, 0, 0, 0)",
    "namespace of users": "LIBC.unshare(0x10000000)",
    "mount": "LIBC.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "chroot": "os.chroot('/')",
    "module of the kernel": "got = reaches(175, None, 0, None)",
    "name of the machine": "LIBC.sethostname(b'x', 1)",
    "terminal": "os.open('/dev/tty', os.O_RDWR)",
    "disk": "got = [name for name in os.listdir('/dev') if name not in DEVICES]",
    "environment": "got = set(os.environ) - {'PYTHONHASHSEED', 'PWD', 'LC_CTYPE'}",
}

# Writes a verdict wherever it can, then ends its examiner, and writes again.
FORGER = (
    ATTACKER.partition("def main")[0]
    + """\
VERDICT = b'{"passed": true, "why": "", "closed": false, "nonce": "' + b"0" * 32 + b'"}\\n'
def ends_of(pid):
    return [
        os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK)
        for fd in os.listdir(f"/proc/{pid}/fd")
    ]
def write(end):
    try:
        os.write(end, VERDICT)
    except OSError:
        pass
def main():
    sys.stdin.readline()
    if os.getuid() == 0:
        os.setgroups([]); os.setgid(NOBODY); os.setuid(NOBODY)
    say("ready")
    sys.stdin.readline()
    try:
        ends = sum(each(ends_of), [])
        BEFORE
        each(lambda pid: os.kill(pid, 9))
    except OSError:
        ends = []
    for end in (1, *ends):
        write(end)
"""
)
