"""The routes of the API.

Examinees open sessions, get their questions in order, send answers and read released results.
Organisers close sessions, issue and revoke tokens, and set quotas.
"""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Path, Request
from sqlalchemy import Connection, Engine
from starlette.responses import JSONResponse, Response

from tiebreak.fair.bank import quotas, results, sessions, tokens
from tiebreak.fair.bank.question import Question, Session
from tiebreak.fair.bank.sessions import Sampler
from tiebreak.fair.bank.tokens import Caller
from tiebreak.fair.server import shapes
from tiebreak.fair.server.gate import Gate

SessionId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
Position = Annotated[int, Path(ge=1, le=shapes.MOST_QUESTIONS, description="From 1.")]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{1,128}$",
        description="A name of your own for this request: repeated, it gives the same session.",
    ),
]

_CREATED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": shapes.SessionState, "description": "The session that this key made before."}
}


def examinee_router(engine: Engine, sampler: Sampler, gate: Gate) -> APIRouter:
    """The routes of examinees."""
    routes = APIRouter(tags=["examinees"])

    @routes.post(
        "/sessions", status_code=201, response_model=shapes.SessionState, responses=_CREATED
    )
    def create(request: Request, wanted: shapes.NewSession, key: Key) -> Response:
        """Open a session of k unseen questions, or get the one that the key made before."""
        holder = gate.enter(request, "session:create")
        opened = Session(wanted.k, wanted.model, wanted.prompting)
        session, new = sessions.create(engine, sampler, holder, opened, key)
        return JSONResponse(state_of_session(session), 201 if new else 200)

    @routes.get("/sessions/{session}", response_model=shapes.SessionStateReleased)
    def state(request: Request, session: SessionId) -> Response:
        """Get the state of a session."""
        caller = gate.enter(request, "session:read", session)
        owner = None if "session:read-any" in caller.permissions else caller
        with engine.connect() as connection:
            standing = sessions.session_of(connection, session, owner)
        return JSONResponse(state_of_session(standing) | {"released": standing.released})

    @routes.get("/sessions/{session}/questions/{k}", response_model=Question)
    async def ask(request: Request, session: SessionId, k: Position) -> Response:
        """Get question k, once all before it are answered; repeated, it returns the same."""

        def work(connection: Connection, caller: Caller) -> Question:
            return sessions.ask(connection, session, k, caller)

        return JSONResponse(asdict(await gate.run(request, "question:read", session, work)))

    @routes.put("/sessions/{session}/answers/{k}", response_model=shapes.AnswerKept)
    async def answer(
        request: Request, session: SessionId, k: Position, given: shapes.NewAnswer
    ) -> Response:
        """Answer question k. The same answer again changes nothing; another one is refused."""

        def work(connection: Connection, caller: Caller) -> Session:
            return sessions.answer(connection, session, k, given.answer, caller)

        kept = await gate.run(request, "answer:write", session, work)
        return JSONResponse({"position": k, "next": kept.next, "state": kept.state})

    @routes.get("/sessions/{session}/results")
    def result(request: Request, session: SessionId) -> Response:
        """Get the results of your session, once the organiser has released them."""
        caller = gate.enter(request, "result:read", session)
        return JSONResponse(results.released(engine, session, caller))

    return routes


def state_of_session(session: Session) -> dict[str, str | int | None]:
    """A session as the API returns it."""
    return {name: getattr(session, name) for name in shapes.SessionState.model_fields}


Jti = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


def organiser_router(engine: Engine, keys: tokens.Keys, gate: Gate) -> APIRouter:
    """The routes of examiners and admins."""
    routes = APIRouter(tags=["organisers"])

    @routes.post("/sessions/{session}/close", response_model=shapes.SessionState)
    def close(request: Request, session: SessionId) -> Response:
        """Close a session; questions that were not asked go back to the quota."""
        gate.enter(request, "session:close", session)
        return JSONResponse(state_of_session(sessions.close(engine, session)))

    @routes.post("/tokens", status_code=201, response_model=shapes.TokenMade)
    def issue(request: Request, wanted: shapes.NewToken) -> Response:
        """Issue a token. It is shown once and stored nowhere."""
        gate.enter(request, "token:write")
        token = tokens.issue(
            engine,
            keys,
            **wanted.model_dump(exclude={"expires"}),
            lifetime=timedelta(seconds=wanted.expires),
        )
        return JSONResponse({"token": token, "jti": tokens.jti_of(token)}, 201)

    @routes.delete("/tokens/{jti}", status_code=204)
    def revoke(request: Request, jti: Jti) -> Response:
        """Revoke a token."""
        gate.enter(request, "token:write")
        tokens.revoke(engine, jti)
        return Response(status_code=204)

    @routes.put("/quotas/{institution}", response_model=shapes.QuotaState)
    def grant(
        request: Request, institution: Annotated[shapes.Name, Path()], wanted: shapes.NewQuota
    ) -> Response:
        """Set how many questions an institution may be given in all."""
        gate.enter(request, "quota:write")
        quota = quotas.grant(engine, institution, wanted.granted)
        return JSONResponse({name: getattr(quota, name) for name in shapes.QuotaState.model_fields})

    return routes
