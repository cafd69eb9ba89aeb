"""Counts of a bank against counting its questions, tables 5 and 6, and exports that come back."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import cases
from tests.fair.bank.builders import run
from tests.fair.bank.questions import keep, kept
from tests.fair.bank.test_checks import CHOICE, FILL, SOUND
from tiebreak.fair.bank.question import STATUSES
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.bank.stats import Growth, bank_stats

QUESTIONS = [
    *(replace(one, source="own", date="2025-01") for one in SOUND),
    replace(FILL, uuid="g", raw_uuid="g", category="Moon", source="other", date="2024"),
    replace(CHOICE, uuid="h", raw_uuid="h", category="Moon", status="rejected"),
    replace(CHOICE, uuid="i", raw_uuid="i", category="Moon", status="draft"),
]


def printed(folder: Path, verb: str, *arguments: object) -> str:
    done = run(folder, verb, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a bank."""
    keep(open_bank(tmp_path / "bank.db", create=True), *QUESTIONS)
    return tmp_path


def test_counts(folder: Path) -> None:
    stats = bank_stats(open_bank(folder / "bank.db"))
    by_hand = Counter((one.category, one.type, one.status) for one in QUESTIONS)
    assert {(one.category, one.type, one.status): one.n for one in stats.counts} == by_hand
    # The choice has become three statements; rejected questions are not there.
    assert stats.categories == (Growth("Tides", 2, 4), Growth("Moon", 2, 2))
    assert stats.total == Growth("Total", 4, 6)
    sources = {one.growth.name: (one.growth.original, one.first, one.last) for one in stats.sources}
    assert sources == {
        "own": (2, "2025-01", "2025-01"),
        "other": (1, "2024", "2024"),
        "": (1, "", ""),
    }
    assert stats.n_duplicates == 2
    assert stats.baseline.n == 6
    tides = stats.baselines["Tides"]
    assert {one.answer: one.share for one in tides.answers} == {
        **{"true": 1 / 3, "false": 2 / 3},
        "B": 1,
    }
    assert tides.share == 3 / 5


@pytest.mark.parametrize(
    ("original", "rewritten", "increase", "percent"), cases(__file__, "growth as in the paper")
)
def test_growth_as_in_the_paper(
    original: int, rewritten: int, increase: int, percent: float
) -> None:
    growth = Growth("x", original, rewritten)
    assert growth.increase == increase
    assert round(100 * growth.rate, 2) == pytest.approx(percent, abs=0.011)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_an_export_comes_back_the_same(suffix: str, tmp_path: Path) -> None:
    questions = [
        replace(CHOICE, hint='Two,\n"nearly" 12 h 25 min apart', source="自编", status="draft"),
        # What a spreadsheet would run.
        replace(CHOICE, uuid="s", raw_uuid="s", question="=1+1 is ____", hint="-x", source="'@x"),
        *SOUND[1:],
    ]
    keep(engine := open_bank(tmp_path / "bank.db", create=True), *questions)
    file = tmp_path / f"q.{suffix}"
    (tmp_path / "again").mkdir()
    printed(tmp_path, "export", "--questions", "--out", file)
    printed(tmp_path / "again", "import", file)
    assert kept(open_bank(tmp_path / "again" / "bank.db")) == kept(engine)
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("status", STATUSES)
def test_an_export_of_one_status(status: str, folder: Path) -> None:
    file = folder / "q.jsonl"
    printed(folder, "export", "--questions", "--status", status, "--out", file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {row["uuid"] for row in rows} == {one.uuid for one in QUESTIONS if one.status == status}
