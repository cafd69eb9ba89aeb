"""The organiser's desk: sessions, results, quotas, tokens and the access log as pages.

Made on the server, without a script. What examinees and organisers may do is decided at the gate,
as everywhere; a page shows the buttons of what its reader may do. Names come from examinees and may
be hostile: templates escape every text, what cannot be seen or would turn the text around it is
shown as its code (`report.html.visible`), and long names are cut.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy import Connection, Engine
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tiebreak.bank import overview, quotas, results, sessions, tokens
from tiebreak.bank.access import Permission
from tiebreak.bank.errors import BankError
from tiebreak.bank.schema import State
from tiebreak.bank.server import login
from tiebreak.bank.server.examinees import SessionId
from tiebreak.bank.server.gate import Gate
from tiebreak.bank.server.limits import Rates
from tiebreak.bank.server.organisers import Jti
from tiebreak.bank.server.replies import STATUS, problem, state_of
from tiebreak.bank.server.shapes import Name
from tiebreak.report import html

Proof = Annotated[str, Form(alias="proof", max_length=256)]
Number = Annotated[int, Query(ge=1, le=1_000_000)]
Section = Literal["sessions", "board", "quotas", "tokens", "log"]

NEEDS: Final[dict[Section, Permission]] = {
    "sessions": "session:read-any",
    "board": "session:read-any",
    "quotas": "session:read-any",
    "tokens": "token:write",
    "log": "session:read-any",
}
"""What it takes to see a section."""

_KEPT: Final = {"Cache-Control": "max-age=600"}

AT_ONCE: Final = 50
"""Rows of a page."""

_LONGEST: Final = 120
_HERE: Final = Path(__file__).parent


def router(engine: Engine, gate: Gate, rates: Rates) -> APIRouter:
    """The pages, under /organiser."""
    routes = APIRouter(prefix=login.PATH, include_in_schema=False)

    def answered(request: Request, work: Callable[[str], Response]) -> Response:
        """What `work` makes of the browser's token, or a page that says why it cannot."""
        token = login.token_of(request)
        if not token:
            return RedirectResponse(f"{login.PATH}/login", 303)
        try:
            return work(token)
        except BankError as error:
            if error.kind == "unidentified":
                return refused(request, error)
            return page("refused", STATUS[error.kind], said=str(error))

    def refused(request: Request, error: BankError) -> Response:
        """The form to log in, with what is wrong."""
        if error.kind == "unidentified" and not rates.stranger(state_of(request.scope).address):
            return problem(429, "too many requests: wait a second", {"Retry-After": "1"})
        response = form(request, STATUS[error.kind], str(error))
        login.forget(response, login.COOKIE)
        return response

    def form(request: Request, status: int = 200, said: str = "") -> Response:
        proof = login.new_proof(request)
        response = page("login", status, proof=proof, said=said)
        login.keep(response, request, login.BEFORE, proof)
        return response

    def changed(
        request: Request,
        section: Section,
        proof: str,
        permission: Permission,
        work: Callable[[], object],
    ) -> Response:
        """Back to a section after a form was obeyed."""

        def obey(token: str) -> Response:
            gate.enter(request, permission, token=token)
            login.require_own(request, proof, login.proof_of(token))
            work()
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{login.PATH}/{section}{query}", 303)

        return answered(request, obey)

    @routes.get("")
    @routes.get("/")
    def start() -> Response:
        return RedirectResponse(f"{login.PATH}/sessions", 303)

    @routes.get("/style.css")
    def look() -> Response:
        return Response(style(), media_type="text/css", headers=_KEPT)

    @routes.get("/icon.svg")
    def icon() -> Response:
        return Response(picture(), media_type="image/svg+xml", headers=_KEPT)

    @routes.get("/login")
    def ask(request: Request) -> Response:
        return form(request)

    @routes.post("/login")
    def log_in(
        request: Request,
        token: Annotated[str, Form(max_length=8192)] = "",  # nosec B107 - a field left empty
        proof: Proof = "",
    ) -> Response:
        given = token.strip().removeprefix("Bearer ").strip()
        try:
            login.require_own(request, proof, request.cookies.get(login.BEFORE, ""))
            gate.enter(request, "session:read-any", token=given)
        except BankError as error:
            return refused(request, error)
        response = RedirectResponse(f"{login.PATH}/sessions", 303)
        login.keep(response, request, login.COOKIE, given)
        login.forget(response, login.BEFORE)
        return response

    @routes.post("/logout")
    def log_out(request: Request, proof: Proof = "") -> Response:
        def work(token: str) -> Response:
            login.require_own(request, proof, login.proof_of(token))
            response = RedirectResponse(f"{login.PATH}/login", 303)
            login.forget(response, login.COOKIE)
            return response

        return answered(request, work)

    @routes.get("/{section}")
    def look_at(
        request: Request,
        section: Section,
        number: Annotated[Number, Query(alias="page")] = 1,
        state: State | None = None,
    ) -> Response:
        def work(token: str) -> Response:
            caller = gate.enter(request, NEEDS[section], token=token)
            with engine.connect() as connection:
                part = _part(connection, section, AT_ONCE * (number - 1), state)
                strangers = overview.strangers(connection)
            about: dict[str, Any] = {"number": number, "state": state, "part": part}
            about["strangers"] = strangers
            return page(section, caller=caller, proof=login.proof_of(token), **about)

        return answered(request, work)

    @routes.post("/sessions/{session}/close")
    def close(request: Request, session: SessionId, proof: Proof = "") -> Response:
        work = partial(sessions.close, engine, session)
        return changed(request, "sessions", proof, "session:close", work)

    @routes.post("/board/{session}/{what}")
    def show(
        request: Request,
        session: SessionId,
        what: Literal["release", "withdraw"],
        proof: Proof = "",
    ) -> Response:
        work = partial(results.show, engine, session, shown=what == "release")
        return changed(request, "board", proof, "result:release", work)

    @routes.post("/tokens/{jti}/revoke")
    def revoke(request: Request, jti: Jti, proof: Proof = "") -> Response:
        work = partial(tokens.revoke, engine, jti)
        return changed(request, "tokens", proof, "token:write", work)

    @routes.post("/quotas")
    def grant(
        request: Request,
        institution: Annotated[Name, Form()],
        granted: Annotated[int, Form(ge=0, le=2**31 - 1)],
        proof: Proof = "",
    ) -> Response:
        work = partial(quotas.grant, engine, institution, granted)
        return changed(request, "quotas", proof, "quota:write", work)

    return routes


def _part(
    connection: Connection, section: Section, start: int, state: State | None
) -> overview.Part[Any]:
    """The rows of a section's page."""
    if section == "sessions":
        return overview.sessions_of(connection, state=state, start=start, most=AT_ONCE)
    if section == "board":
        return overview.results_of(connection, start=start, most=AT_ONCE)
    if section == "tokens":
        return overview.tokens_of(connection, start=start, most=AT_ONCE)
    if section == "log":
        return overview.log_of(connection, start=start, most=AT_ONCE)
    every = quotas.quotas(connection)
    return overview.Part(tuple(every[start : start + AT_ONCE]), start, len(every))


def page(name: str, status: int = 200, **about: Any) -> Response:
    """A page by the name of its template, with what it is about."""
    template = _environment().get_template(f"{name}.html.jinja")
    text = template.render(name=name, cut=cut, when=when, at_once=AT_ONCE, **about)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def cut(text: object) -> str:
    """A text, only its beginning where it is long."""
    shown = str(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def when(time: str | None) -> str:
    """A time of the tables to the second, without its zone, which is UTC."""
    return "–" if time is None else time[:19].replace("T", " ")


@cache
def style() -> str:
    """The style sheet of the report, and what the desk has beside it."""
    report = Path(html.__file__).parent / "page" / "static" / "report.css"
    files = (report, _HERE / "static" / "desk.css")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def picture() -> str:
    """The pages' icon."""
    return (_HERE / "static" / "icon.svg").read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import FileSystemLoader

    return html.environment().overlay(loader=FileSystemLoader(_HERE / "templates"))
