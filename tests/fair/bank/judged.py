"""Sessions that were answered, and logs in which their answers are judged by stars."""

from collections.abc import Callable
from pathlib import Path

from inspect_ai.log import EvalSample
from sqlalchemy import Engine

from tests.fair.bank.builders import add_session, example_questions
from tests.ranking_logs.builders import sample, starred, write_log
from tiebreak.candidates import CONTEST_KEY
from tiebreak.fair.bank.export import pool_of
from tiebreak.fair.bank.schema import now

Judge = Callable[[int], int | None]
"""The stars of an answer by its number, from 0; None where there is no usable verdict."""


def answered_session(
    bank: Engine, name: str, n: int = 40, *, state: str = "complete", model: str = "m"
) -> str:
    """A session of the first n questions of the example's bank; its id, 32 digits."""
    answers = {
        question.uuid: f"answer {place} of {name}"
        for place, question in enumerate(example_questions()[:n], 1)
    }
    ended = None if state == "open" else now()
    session = (name.encode().hex() + "0" * 32)[:32]
    about = {"state": state, "answered": n, "completed": ended, "model": model}
    return add_session(bank, session, answers, **about)


def judged_log(
    bank: Engine,
    session: str,
    path: Path,
    judge: Judge = lambda number: number % 4,
    *,
    skip: int = 0,
    answer: str = "",
    input_hash: str = "",
    target: str = "",
    leader: str = "",
) -> Path:
    """The log of a session's stars; the first `skip` answers are left out of it.

    `answer`, `input_hash` and `target` replace those of the last one.
    `leader` is a model with the same answers, which was judged for this one.
    """
    pool = pool_of(bank, session, partial=True)
    samples: list[EvalSample] = []
    for number, (item, candidates) in enumerate(pool):
        last = number == len(pool.items) - 1
        [(model, candidate)] = candidates.items()
        judged = leader or model
        ballots = starred(
            item.item_id,
            {judged: judge(number)},
            groups=((leader, model) if leader else (model,),),
            benchmark=item.benchmark,
            subject=str(item.metadata["category"]),
            cluster=str(item.metadata["raw_uuid"]),
        ).model_copy(update={"input_hash": input_hash if input_hash and last else item.input_hash})
        texts = {judged: answer if answer and last else candidate.answer}
        made = sample(ballots)
        about = {
            "metadata": {CONTEST_KEY: {"answers": texts}},
            "target": target if target and last else item.target,
        }
        samples.append(made.model_copy(update=about))
    metadata = {"tiebreak_protocol": "stars"}
    return write_log(path, samples[skip:], task_id=f"{session}{path.stem}", metadata=metadata)
