"""A pipe, a device, a name of 5,000 characters, half of a character: a named error, and at once."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.record import Tried, record
from tiebreak.benchmarks import load_questions
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.reading import sources_of
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.tasks.replay import replay
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers.rubric import RubricError, load_rubric
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.prices import read_price_file
from tiebreak.tables import (
    TableError,
    read_ballots,
    read_human_labels,
    read_human_ranking,
    read_order,
    read_rounds,
    read_scores,
)
from tiebreak.tables.dates import read_dates
from tiebreak.tables.human import read_causes

READERS: dict[str, tuple[Callable[[str], Any], str, type[Exception]]] = {
    "scores": (read_scores, ".csv", TableError),
    "results": (read_scores, ".json", TableError),
    "a pool": (read_scores, ".parquet", TableError),
    "ballots": (read_ballots, ".csv", TableError),
    "PrefLib": (read_ballots, ".soc", TableError),
    "rankings by people": (read_human_ranking, ".csv", TableError),
    "labels": (read_human_labels, ".csv", TableError),
    "causes": (read_causes, ".csv", TableError),
    "dates": (read_dates, ".csv", TableError),
    "rounds": (lambda path: read_rounds(path, ["a"]), ".yaml", TableError),
    "an order": (lambda path: read_order(path, ["a"]), ".txt", TableError),
    "questions": (lambda path: sources_of((path,)), ".jsonl", BankError),
    "a benchmark": (lambda path: load_questions("gsm8k", path), ".jsonl", PrerequisiteError),
    "questions to replay": (replay, ".jsonl", PrerequisiteError),
    "BFCL": (lambda path: load_questions("bfcl", path), ".jsonl", PrerequisiteError),
    "prices": (read_price_file, ".yaml", EstimateError),
    "a bank": (open_bank, ".db", BankError),
    "a rubric": (load_rubric, ".yaml", RubricError),
}
NAMES: dict[str, Callable[[str], str]] = {
    "a pipe": lambda suffix: f"pipe{suffix}",
    "a device": lambda suffix: f"zero{suffix}",
    "a name that is too long": lambda suffix: "x" * 5_000 + suffix,
    "a path that is too long": lambda suffix: "x/" * 2_500 + suffix,
    "a zero byte": lambda suffix: f"a\0b{suffix}",
    "half of a character": lambda suffix: f"\udcff{suffix}",
    "nothing": lambda suffix: f"nothing{suffix}",
}


@pytest.fixture
def at_once() -> Iterator[None]:
    """Whatever takes longer than five seconds is an error: a pipe may be waited for forever."""

    def late(number: int, frame: object) -> None:
        raise AssertionError("no answer within five seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(5)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("at_once")
def test_paths_that_hold_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    for suffix in {suffix for _, suffix, _ in READERS.values()}:
        os.mkfifo(f"pipe{suffix}")
        Path(f"zero{suffix}").symlink_to("/dev/zero")
    tried = 0
    for read, suffix, error in READERS.values():
        for path in NAMES.values():
            with pytest.raises(error) as caught:
                read(path(suffix))
            assert type(caught.value).__module__.startswith(("tiebreak", "inspect_ai"))
            tried += 1
    record(request, Tried("a pipe, a device, no such path, where a file is wanted", tried, tried))
