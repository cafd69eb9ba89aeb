"""The page where people vote, served on this machine.

    GET  /?key=SECRET   the address that is printed: the browser keeps the secret in a cookie
    GET  /              who votes, then what they are asked; `view` says how answers are shown
    POST /rater         under which name this browser votes
    POST /vote, /undo   each durable before the next page is shown
    GET  /style.css, /keys.js, /icon.svg

Whoever does not have the secret gets nothing. A form proves that it is one of this page's by a
value made of the secret. No model is named: sides come from the schedule, and a form says only
which turn it answers. The page is made on the server; its script adds keys alone.
"""

import hashlib
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from tiebreak.people import text
from tiebreak.people.guard import (
    ICON,
    REPORT_STYLE,
    headers,
    is_own_form,
    proof_of,
    rendered,
    same,
    static,
)
from tiebreak.people.turns import BallotBox, Question
from tiebreak.ranking_logs.votes_file import VotesFile

View = Literal["formatted", "plain", "marked"]
VIEWS: Final[tuple[View, ...]] = ("formatted", "plain", "marked")

_HEADERS: Final = headers(script_src="'self'", img_src="'self'")
_SERVED: Final[Mapping[str, Any]] = {
    **{"log_level": "warning", "access_log": False, "server_header": False},
    **{"proxy_headers": False, "ws": "none", "timeout_graceful_shutdown": 5},
}
_MOST_BODY: Final = 16_384
_LONGEST_NAME: Final = 60
_LIFE: Final = 30 * 86_400
_HERE: Final = Path(__file__).parent

Next = Callable[[Request], Awaitable[Response]]


def create_app(file: VotesFile, secret: str) -> FastAPI:
    """The application for one votes file, which is open for writing."""
    box, proof = BallotBox(file), proof_of(secret)
    # Browsers keep cookies by host, whatever the port: two pages must not take each other's.
    mark = hashlib.sha256(secret.encode()).hexdigest()[:8]
    key_cookie, rater_cookie = f"tiebreak_key_{mark}", f"tiebreak_rater_{mark}"
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    def keep(response: Response, name: str, value: str) -> Response:
        response.set_cookie(name, value, max_age=_LIFE, httponly=True, samesite="lax")
        return response

    @app.middleware("http")
    async def guard(request: Request, call_next: Next) -> Response:
        path, size = request.url.path, request.headers.get("content-length", "0")
        invited = path == "/" and same(request.query_params.get("key", ""), secret)
        if not invited and not same(request.cookies.get(key_cookie, ""), secret):
            response = refused(403, "Open the address that `tiebreak vote` printed, with its key.")
        elif "transfer-encoding" in request.headers or not size.isdigit():
            response = refused(411, "The form does not say how long it is.")
        elif int(size[:9]) > _MOST_BODY:
            response = refused(413, "The form is too long.")
        elif invited:
            response = keep(RedirectResponse("/", 303), key_cookie, secret)
        else:
            response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    async def form(request: Request) -> Mapping[str, str]:
        given = {name: str(value) for name, value in (await request.form()).items()}
        if not is_own_form(given.get("proof", ""), proof, request.headers.get("sec-fetch-site")):
            raise HTTPException(403, "This form is not of this page: load the page again.")
        return given

    def back(given: Mapping[str, str]) -> Response:
        view = given.get("view", "")
        return RedirectResponse(f"/?view={view}" if view in VIEWS[1:] else "/", 303)

    @app.get("/")
    async def ask(request: Request, view: View = "formatted", again: bool = False) -> Response:
        rater = unquote(request.cookies.get(rater_cookie, ""))
        if not rater or again:
            return page("start", proof=proof, rater=rater, kind=file.meta.kind)
        question = box.question(rater)
        if question is not None and len(question.answers) == 1 and view == "marked":
            view = "plain"
        shown = {} if question is None else _shown(question, view)
        votes = box.raters()
        return page(
            "ballot",
            proof=proof,
            rater=rater,
            view=view,
            views=VIEWS if file.meta.kind == "matches" else VIEWS[:2],
            turn=question and question.turn,
            n_given=votes.count(rater),
            n_all=len(votes),
            goal=file.meta.goal,
            decides=file.meta.decides,
            **shown,
        )

    @app.post("/rater")
    async def name_rater(request: Request) -> Response:
        rater = " ".join((await form(request)).get("name", "").split())
        if not rater or len(rater) > _LONGEST_NAME or not rater.isprintable():
            raise HTTPException(400, f"A name has 1 to {_LONGEST_NAME} characters: go back.")
        return keep(RedirectResponse("/", 303), rater_cookie, quote(rater))

    @app.post("/vote")
    async def vote(request: Request) -> Response:
        given = await form(request)
        number, rater = given.get("turn", ""), given.get("rater", "")
        turn = int(number) if number.isascii() and number.isdigit() else -1
        if not rater or not box.keep(rater, turn, given.get("choice", "")):
            raise HTTPException(400, "That is not asked here: go back and load the page again.")
        return keep(back(given), rater_cookie, quote(rater))

    @app.post("/undo")
    async def undo(request: Request) -> Response:
        given = await form(request)
        box.undo(given.get("rater", ""))
        return back(given)

    @app.get("/style.css")
    async def style() -> Response:
        return static("text/css", REPORT_STYLE, _HERE / "static" / "vote.css")

    @app.get("/keys.js")
    async def keys() -> Response:
        return static("text/javascript", _HERE / "static" / "keys.js")

    @app.get("/icon.svg")
    async def icon() -> Response:
        return static("image/svg+xml", ICON)

    @app.exception_handler(HTTPException)
    async def problem(request: Request, error: HTTPException) -> Response:
        return refused(error.status_code, error.detail)

    return app


def _shown(question: Question, view: View) -> dict[str, Any]:
    """Task, answers and key as HTML."""
    show = text.formatted if view == "formatted" else text.plain
    shown: tuple[str, ...] = tuple(map(show, question.answers))
    if view == "marked":
        shown = text.marked(question.answers[0], question.answers[1])
    key = show(question.key) if question.key else ""
    return {"task": show(question.task), "answers": shown, "key": key}


page = partial(rendered, _HERE / "templates")


def refused(status: int, message: str) -> Response:
    """A page that says what cannot be done."""
    return page("refused", status, message=message)


def serve(file: VotesFile, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve the page until the process is told to end; `tell` is given its address.

    Raises:
        OSError: the address is taken or not allowed; port 0 takes a free one.
    """
    secret = secrets.token_urlsafe(24)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        name = f"[{host}]" if ":" in host else host
        tell(f"http://{name}:{listener.getsockname()[1]}/?key={secret}")
        config = uvicorn.Config(create_app(file, secret), **_SERVED)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
