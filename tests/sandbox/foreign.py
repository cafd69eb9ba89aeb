"""A small task of somebody else: it runs commands in its sandbox, and reads what they wrote."""

import os
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

TASK = Path(__file__).read_text(encoding="utf-8")

# Each is to raise an error or to give something false. CANARY is a file, in a HOME, PORT a server.
ATTEMPTS = {
    "home": "got = os.listdir(HOME)",
    "users": "got = open('/etc/passwd').read()",
    "read a file of the user": "got = open(CANARY).read()",
    "write beside it": "got = open(HOME + '/new', 'w')",
    "write at the root": "got = open('/new', 'w')",
    "write among the programs": "got = open('/usr/bin/new', 'w')",
    "server of this machine": "got = socket.create_connection(('127.0.0.1', PORT), 2)",
    "other servers": "got = socket.create_connection(('192.0.2.1', 80), 2)",
    "names of servers": "got = socket.getaddrinfo('example.org', 80)",
    "environment": "got = os.environ.get('SECRET')",
    "root": "got = os.getuid() == 0 or os.setuid(0) is None",
    "processes": "got = os.listdir('/proc')",
}
TRY = """\
import json, os, socket, sys
CANARY, PORT, attempts = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
HOME = os.path.dirname(CANARY)
got, tried = {}, []
for name, attempt in attempts.items():
    scope = dict(globals())
    try:
        exec(attempt, scope)
        if scope["got"]:
            got[name] = repr(scope["got"])[:80]
    except OSError:
        pass
    tried.append(name)
json.dump({"got": got, "tried": tried}, open("tried.json", "w"))
print(sum(range(int(sys.stdin.read()))))
"""


@solver
def add_up() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        import json

        where = [os.environ["CANARY"], os.environ["PORT"], json.dumps(ATTEMPTS)]
        await sandbox().write_file("code/try.py", TRY)
        done = await sandbox().exec(["python3", "code/try.py", *where], input="5", timeout=60)
        state.metadata.update(json.loads(await sandbox().read_file("tried.json")))
        state.metadata["printed"] = done.stdout
        state.metadata["given"] = (await sandbox().exec(["cat", "given/file", "set-up"])).stdout
        return await generate(state)

    return solve


@scorer(metrics=[accuracy()])
def as_told() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        right = (state.metadata["printed"], state.metadata["given"]) == ("10\n", "from ustrue\n")
        return Score(value="C" if right else "I", metadata=state.metadata)

    return score


@task
def foreign() -> Task:
    output = ModelOutput.from_content("mockllm/model", "done")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    sample = Sample(input="?", files={"given/file": "from us"}, setup="echo true > set-up")
    model = get_model("mockllm/model", custom_outputs=[output])
    return Task(dataset=[sample], solver=add_up(), scorer=as_told(), model=model)
