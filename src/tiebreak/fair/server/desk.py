"""The organiser's desk: sessions, results, quotas, tokens and the access log as pages.

Pages are rendered on the server and have no scripts. Permissions are checked at the gate, as for
the API; a page only shows the buttons that its reader may use. Names come from examinees and may be
hostile: templates escape all text, invisible and direction-changing characters are shown as their
codes (`report.html.visible`), and long names are cut.

The organiser's token is kept in a cookie that is sent to these pages only, never to a script, and
never from another site. Each form carries a value derived from the token, which proves that it
comes from these pages; the login form uses a value kept in a cookie of its own.
"""

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy import Connection, Engine
from starlette.responses import RedirectResponse, Response

from tiebreak.fair.bank import overview, quotas, results, sessions, tokens
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import State
from tiebreak.fair.bank.tokens import Permission
from tiebreak.fair.server.envelope import STATUS, problem, state_of
from tiebreak.fair.server.gate import Gate, Rates
from tiebreak.fair.server.routes import Jti, SessionId
from tiebreak.fair.server.shapes import Name
from tiebreak.people.guard import ICON, REPORT_STYLE, is_own_form, proof_of, rendered, static

PATH: Final = "/organiser"
COOKIE: Final = "tiebreak_organiser"
BEFORE: Final = "tiebreak_login"
"""The cookie of a visitor who has not logged in yet."""

LIFE: Final = 3600
"""Seconds after which a browser forgets a token."""


def require_own(request: Request, given: str, proof: str) -> None:
    """Raise a BankError ("refused") for a form that does not come from these pages."""
    if not is_own_form(given, proof, request.headers.get("sec-fetch-site")):
        raise BankError(
            "this form is not of this page, or of an earlier login: load the page again",
            kind="refused",
        )


def keep(response: Response, request: Request, name: str, value: str) -> None:
    """Have a browser keep a cookie."""
    response.set_cookie(
        name,
        value,
        max_age=LIFE,
        path=PATH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def forget(response: Response, name: str) -> None:
    """Have a browser forget a cookie."""
    response.delete_cookie(name, path=PATH, httponly=True, samesite="strict")


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
"""The permission needed to see each section."""

_KEPT: Final = "max-age=600"

AT_ONCE: Final = 50
"""Rows of a page."""

_LONGEST: Final = 120
_HERE: Final = Path(__file__).parent


def router(engine: Engine, gate: Gate, rates: Rates) -> APIRouter:
    """The pages, under /organiser."""
    routes = APIRouter(prefix=PATH, include_in_schema=False)

    def answered(request: Request, work: Callable[[str], Response]) -> Response:
        """What `work` makes of the browser's token, or a page that says why it cannot."""
        token = request.cookies.get(COOKIE, "")
        if not token:
            return RedirectResponse(f"{PATH}/login", 303)
        try:
            return work(token)
        except BankError as error:
            if error.kind == "unidentified":
                return refused(request, error)
            return page("refused", STATUS[error.kind], said=str(error))

    def refused(request: Request, error: BankError) -> Response:
        """The login form with an error message."""
        if error.kind == "unidentified" and not rates.count_anonymous(
            state_of(request.scope).address
        ):
            return problem(429, "too many requests: wait a second", {"Retry-After": "1"})
        response = form(request, STATUS[error.kind], str(error))
        forget(response, COOKIE)
        return response

    def form(request: Request, status: int = 200, message: str = "") -> Response:
        known = request.cookies.get(BEFORE, "")
        proof = known if len(known) == 64 and known.isalnum() else secrets.token_hex(32)
        response = page("login", status, proof=proof, said=message)
        keep(response, request, BEFORE, proof)
        return response

    def changed(
        request: Request,
        section: Section,
        proof: str,
        permission: Permission,
        work: Callable[..., object],
        *given: Any,
    ) -> Response:
        """Call `work` with the bank and the form's values, then redirect to the section."""

        def obey(token: str) -> Response:
            gate.enter(request, permission, token=token)
            require_own(request, proof, proof_of(token))
            work(engine, *given)
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{PATH}/{section}{query}", 303)

        return answered(request, obey)

    @routes.get("")
    @routes.get("/")
    def start() -> Response:
        return RedirectResponse(f"{PATH}/sessions", 303)

    @routes.get("/style.css")
    def look() -> Response:
        look = _HERE / "static" / "desk.css"
        return static("text/css", REPORT_STYLE, look, cache_control=_KEPT)

    @routes.get("/icon.svg")
    def icon() -> Response:
        return static("image/svg+xml", ICON, cache_control=_KEPT)

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
            require_own(request, proof, request.cookies.get(BEFORE, ""))
            gate.enter(request, "session:read-any", token=given)
        except BankError as error:
            return refused(request, error)
        response = RedirectResponse(f"{PATH}/sessions", 303)
        keep(response, request, COOKIE, given)
        forget(response, BEFORE)
        return response

    @routes.post("/logout")
    def log_out(request: Request, proof: Proof = "") -> Response:
        def work(token: str) -> Response:
            require_own(request, proof, proof_of(token))
            response = RedirectResponse(f"{PATH}/login", 303)
            forget(response, COOKIE)
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
            return page(
                section,
                caller=caller,
                proof=proof_of(token),
                number=number,
                state=state,
                part=part,
                strangers=strangers,
            )

        return answered(request, work)

    @routes.post("/sessions/{session}/close")
    def close(request: Request, session: SessionId, proof: Proof = "") -> Response:
        return changed(request, "sessions", proof, "session:close", sessions.close, session)

    @routes.post("/board/{session}/{action}")
    def show(
        request: Request,
        session: SessionId,
        action: Literal["release", "withdraw"],
        proof: Proof = "",
    ) -> Response:
        work = partial(results.show, shown=action == "release")
        return changed(request, "board", proof, "result:release", work, session)

    @routes.post("/tokens/{jti}/revoke")
    def revoke(request: Request, jti: Jti, proof: Proof = "") -> Response:
        return changed(request, "tokens", proof, "token:write", tokens.revoke, jti)

    @routes.post("/quotas")
    def grant(
        request: Request,
        institution: Annotated[Name, Form()],
        granted: Annotated[int, Form(ge=0, le=2**31 - 1)],
        proof: Proof = "",
    ) -> Response:
        return changed(request, "quotas", proof, "quota:write", quotas.grant, institution, granted)

    return routes


def _part(
    connection: Connection, section: Section, start: int, state: State | None
) -> overview.Part:
    if section == "sessions":
        return overview.sessions_of(connection, state=state, start=start, most=AT_ONCE)
    if section == "quotas":
        institutions = quotas.quotas(connection)
        return overview.Part(institutions[start : start + AT_ONCE], len(institutions))
    rows_of = {"board": overview.results_of, "tokens": overview.tokens_of, "log": overview.log_of}
    return rows_of[section](connection, start, AT_ONCE)


def page(name: str, status: int = 200, **about: Any) -> Response:
    """Render the template `name` with the values in `about`."""
    about |= {"name": name, "cut": cut, "when": when, "at_once": AT_ONCE}
    return rendered(_HERE / "templates", name, status, **about)


def cut(text: object) -> str:
    """A text, cut after 120 characters."""
    shown = str(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def when(time: str | None) -> str:
    """A time of the tables to the second; its zone, always UTC, is left out."""
    return "–" if time is None else time[:19].replace("T", " ")
