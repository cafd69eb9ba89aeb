"""A server's questions as samples: number 1 first, the next only when it is answered.

The samples are places only, "Question 3 of session …": what stands there is seen when its turn
comes, and then in the sample's messages. The session is found again by what it is for (the model,
k, the prompting and the session's name), so `inspect eval-retry`, or the same command once more,
goes on with it: what the server has an answer to is not asked again, and of a session that is
complete nothing is asked at all.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tiebreak.fair.bank.client import TOKEN, Client
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.prompting import BENCHMARKS, Prompting, prompt
from tiebreak.fair.tasks import DESIGN_KEY
from tiebreak.prerequisite import PrerequisiteError

GRACE = 10.0
"""Seconds that a question waits for an earlier one that nobody is answering."""


def session_task(server: str, k: int, prompting: Prompting, name: str) -> Task:
    """The task that answers a session of a server, new or half-way.

    Raises:
        PrerequisiteError: there is no token, or the server refuses.
    """
    client = connect(server)
    try:
        standing = client.start(k, str(get_model()), prompting, name)
    except BankError as error:
        raise PrerequisiteError(str(error)) from error
    places = [f"Question {place} of session {standing.id}" for place in range(1, k + 1)]
    return Task(
        name=BENCHMARKS[prompting],
        dataset=MemoryDataset(
            [Sample(id=place, input=text) for place, text in enumerate(places, 1)],
            name=f"session {standing.id}",
        ),
        solver=examined(server, standing.id, prompting, standing.answered),
        # All begin at once and wait for their turn: a retry may begin a question before the one
        # at which the run was killed, which could then get no place among the samples.
        config=GenerateConfig(max_connections=k),
        metadata={
            DESIGN_KEY: {
                "design": "served",
                "k": k,
                "session": standing.id,
                "prompting": prompting,
                "server": server,
            }
        },
    )


def connect(server: str) -> Client:
    """The server, with the token of the environment.

    Raises:
        PrerequisiteError: there is no token or none that can be sent, or the address is none.
    """
    token = os.environ.get(TOKEN)
    if not token:
        raise PrerequisiteError(
            f"No token: put the one that the organiser gave you into the variable {TOKEN}."
        )
    if not str(server).startswith(("http://", "https://")):
        raise PrerequisiteError(f"server is {server!r}: it must begin with https:// or http://.")
    try:
        return Client(server, token)
    except BankError as error:
        raise PrerequisiteError(str(error)) from error


@solver
def examined(
    server: str, session: str, prompting: Prompting = "zero_shot", answered: int = 0
) -> Solver:
    """Ask the server for the sample's question and give it the model's answer.

    The first `answered` questions have their answer already.
    """
    client, turns = connect(server), Turns(answered)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        place = int(state.sample_id)
        if state.epoch > 1:
            raise BankError("a session takes one answer to a question: leave out --epochs")
        if place <= answered:
            state.metadata["answered"] = "in an earlier run"
            return state
        async with turns.of(place):
            given = await anyio.to_thread.run_sync(client.question, session, place)
            text = prompt(given.question, given.options, prompting)
            state.messages = [ChatMessageUser(content=text)]
            for name in ("category", "sub_category", "type"):
                state.metadata[name] = getattr(given, name)
            state = await generate(state)
            reply = state.output.completion
            await anyio.to_thread.run_sync(client.answer, session, place, reply)
        return state

    return solve


class Turns:
    """Lets places 1, 2, … in one after the other, in whatever order they come."""

    def __init__(self, done: int) -> None:
        """`done` places had their turn before."""
        self._done = done
        self._inside: set[int] = set()
        self._failed: set[int] = set()
        self._waiting: dict[int, anyio.Event] = {}
        self._since = 0.0

    @asynccontextmanager
    async def of(self, place: int) -> AsyncIterator[None]:
        """The turn of a place.

        Raises:
            BankError: a place before it failed, or does not come.
        """
        self._failed.discard(place)
        while self._done + 1 < place:
            await self._wait(place)
        self._inside.add(place)
        try:
            yield
        except BaseException:
            self._failed.add(place)
            raise
        else:
            self._done = max(self._done, place)
        finally:
            self._inside.discard(place)
            self._since = anyio.current_time()
            for other in [*self._waiting] if self._failed else [self._done + 1]:
                if event := self._waiting.pop(other, None):
                    event.set()

    async def _wait(self, place: int) -> None:
        if failed := [other for other in self._failed if other < place]:
            raise BankError(f"question {place} was not asked, since question {failed[0]} failed")
        began = anyio.current_time()
        with anyio.move_on_after(GRACE):
            await self._waiting.setdefault(place, anyio.Event()).wait()
            return
        idle = not self._inside and anyio.current_time() - max(began, self._since) >= GRACE
        if idle and self._done + 1 < place:
            raise BankError(
                f"question {place} comes after question {self._done + 1}, which is not in this "
                "run: leave out --sample-id and --max-samples"
            )
