"""What goes round with a request: its id, its line of the access log; the form of a refusal."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import Scope

from tiebreak.fair.bank.errors import Kind
from tiebreak.fair.bank.schema import now
from tiebreak.fair.server.writer import Line

STATUS: Final[dict[Kind, int]] = {
    "unusable": 400,
    "unidentified": 401,
    "refused": 403,
    "missing": 404,
    "conflict": 409,
}
"""The status of a refusal, by its kind."""

_SESSION: Final = re.compile(r"^/sessions/([0-9a-f]{32})(?:/|$)")


@dataclass(slots=True)
class State:
    """Of one request. `user` is known once the signature of a token was verified."""

    request: str
    address: str
    user: str | None = None
    # Its line is in the access log.
    logged: bool = False


def state_of(scope: Scope) -> State:
    """The state of a request."""
    found = scope["tiebreak"]
    assert isinstance(found, State)
    return found


def line_of(scope: Scope, status: int) -> Line:
    """The line of the access log for a request that is answered with a status."""
    state = state_of(scope)
    path = scope["path"].encode("utf-8", "replace").decode().replace("\0", "�")
    session = _SESSION.match(path)
    return {
        "at": now(),
        "user": state.user,
        "session": session[1] if session else None,
        "method": scope["method"][:16],
        "path": path[:256],
        "status": status,
        "address": state.address[:64],
        "request": state.request,
    }


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal: {"detail": "…"}."""
    return JSONResponse({"detail": detail}, status, headers)
