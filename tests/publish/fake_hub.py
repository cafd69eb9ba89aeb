"""A Hugging Face Hub on loopback: enough of it for the real clients, with faults to order.

Every commit keeps its whole tree, so a test can check that nothing was ever lost. It answers on
127.0.0.1 only, takes a bounded number of requests, and ends with its `with` block.
"""

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from tests.publish.fake_repo import Answer, Refusal, Repo, blob_id, file_info, is_lfs

WRITE, READ, BOB = "hf_write", "hf_read", "hf_bob"
# Token → user and role; 401 for all others.
TOKENS = {WRITE: ("alice", "write"), READ: ("alice", "read"), BOB: ("bob", "write")}
MAX_REQUESTS = 3000
PAGE = 7  # entries of a page; small, so that tests turn pages


@dataclass
class Fault:
    """What goes wrong with the next `times` requests whose "METHOD /path?query" matches.

    `what` is a status, or "drop"; `landed` says whether the Hub has done its work by then;
    `delay` seconds pass before the work.
    """

    matching: str
    what: int | Literal["drop"] | None = None
    times: int = 1
    landed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


class FakeHub:
    """The Hub's state and its routes; `running()` serves it."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.log: list[str] = []
        self.largest = 10**9  # bytes that large-file storage takes
        self.lock = threading.RLock()
        self.url = ""
        self.store = ""  # large files are kept on another host: no token may get there

    def add(self, repo_id: str, *, private: bool = False, gated: bool = False) -> Repo:
        repo = self.repos[repo_id] = Repo(private, gated)
        repo.commit("main", "initial commit", {".gitattributes": b"*.parquet filter=lfs\n"})
        return repo

    def requests(self, pattern: str) -> list[str]:
        return [line for line in self.log if re.search(pattern, line)]

    def take_fault(self, line: str) -> Fault | None:
        with self.lock:
            self.log.append(line)
            if len(self.log) > MAX_REQUESTS:
                return Fault("", 503)
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.matching, line):
                    fault.times -= 1
                    return fault
        return None

    # Who may do what.

    def user(self, token: str | None) -> tuple[str, str] | None:
        if token is None:
            return None
        if token not in TOKENS:
            raise Refusal(401, "Invalid credentials in Authorization header")
        return TOKENS[token]

    def readable(self, repo_id: str, token: str | None) -> Repo:
        user, repo = self.user(token), self.repos.get(repo_id)
        own = user is not None and repo_id.startswith(f"{user[0]}/")
        if repo is None or (repo.private and not own):
            if user is None:
                raise Refusal(401, "Invalid username or password.", "RepoNotFound")
            raise Refusal(404, "Repository not found", "RepoNotFound")
        return repo

    def writable(self, repo_id: str, token: str | None) -> Repo:
        repo, user = self.readable(repo_id, token), self.user(token)
        self.may_write(repo_id.split("/")[0], user)
        return repo

    def may_write(self, owner: str, user: tuple[str, str] | None) -> None:
        if user is None:
            raise Refusal(401, "Invalid username or password.")
        if user[1] == "read":
            raise Refusal(403, "Forbidden: you must use a write token to upload to a repository.")
        if user[0] != owner:
            raise Refusal(403, f'You don\'t have the rights to write under the namespace "{owner}"')

    def content_of(self, repo_id: str, token: str | None) -> Repo:
        repo = self.readable(repo_id, token)
        if repo.gated:
            raise Refusal(403, f"Access to dataset {repo_id} is restricted.", "GatedRepo")
        return repo

    # Routes: the first pattern that matches "METHOD /path" is called with its groups.

    def answer(self, method: str, target: str, token: str | None, body: bytes) -> Answer:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        try:
            with self.lock:
                for pattern, route in ROUTES:
                    if found := re.fullmatch(pattern, f"{method} {parts.path}"):
                        groups = [unquote(group or "") for group in found.groups()]
                        return route(self, *groups, token=token, query=query, body=body)
            raise Refusal(404, "Not found")
        except Refusal as refusal:
            return refusal.answer

    def whoami(self, *, token: str | None, **_: Any) -> Answer:
        user = self.user(token)
        if user is None:
            raise Refusal(401, "Invalid username or password.")
        return Answer(200, {"type": "user", "name": user[0], "auth": {"role": user[1]}})

    def create(self, *, token: str | None, body: bytes, **_: Any) -> Answer:
        wanted = json.loads(body)
        user = self.user(token)
        owner = wanted["organization"] or (user[0] if user else "")
        self.may_write(owner, user)
        repo_id = f"{owner}/{wanted['name']}"
        url = f"{self.url}/datasets/{repo_id}"
        if repo_id in self.repos:
            return Answer(409, {"error": "You already created this dataset repo", "url": url})
        private = wanted.get("private") or wanted.get("visibility") == "private"
        self.add(repo_id, private=bool(private))
        return Answer(200, {"url": url})

    def settings(self, repo_id: str, *, token: str | None, body: bytes, **_: Any) -> Answer:
        wanted = json.loads(body)
        private = wanted.get("private", wanted.get("visibility") == "private")
        self.writable(repo_id, token).private = private
        return Answer(200, {"private": private})

    def info(self, repo_id: str, revision: str, *, token: str | None, **_: Any) -> Answer:
        repo = self.readable(repo_id, token)
        commit = repo.resolve(revision or "main")
        files = [{"rfilename": path} for path in sorted(commit.tree)]
        data = {"id": repo_id, "sha": commit.oid, "private": repo.private, "siblings": files}
        return Answer(200, data | {"gated": "auto" if repo.gated else False, "tags": []})

    def tree(
        self, repo_id: str, revision: str, folder: str, *, token: str | None, query: Any, **_: Any
    ) -> Answer:
        tree = self.readable(repo_id, token).resolve(revision).tree
        start = f"{folder}/" if folder else ""
        entries = {}
        for path, content in sorted(tree.items()):
            first, *deeper = path.removeprefix(start).split("/")
            if path.startswith(start) and deeper:
                place = start + first
                entries[place] = {"type": "directory", "path": place, "size": 0, "oid": "0" * 40}
            if path.startswith(start) and (not deeper or query.get("recursive") == "true"):
                entries[path] = file_info(path, content)
        if folder and not entries:
            raise Refusal(404, f"{folder} does not exist", "EntryNotFound")
        at, listed = int(query.get("cursor", 0)), list(entries.values())
        recursive = query.get("recursive", "false")
        here = f"{self.url}/api/datasets/{repo_id}/tree/{revision}{'/' + folder if folder else ''}"
        following = f'<{here}?recursive={recursive}&cursor={at + PAGE}>; rel="next"'
        more = at + PAGE < len(listed)
        return Answer(200, listed[at : at + PAGE], {"Link": following} if more else {})

    def paths_info(
        self, repo_id: str, revision: str, *, token: str | None, body: bytes, **_: Any
    ) -> Answer:
        tree = self.readable(repo_id, token).resolve(revision).tree
        wanted = parse_qs(body.decode()).get("paths", [])
        found = [file_info(path, tree[path]) for path in wanted if path in tree]
        for folder in wanted:
            if any(path.startswith(f"{folder}/") for path in tree):
                found.append({"type": "directory", "path": folder, "size": 0, "oid": "0" * 40})
        return Answer(200, found)

    def resolve(
        self, repo_id: str, revision: str, path: str, *, token: str | None, **_: Any
    ) -> Answer:
        commit = self.content_of(repo_id, token).resolve(revision)
        head = {"X-Repo-Commit": commit.oid}
        if path not in commit.tree:
            missing = Refusal(404, "Entry not found", "EntryNotFound").answer
            return missing._replace(headers={**missing.headers, **head})
        content = commit.tree[path]
        if is_lfs(path):  # kept elsewhere: the hash is in the answer, the content behind a redirect
            oid = hashlib.sha256(content).hexdigest()
            self.objects[oid] = content
            linked = {"X-Linked-ETag": f'"{oid}"', "X-Linked-Size": str(len(content))}
            return Answer(302, b"", {**head, **linked, "Location": f"{self.store}/lfs/{oid}"})
        return Answer(200, content, {**head, "ETag": f'"{blob_id(content)}"'})

    def commits(self, repo_id: str, revision: str, *, token: str | None, **_: Any) -> Answer:
        date = "2026-01-01T00:00:00.000Z"
        history = [
            {"id": c.oid, "title": c.title, "message": c.description, "authors": [], "date": date}
            for c in self.readable(repo_id, token).history(revision)
        ]
        return Answer(200, history)

    def discussions(self, repo_id: str, *, token: str | None, **_: Any) -> Answer:
        repo = self.readable(repo_id, token)
        listed = [
            {
                "title": title,
                "num": number,
                "author": {"name": "alice"},
                "createdAt": "2026-01-01T00:00:00.000Z",
                "status": "open",
                "repo": {"name": repo_id, "type": "dataset"},
                "isPullRequest": True,
            }
            for number, title in repo.pull_requests.items()
        ]
        return Answer(200, {"count": len(listed), "start": 0, "discussions": listed})

    # Writing.

    def validate(self, *, body: bytes, **_: Any) -> Answer:
        if "license: nonsense" in json.loads(body)["content"]:
            return Answer(400, {"errors": [{"message": '"license" must be one of [mit]'}]})
        return Answer(200, {"errors": [], "warnings": []})

    def preupload(
        self, repo_id: str, revision: str, *, token: str | None, query: Any, body: bytes, **_: Any
    ) -> Answer:
        repo = (self.readable if "create_pr" in query else self.writable)(repo_id, token)
        tree, wanted = repo.resolve(revision).tree, json.loads(body)
        rules = wanted.get("gitIgnore", tree.get(".gitignore", b"").decode()).splitlines()
        files = []
        for file in wanted["files"]:
            path, mode = file["path"], "lfs" if is_lfs(file["path"]) else "regular"
            ignored = any(fnmatch(path, rule) for rule in rules)
            entry = {"path": path, "uploadMode": mode, "shouldIgnore": ignored}
            if path in tree:
                info = file_info(path, tree[path])
                entry["oid"] = info["lfs"]["oid"] if mode == "lfs" else info["oid"]
            files.append(entry)
        return Answer(200, {"files": files})

    def lfs_batch(self, repo_id: str, *, token: str | None, body: bytes, **_: Any) -> Answer:
        self.readable(repo_id, token)
        objects = []
        for wanted in json.loads(body)["objects"]:
            entry = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["size"] > self.largest:
                entry["error"] = {"code": 403, "message": "The storage limit is reached"}
            elif wanted["oid"] not in self.objects:
                entry["actions"] = {
                    "upload": {"href": f"{self.store}/lfs/{wanted['oid']}"},
                    "verify": {"href": f"{self.url}/lfs/verify"},
                }
            objects.append(entry)
        return Answer(200, {"transfer": "basic", "objects": objects})

    def lfs_put(self, oid: str, *, token: str | None, body: bytes, **_: Any) -> Answer:
        assert token is None, "the token left the Hub"
        if hashlib.sha256(body).hexdigest() != oid:
            raise Refusal(400, "The content is not what its hash says")
        self.objects[oid] = body
        return Answer(200)

    def lfs_get(self, oid: str, *, token: str | None, **_: Any) -> Answer:
        assert token is None, "the token left the Hub"
        return Answer(200, self.objects[oid], {"ETag": f'"{oid}"'})

    def lfs_verify(self, *, body: bytes, **_: Any) -> Answer:
        if json.loads(body)["oid"] not in self.objects:
            raise Refusal(404, "Object was not uploaded")
        return Answer(200)

    def commit(
        self, repo_id: str, revision: str, *, token: str | None, query: Any, body: bytes, **_: Any
    ) -> Answer:
        proposal = query.get("create_pr") == "1"
        repo = (self.readable if proposal else self.writable)(repo_id, token)
        if proposal and self.user(token) is None:
            raise Refusal(401, "Invalid username or password.")
        lines = [json.loads(line) for line in body.splitlines()]
        header, files = lines[0]["value"], {}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile" and value["oid"] in self.objects:
                files[value["path"]] = self.objects[value["oid"]]
            else:
                raise Refusal(400, f"Cannot commit {line['key']} {value['path']}")
        if header.get("parentCommit") not in (None, repo.refs[revision]):
            raise Refusal(412, "A commit has happened since. Please refresh and try again.")
        number = len(repo.pull_requests) + 1
        if proposal:
            repo.pull_requests[number] = header["summary"]
            repo.refs[f"refs/pr/{number}"] = repo.refs[revision]
            revision = f"refs/pr/{number}"
        oid = repo.commit(revision, header["summary"], files, header.get("description", ""))
        here = f"{self.url}/datasets/{repo_id}"
        done = {"success": True, "commitOid": oid, "commitUrl": f"{here}/commit/{oid}"}
        return Answer(
            200, done | {"pullRequestUrl": f"{here}/discussions/{number}"} if proposal else done
        )

    @contextmanager
    def running(self) -> Iterator["FakeHub"]:
        """Serve on a free port of 127.0.0.1 until the block ends."""
        handler = type("Handler", (_Handler,), {"hub": self})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            server.daemon_threads = True
            self.url = f"http://127.0.0.1:{server.server_port}"
            self.store = f"http://localhost:{server.server_port}"
            thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


_API = r"/api/datasets/([^/]+/[^/]+)"
Route = Callable[..., Answer]
ROUTES: list[tuple[str, Route]] = [
    (r"GET /api/whoami-v2", FakeHub.whoami),
    (r"POST /api/repos/create", FakeHub.create),
    (r"POST /api/validate-yaml", FakeHub.validate),
    (rf"PUT {_API}/settings", FakeHub.settings),
    (rf"GET {_API}(?:/revision/([^/]+))?", FakeHub.info),
    (rf"GET {_API}/tree/([^/]+)(?:/(.+))?", FakeHub.tree),
    (rf"POST {_API}/paths-info/([^/]+)", FakeHub.paths_info),
    (rf"GET {_API}/commits/([^/]+)", FakeHub.commits),
    (rf"GET {_API}/discussions", FakeHub.discussions),
    (rf"POST {_API}/preupload/([^/]+)", FakeHub.preupload),
    (rf"POST {_API}/commit/([^/]+)", FakeHub.commit),
    (r"POST /datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", FakeHub.lfs_batch),
    (r"POST /lfs/verify", FakeHub.lfs_verify),
    (r"PUT /lfs/(\w+)", FakeHub.lfs_put),
    (r"(?:GET|HEAD) /lfs/(\w+)", FakeHub.lfs_get),
    (r"(?:GET|HEAD) /datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", FakeHub.resolve),
]


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"
    timeout = 20
    # Headers and body in one packet: two small ones wait 40 ms for each other.
    wbufsize = -1
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with suppress(ConnectionError):  # a client that was killed
            super().handle()

    def serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionResetError("the client is gone")
        fault = self.hub.take_fault(f"{self.command} {self.path}")
        if fault is not None and fault.delay:
            time.sleep(fault.delay)
        if fault is None or fault.landed or fault.what is None:
            scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
            answer = self.hub.answer(self.command, self.path, token if scheme else None, body)
        if fault is not None and fault.what == "drop":
            self.close_connection = True
            self.connection.close()
            return
        if fault is not None and fault.what is not None:
            answer = Answer(int(fault.what), {"error": "a fault was ordered"}, fault.headers)
        self.send(answer)

    do_GET = do_HEAD = do_POST = do_PUT = serve

    def send(self, answer: Answer) -> None:
        content = (
            answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        )
        self.send_response(answer.status)
        kind = "application/octet-stream" if isinstance(answer.body, bytes) else "application/json"
        for name, value in {"Content-Type": kind, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass
