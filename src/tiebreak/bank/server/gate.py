"""The gate: the token of a request, and whether it may do what it wants."""

from fastapi import Request
from starlette.exceptions import HTTPException

from tiebreak.bank.access import Caller, Permission, require
from tiebreak.bank.errors import BankError
from tiebreak.bank.server.limits import Rates
from tiebreak.bank.server.replies import state_of
from tiebreak.bank.tokens import Verifier


class Gate:
    """Lets callers in. May be called from any thread."""

    def __init__(self, verifier: Verifier, rates: Rates) -> None:
        """By whom tokens are verified, and how often one may come."""
        self._verifier = verifier
        self._rates = rates

    def enter(self, request: Request, permission: Permission, session: str | None = None) -> Caller:
        """The caller of a request that needs a permission, on a session if one is named.

        Raises:
            BankError: the token does not hold ("unidentified") or does not allow it ("refused").
            HTTPException: too many requests.
        """
        state = state_of(request.scope)
        try:
            caller = self._verifier.caller(_bearer(request))
        except BankError:
            if not self._rates.stranger(state.address):
                raise _too_many("requests without a token that holds") from None
            raise
        state.user = caller.user
        if not self._rates.token(caller.token):
            raise _too_many("requests of this token")
        require(caller, permission, session)
        return caller


def _bearer(request: Request) -> str:
    given = request.headers.getlist("Authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not token.strip():
        raise BankError(
            "this needs a token: send it once, as Authorization: Bearer TOKEN",
            kind="unidentified",
        )
    return token.strip()


def _too_many(what: str) -> HTTPException:
    return HTTPException(429, f"too many {what}: wait a second", {"Retry-After": "1"})
