"""An organiser's server on loopback that keeps the rules of one session at a time, and counts.

It can be told to fail: `failures` are answered first, before anything is done (or after it, where
`too_late`), each by its status or, for 0, by hanging up.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

TOKEN = "token-of-lab"
Reply = tuple[int, dict[str, Any]]


class FakeExam:
    def __init__(self, quota: int = 1000) -> None:
        self.quota = quota
        self.sessions: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, dict[int, str]] = {}
        self.asked: Counter[tuple[str, int]] = Counter()
        self.calls: list[str] = []
        self.failures: list[int] = []
        self.too_late = False
        self.lock = Lock()
        self.address = ""

    def reply(self, method: str, path: str, headers: Any, body: dict[str, Any]) -> Reply:
        if headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, {"detail": "the token has expired"}
        if (method, path) == ("POST", "/sessions"):
            return self.start(headers["Idempotency-Key"], body)
        if not (found := re.fullmatch(r"/sessions/(\w+)(?:/(questions|answers)/(\d+))?", path)):
            return 404, {"detail": "Not Found"}
        name, what, place = found[1], found[2], int(found[3] or 0)
        if name not in self.answers:
            return 404, {"detail": "there is no such session of yours"}
        if what is None:
            return 200, self.standing(name)
        done = len(self.answers[name])
        if place > done + 1:
            return 409, {"detail": f"question {done + 1} comes first"}
        if what == "questions":
            self.asked[name, place] += 1
            return 200, question(place, self.standing(name)["k"])
        before = self.answers[name].setdefault(place, body["answer"])
        if before != body["answer"]:
            return 409, {"detail": f"question {place} has its answer, which cannot be changed"}
        after = self.standing(name)
        return 200, {"position": place, "next": after["next"], "state": after["state"]}

    def start(self, key: str, body: dict[str, Any]) -> Reply:
        names = {session["key"]: name for name, session in self.sessions.items()}
        if key in names:
            return 200, self.standing(names[key])
        if any(self.standing(name)["state"] == "open" for name in self.sessions):
            return 409, {"detail": "session s1 of this token is open: answer its questions first"}
        if body["k"] > self.quota:
            return 403, {"detail": f"the quota of lab has {self.quota} questions left"}
        self.quota -= body["k"]
        name = f"s{len(self.sessions) + 1}"
        self.sessions[name] = {**body, "key": key}
        self.answers[name] = {}
        return 201, self.standing(name)

    def standing(self, name: str) -> dict[str, Any]:
        session, answered = self.sessions[name], len(self.answers[name])
        over = answered == session["k"]
        return {
            **{"id": name, "k": session["k"], "state": "complete" if over else "open"},
            **{"answered": answered, "next": None if over else answered + 1, "released": False},
            **{"model": session["model"], "prompting": session["prompting"]},
        }


def question(place: int, k: int) -> dict[str, Any]:
    return {
        **{"position": place, "of": k, "category": "Law", "sub_category": ""},
        **{"type": "multiple_choice", "question": f"What is {place}?", "options": ["x", "y"]},
    }


@contextmanager
def running(exam: FakeExam) -> Iterator[FakeExam]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
            with exam.lock:
                exam.calls.append(f"{self.command} {self.path}")
                failure = exam.failures.pop(0) if exam.failures else None
                if failure is None or exam.too_late:
                    status, found = exam.reply(self.command, self.path, self.headers, body)
                if failure is not None:
                    status, found = failure, {"detail": "down for a moment"}
            if not status:
                self.close_connection = True
                return
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    exam.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield exam
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
