"""The task `fair`: unseen questions of a bank, answered and not graded (LLMEval-Fair, §2.2).

inspect eval tiebreak/fair --model openai/gpt-5-mini -T bank=bank.db
inspect eval tiebreak/fair --model openai/gpt-5-mini -T server=https://exam.example.org

The log is a candidates' log like any other; `tiebreak/stars` grades it. Whoever has the bank has
the keys, and they are the samples' targets. From a server a model gets one question at a time, its
log holds no key, and the organiser exports and grades the session (`fair_session`).
"""

import os
from typing import Any, get_args

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tiebreak.extras import to_install
from tiebreak.fair.bank.prompting import BENCHMARKS, PROMPTINGS, Prompting, prompt
from tiebreak.fair.bank.question import BankQuestion, item_metadata
from tiebreak.fair.bank.sampling import SHARES, Share
from tiebreak.fair.tasks import DESIGN_KEY
from tiebreak.inspect_tasks.arguments import flag, one_of, whole
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.prerequisite import PrerequisiteError, task


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
        bank: The bank, a file or a URL (or the variable TIEBREAK_BANK, for a URL with a password).
        server: Address of an organiser's server instead; the token is in TIEBREAK_TOKEN.
        k: Number of questions.
        seed: Of the draw. The same seed gives all models of a study the same questions (paired).
        prompting: zero_shot, few_shot or step_by_step; each is a benchmark of its own.
        anchors: Share of the questions that the seed alone decides; the session decides the rest
            (linked): for models that come at different times.
        session: Name of the session. By default the model's; from a server, another name starts
            another session.
        balanced: Whether "true" and "false" are right equally often.
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
        from tiebreak.fair.tasks.fair_session import session_task

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
    """The questions of a design, and the fingerprint of the bank they come from."""
    try:
        from tiebreak.fair.bank.rows import questions
        from tiebreak.fair.bank.schema import open_bank
    except ImportError as error:
        raise PrerequisiteError(f"A bank needs SQLAlchemy: {to_install('bank')}.") from error
    from tiebreak.fair.bank.errors import BankError
    from tiebreak.fair.bank.sampling import draw, entries, fingerprint, linked

    how: dict[str, Any] = {"balanced": design["balanced"], "share": design["share"]}
    try:
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
    except BankError as error:
        raise PrerequisiteError(str(error)) from error
    return drawn, fingerprint(bank)


def _bank(given: str | None) -> str:
    """The bank's address; relative to where the command was given."""
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
