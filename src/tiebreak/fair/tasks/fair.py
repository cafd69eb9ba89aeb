"""The task `fair`: unseen questions of a bank, answered and not graded (LLMEval-Fair, §2.2).

inspect eval tiebreak/fair --model openai/gpt-5-mini -T bank=bank.db
inspect eval tiebreak/fair --model openai/gpt-5-mini -T server=https://exam.example.org

The log is an ordinary log of candidates, which `tiebreak/stars` grades. With a bank, the keys are
the targets of the samples. With a server, the model gets one question at a time, the log holds no
keys, and the organiser exports and grades the session.

Samples of a session are placeholders from 1 on ("Question 3 of session …"): a question is fetched
when its turn comes, and is then among the sample's messages. The server recognises a session by
the model, k, the prompting and the session's name, so `inspect eval-retry`, or the same command
again, continues it: questions with an answer are not asked again, and a complete session asks none.
"""

import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from typing import Any, Final, TypeVar, get_args

import anyio
import httpx
import tenacity
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.prompting import BENCHMARKS, PROMPTINGS, Prompting, prompt
from tiebreak.fair.bank.question import BankQuestion, Question, Session, item_metadata
from tiebreak.fair.bank.sampling import SHARES, Share, draw, entries, fingerprint, linked
from tiebreak.fair.tasks import DESIGN_KEY, bank_errors
from tiebreak.inspect_tasks.arguments import flag, one_of, whole
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.prerequisite import PrerequisiteError, task

TOKEN: Final = "TIEBREAK_TOKEN"
"""Name of the environment variable that holds the examinee's token."""

GRACE = 10.0
"""Seconds that a question waits for an earlier one while no question is being answered."""

_T = TypeVar("_T")
_LATER: Final = {429, 502, 503, 504}
_PASSING: Final = (
    httpx.TimeoutException,
    httpx.NetworkError,
    httpx.ProxyError,
    httpx.RemoteProtocolError,
)
"""Errors of a connection that may pass. A retry would not change other errors of httpx."""
_BACK_OFF: Final = tenacity.wait_random_exponential(multiplier=0.3, max=30)
_HINTS: Final = {
    401: f"the token in {TOKEN} is not valid (any more): ask the organiser for another",
    403: "the organiser has to allow more",
    404: "no such address, or a session of somebody else",
}


@task
def fair(
    bank: str | None = None,
    server: str | None = None,
    k: int = 1000,
    seed: int | str = 0,
    prompting: Prompting = "zero_shot",
    anchors: float | None = None,
    session: int | str | None = None,
    balanced: bool = False,
    share: Share = "equal",
) -> Task:
    """LLMEval-Fair: answer questions that are drawn from a bank; graded afterwards, by stars.

    Args:
        bank: the bank, a file or a URL (or the variable TIEBREAK_BANK, for a URL with a password).
        server: address of an organiser's server instead; the token is in TIEBREAK_TOKEN.
        k: number of questions.
        seed: seed of the draw; one seed gives all models of a study the same questions (paired).
        prompting: zero_shot, few_shot or step_by_step; each is a benchmark of its own.
        anchors: share of the questions that depend on the seed alone; the rest depend on the
            session, too (linked). For models that come at different times.
        session: name of the session. By default the model's; from a server, another name starts
            another session.
        balanced: whether "true" and "false" are right equally often.
        share: equal (as many questions of each category) or proportional (as the bank has them).
    """
    one_of("prompting", prompting, PROMPTINGS)
    one_of("share", share, get_args(Share))
    whole("k", k, 1)
    flag("balanced", balanced)
    number = isinstance(anchors, int | float) and not isinstance(anchors, bool)
    if anchors is not None and not (number and 0 <= anchors <= 1):
        raise PrerequisiteError(f"anchors is {anchors!r}: it must be a share from 0 to 1.")
    name = "" if session is None else str(session)
    if server:
        drawn = {"bank": bank, "seed": seed or None, "anchors": anchors, "balanced": balanced}
        drawn["share"] = share != SHARES[0]
        if given := [name for name, value in drawn.items() if value]:
            raise PrerequisiteError(
                f"{', '.join(given)}: with -T server=… the organiser's server draws the questions."
            )
        return session_task(server, k, prompting, name)
    if session is not None and anchors is None:
        raise PrerequisiteError(
            "session names what is drawn beside the anchors: add -T anchors=0.2, or leave it out "
            "for the questions that all models of the study have."
        )
    design: dict[str, Any] = {
        "design": "paired" if anchors is None else "linked",
        "k": k,
        "seed": str(seed),
        "anchors": anchors,
        "session": None if anchors is None else name or str(get_model()),
        "balanced": balanced,
        "share": share,
        "prompting": prompting,
    }
    questions, mark = _drawn(_bank(bank), design)
    samples = [
        Sample(
            id=question.uuid,
            input=question.question,
            choices=list(question.options) or None,
            target=question.answer,
            metadata=item_metadata(question),
        )
        for question in questions
    ]
    return Task(
        name=BENCHMARKS[prompting],
        dataset=MemoryDataset(samples, name=f"bank {mark}"),
        solver=put(prompting),
        metadata={DESIGN_KEY: {**design, "bank": mark}},
    )


@solver
def put(prompting: Prompting = "zero_shot") -> Solver:
    """Put a question to the model and keep its whole answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        options = [choice.value for choice in state.choices]
        text = prompt(state.input_text, options, prompting)
        state.messages = [ChatMessageUser(content=text)]
        return await generate(state)

    return solve


def _drawn(address: str, design: dict[str, Any]) -> tuple[list[BankQuestion], str]:
    """Draw the questions of a design; returns them and the fingerprint of the bank."""
    how: dict[str, Any] = {"balanced": design["balanced"], "share": design["share"]}
    with bank_errors():
        from tiebreak.fair.bank.rows import questions
        from tiebreak.fair.bank.schema import open_bank

        engine = open_bank(address)
        bank = entries(engine)
        if design["design"] == "paired":
            uuids = draw(bank, design["k"], design["seed"], **how)
        else:
            session = design["session"]
            how["anchors"] = design["anchors"]
            uuids = linked(bank, design["k"], design["seed"], session, **how)
        drawn = questions(engine, uuids)
        engine.dispose()
    return drawn, fingerprint(bank)


def _bank(given: str | None) -> str:
    """The bank's address; a path is relative to the folder in which the command was run."""
    if given is None:
        address = os.environ.get("TIEBREAK_BANK")
        if not address:
            raise PrerequisiteError(
                "No questions: add -T bank=FILE, a bank of tiebreak bank import, or "
                "-T server=URL, an organiser's server."
            )
        return from_working_directory(address)
    text = str(given)
    if "://" in text and ":" in text.partition("://")[2].rpartition("@")[0]:
        raise PrerequisiteError(
            "The log would keep the password of -T bank=…: give the URL in the variable "
            "TIEBREAK_BANK instead."
        )
    return from_working_directory(text)


class Client:
    """Client of a `tiebreak bank serve` server, for the holder of a token.

    Every request can be repeated safely, so requests that the network or a restarting server loses
    are retried for a while. If the server refuses one, a BankError says what to do.
    """

    def __init__(
        self,
        server: str,
        token: str,
        *,
        patience: float = 300,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Prepare requests to an address, e.g. https://exam.example.org, with or without a path.

        Requests without a reply are retried for `patience` seconds; `transport` is for tests.

        Raises:
            BankError: the token is not one word, or `server` is not a valid URL.
        """
        if not re.fullmatch(r"[!-~]+", token):
            raise BankError(
                f"the token in {TOKEN} is not one word of letters, digits and signs: take the "
                "organiser's without spaces, line ends and whatever stood around it"
            )
        self.server = server
        try:
            self._http = httpx.Client(
                base_url=server.rstrip("/") + "/",
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
                transport=transport,
            )
        except httpx.InvalidURL as error:
            raise self._no_address(error) from error
        self._patience = patience

    def start(self, k: int, model: str, prompting: Prompting, name: str = "") -> Session:
        """Start a session of k questions for a model, or resume it; `name` tells several apart.

        The server refuses a wrong token, more than the quota, another session while one is open.
        """
        # The same arguments give the same key, by which the server finds the session again.
        wanted = {"k": k, "model": model, "prompting": prompting}
        digest = hashlib.sha256(json.dumps([wanted, name], sort_keys=True).encode())
        key = {"Idempotency-Key": f"tiebreak-{digest.hexdigest()[:32]}"}
        return _of(Session, {"released": False, **self._ask("POST", "sessions", wanted, key)})

    def question(self, session: str, position: int) -> Question:
        """Get a question of a session; refused if an earlier question has no answer yet."""
        question = self._ask("GET", f"sessions/{session}/questions/{position}")
        return _of(Question, {**question, "options": tuple(question.get("options") or ())})

    def answer(self, session: str, position: int, text: str) -> None:
        """Send the answer to a question; refused if the server has a different answer to it."""
        self._ask("PUT", f"sessions/{session}/answers/{position}", {"answer": text})

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        patient = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_PASSING)
            | tenacity.retry_if_result(lambda reply: reply.status_code in _LATER),
            wait=_wait,
            stop=tenacity.stop_after_delay(self._patience),
            retry_error_callback=self._last,
        )
        try:
            reply = patient(self._http.request, method, path, json=body, headers=headers)
        except httpx.RequestError as error:
            raise self._no_address(error) from error
        content = None
        with suppress(ValueError):
            content = reply.json()
        if reply.is_success and isinstance(content, dict):
            return content
        detail = content.get("detail") if isinstance(content, dict) else None
        detail = detail or reply.text[:200] or "no reason given"
        if reply.is_success:
            raise BankError(f"{self.server} does not run tiebreak bank serve: {detail}")
        hint = _HINTS.get(reply.status_code)
        refusal = f"{self.server} refuses ({reply.status_code}): {detail}"
        raise BankError(f"{refusal}; {hint}" if hint else refusal)

    def _no_address(self, error: Exception) -> BankError:
        return BankError(
            f"{self.server} is not the address of a server, such as https://exam.example.org "
            f"({error})"
        )

    def _last(self, state: tenacity.RetryCallState) -> httpx.Response:
        """Return the last reply once patience is over, or raise a BankError if there was none."""
        outcome = state.outcome
        if outcome is None or outcome.failed:
            error = outcome.exception() if outcome else None
            raise BankError(
                f"{self.server} gives no answer ({error or type(error).__name__}): try again with "
                "inspect eval-retry, which goes on with the same question"
            ) from error
        reply: httpx.Response = outcome.result()
        return reply


def _wait(state: tenacity.RetryCallState) -> float:
    """Seconds until the next attempt: the server's Retry-After, or a growing random delay."""
    after = ""
    if state.outcome and not state.outcome.failed:
        after = state.outcome.result().headers.get("Retry-After", "")
    return float(after) if after.isdigit() else _BACK_OFF(state)


def _of(kind: type[_T], fields_: Mapping[str, Any]) -> _T:
    """Make a `kind` of the fields of a reply; fields that it does not have are ignored."""
    try:
        return kind(**{field.name: fields_[field.name] for field in fields(kind)})  # type: ignore[arg-type]
    except KeyError as error:
        raise BankError(
            f"the server's reply lacks {error}: is its Tiebreak another release?"
        ) from error


def session_task(server: str, k: int, prompting: Prompting, name: str) -> Task:
    """Return the task that answers a session of a server, new or partly answered.

    Raises:
        PrerequisiteError: there is no token, or the server refuses.
    """
    client = connect(server)
    with bank_errors():
        session = client.start(k, str(get_model()), prompting, name)
    places = [f"Question {place} of session {session.id}" for place in range(1, k + 1)]
    return Task(
        name=BENCHMARKS[prompting],
        dataset=MemoryDataset(
            [Sample(id=place, input=text) for place, text in enumerate(places, 1)],
            name=f"session {session.id}",
        ),
        solver=examined(server, session.id, prompting, session.answered),
        # All begin at once and wait for their turn: a retry may begin a question before the one
        # at which the run was killed, which could then get no place among the samples.
        config=GenerateConfig(max_connections=k),
        metadata={
            DESIGN_KEY: {
                "design": "served",
                "k": k,
                "session": session.id,
                "prompting": prompting,
                "server": server,
            }
        },
    )


def connect(server: str) -> Client:
    """Return a client with the token of the environment, or raise a PrerequisiteError."""
    token = os.environ.get(TOKEN)
    if not token:
        raise PrerequisiteError(
            f"No token: put the one that the organiser gave you into the variable {TOKEN}."
        )
    if not str(server).startswith(("http://", "https://")):
        raise PrerequisiteError(f"server is {server!r}: it must begin with https:// or http://.")
    with bank_errors():
        return Client(server, token)


@solver
def examined(
    server: str, session: str, prompting: Prompting = "zero_shot", answered: int = 0
) -> Solver:
    """Ask the server for the sample's question and give it the model's answer.

    The first `answered` questions were answered in an earlier run and are skipped.
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
    """Admits places 1, 2, … one after the other, whatever order they arrive in."""

    def __init__(self, done: int) -> None:
        """The first `done` places had their turn in an earlier run."""
        self._done = done
        self._inside: set[int] = set()
        self._failed: set[int] = set()
        self._waiting: dict[int, anyio.Event] = {}
        self._since = 0.0

    @asynccontextmanager
    async def of(self, place: int) -> AsyncIterator[None]:
        """Hold the turn of a place; a BankError if an earlier place failed or does not come."""
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
            # After a failure all places that wait wake up, so that the later ones give up, too.
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
