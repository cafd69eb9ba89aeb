"""What organisers do over HTTP: close sessions, hand out and revoke tokens, set quotas."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Request
from sqlalchemy import Engine
from starlette.responses import JSONResponse, Response

from tiebreak.bank import quotas, sessions, tokens
from tiebreak.bank.server.examinees import SessionId, state_of_session
from tiebreak.bank.server.gate import Gate
from tiebreak.bank.server.shapes import (
    Name,
    NewQuota,
    NewToken,
    QuotaState,
    SessionState,
    TokenMade,
)

Jti = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


def router(engine: Engine, keys: tokens.Keys, gate: Gate) -> APIRouter:
    """The routes of examiners and admins."""
    routes = APIRouter(tags=["organisers"])

    @routes.post("/sessions/{session}/close", response_model=SessionState)
    def close(request: Request, session: SessionId) -> Response:
        """End a session now; what was not asked goes back to the quota."""
        gate.enter(request, "session:close", session)
        return JSONResponse(state_of_session(sessions.close(engine, session)))

    @routes.post("/tokens", status_code=201, response_model=TokenMade)
    def issue(request: Request, wanted: NewToken) -> Response:
        """Make a token. It is shown once, and kept nowhere."""
        gate.enter(request, "token:write")
        token = tokens.issue(
            engine,
            keys,
            user=wanted.user,
            institution=wanted.institution,
            role=wanted.role,
            session=wanted.session,
            lifetime=timedelta(seconds=wanted.expires),
        )
        return JSONResponse({"token": token, "jti": tokens.jti_of(token)}, 201)

    @routes.delete("/tokens/{jti}", status_code=204)
    def revoke(request: Request, jti: Jti) -> Response:
        """Make a token worthless from now on."""
        gate.enter(request, "token:write")
        tokens.revoke(engine, jti)
        return Response(status_code=204)

    @routes.put("/quotas/{institution}", response_model=QuotaState)
    def grant(request: Request, institution: Annotated[Name, Path()], wanted: NewQuota) -> Response:
        """Set how many questions an institution may be given in all."""
        gate.enter(request, "quota:write")
        quota = quotas.grant(engine, institution, wanted.granted)
        return JSONResponse({name: getattr(quota, name) for name in QuotaState.model_fields})

    return routes
