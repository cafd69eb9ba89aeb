"""What goes round with a request, and the one form of every refusal."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import JSONResponse
from starlette.types import Scope


@dataclass(slots=True)
class State:
    """Of one request: what the access log says of it. `user` is known once a token was verified."""

    request: str
    address: str
    user: str | None = None


def state_of(scope: Scope) -> State:
    """The state of a request."""
    found = scope["tiebreak"]
    assert isinstance(found, State)
    return found


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal: {"detail": "…"}."""
    return JSONResponse({"detail": detail}, status, headers)
