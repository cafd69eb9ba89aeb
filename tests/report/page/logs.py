"""Ranking logs with what was to be judged in them, as the tasks write them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample

from tests.analysis.peers.builders import reviews
from tests.analysis.test_entries import WHEN
from tests.cases import cases
from tests.ranking_logs.builders import all_pairs, bracket, by_native, graded, sample, write_log
from tiebreak.rankers import Resampling
from tiebreak.report.page import sections
from tiebreak.report.page.contents import Contents, contents_of
from tiebreak.report.page.items import ChunkWriter
from tiebreak.report.page.view import Gallery, Page
from tiebreak.scorers.ballots import ItemBallots

RUBRIC: Mapping[str, Any] = cases(__file__, "rubric")


def judged(
    ballots: ItemBallots,
    *,
    task: str = "What is 6 × 7?",
    answers: Mapping[str, str] | None = None,
    rubric: Mapping[str, Any] = RUBRIC,
    sample_id: str = "",
    epoch: int = 1,
    **fields: Any,
) -> EvalSample:
    """A sample that holds ballots, and what they are about; by default each says who it is of."""
    said = {group[0]: f"I am {group[0]}." for group in ballots.groups} | dict(answers or {})
    contest = {"task": task, "rubric": dict(rubric), "answers": said, "rubric_name": "own"}
    made = sample(ballots, sample_id or ballots.item_id, **fields)
    return made.model_copy(update={"metadata": {"contest": contest}, "epoch": epoch})


class Folder:
    """A folder of ranking logs, each younger than the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n = 0

    def add(self, samples: Sequence[EvalSample | ItemBallots], **task_args: Any) -> Path:
        self.n += 1
        return write_log(
            self.path / f"{self.n}.eval",
            [one if isinstance(one, EvalSample) else judged(one) for one in samples],
            task_id=f"T{self.n}",
            eval_id=f"E{self.n}",
            created=WHEN.format(self.n),
            task_args=task_args,
        )


def small(path: Path) -> Path:
    """One SEAL log of three items."""
    Folder(path).add([bracket(f"q{n}", "a", "b", "c") for n in range(3)])
    return path


def whole(path: Path) -> Path:
    """Logs that give a report every part that comes from logs: gsm8k, and peer review of mmlu.

    The peers' own answers are the first of theirs; of all pairs there are two runs.
    """
    folder = Folder(path)
    native = {"a": 1.0, "b": 0.5, "c": 0.75}
    orders = ["abc", "acb", "bac", "abc"]
    folder.add([bracket(f"q{n}", *order, native=native) for n, order in enumerate(orders)])
    folder.add([all_pairs(f"q{n}", order, native=native) for n, order in enumerate(orders)])
    folder.add(
        [all_pairs(f"q{n}", order[::-1], native=native) for n, order in enumerate(orders)], repeat=2
    )
    points = {"a": 0.9, "b": 0.5, "c": 0.1}
    folder.add([graded(f"q{n}", points, native=native) for n in range(4)])
    folder.add([by_native(f"q{n}", native) for n in range(4)])
    ballots = ({"a": "abc", "b": "bac", "c": "cab"}, {"a": "acb", "b": "bca", "c": "abc"})
    folder.add(
        [
            reviews(f"m{n}", ballots[n % 2], benchmark="mmlu", native=native, aggregator="borda")
            for n in range(4)
        ]
    )
    return path


def page_of(contents: Contents, **options: Any) -> Page:
    return sections.page_of(contents, Gallery(), ChunkWriter(), **{"version": "1.2.3"} | options)


def page_in(folder: Path, **options: Any) -> Page:
    """The page of a folder of logs."""
    return page_of(contents_of([folder], how=Resampling(draws=100)), **options)
