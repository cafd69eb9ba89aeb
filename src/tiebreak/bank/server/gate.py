"""The gate: the token of a request, and whether it may do what it wants."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from sqlalchemy import Connection, Engine
from starlette.exceptions import HTTPException

from tiebreak.bank.access import Caller, Permission, require
from tiebreak.bank.errors import BankError
from tiebreak.bank.server.limits import Rates
from tiebreak.bank.server.replies import line_of, state_of
from tiebreak.bank.server.writer import Writer
from tiebreak.bank.tokens import Verifier

T = TypeVar("T")


class Gate:
    """Lets callers in. `enter` is for any thread, `run` for the event loop."""

    def __init__(self, engine: Engine, verifier: Verifier, rates: Rates, writer: Writer) -> None:
        """By whom tokens are verified, how often one may come, and who writes."""
        self._engine = engine
        self._verifier = verifier
        self._rates = rates
        self._writer = writer

    def enter(
        self,
        request: Request,
        permission: Permission,
        session: str | None = None,
        token: str | None = None,
    ) -> Caller:
        """The caller of a request that needs a permission, on a session if one is named.

        The token is that of the request's header, unless one is given.

        Raises:
            BankError: the token does not hold ("unidentified") or does not allow it ("refused").
            HTTPException: too many requests.
        """
        caller = self._caller(request, token)
        with self._engine.connect() as connection:
            self._verifier.confirm(connection, caller)
        require(caller, permission, session)
        return caller

    async def run(
        self,
        request: Request,
        permission: Permission,
        session: str,
        work: Callable[[Connection, Caller], T],
    ) -> T:
        """What `work` returns, if the caller may; in one transaction with the line of the log.

        Raises:
            BankError: as `enter` and `work` do.
            HTTPException: too many requests.
        """
        caller = self._caller(request)

        def whole(connection: Connection) -> T:
            self._verifier.confirm(connection, caller)
            require(caller, permission, session)
            return work(connection, caller)

        result = await self._writer.run(whole, line_of(request.scope, 200))
        state_of(request.scope).logged = True
        return result

    def _caller(self, request: Request, token: str | None = None) -> Caller:
        caller = self._verifier.read(_bearer(request) if token is None else token)
        state_of(request.scope).user = caller.user
        if not self._rates.token(caller.token):
            raise HTTPException(
                429, "too many requests of this token: wait a second", {"Retry-After": "1"}
            )
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
