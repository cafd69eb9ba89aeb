"""The demo: its own words about the judge, and one small real run, twice."""

from pathlib import Path

import pytest

from tests.report.builders import match
from tiebreak.candidates import load_candidates
from tiebreak.demo import ITEMS, LOCAL, SETTINGS, closing_words, most_different, run_demo
from tiebreak.report import leaderboards
from tiebreak.scorers.ballots import Match


def swapped(first_order: float, second_order: float) -> Match:
    """Margins of both orders, positive when the better seed (shown first in the first) wins."""
    return match("a", "b", first_order, second_order=second_order)


@pytest.mark.parametrize(
    ("matches", "said", "trusted"),
    [
        ([swapped(0.5, -0.5)] * 8, "for the answer shown first      16", False),
        ([swapped(-0.5, 0.5)] * 8, "for the answer shown second     16", False),
        ([swapped(0.0, 0.0)] * 8, "for neither                     16", False),
        ([swapped(0.5, 0.5)] * 8, "other winner in the other order 0 of 8", True),
        ([match("a", "b", None)] * 8, "verdicts                        0", False),
    ],
)
def test_the_judges_own_numbers_decide_what_is_said_of_it(
    matches: list[Match], said: str, trusted: bool
) -> None:
    words = closing_words("acme/judge", matches)
    assert said in words
    assert ("NOT TO BE TRUSTED" not in words) == trusted
    assert ("tiebreak demo --judge" not in words) == trusted


def test_enough_settings_and_items() -> None:
    assert len({(s.temperature, s.seed, s.documentation) for s in SETTINGS}) >= 4
    for path in ITEMS.glob("*.jsonl"):
        assert len(path.read_text().splitlines()) >= 8
    assert {path.stem for path in ITEMS.glob("*.jsonl")} == {"gsm8k", "mmlu", "humaneval", "bfcl"}


@pytest.mark.slow
def test_a_small_run_and_its_repetition_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = [SETTINGS[0], SETTINGS[2]]
    boards = []
    for _ in range(2):
        logs = run_demo(tmp_path / "demo", limit=2, settings=settings, benchmarks=["gsm8k"])
        pool = load_candidates(logs.candidates)
        assert pool.models == ("smollm2-135m/greedy", "smollm2-135m/hot")
        assert len(pool) == 2
        [board] = leaderboards([logs.ranking])
        boards.append(board)
        assert board.n_items == len(most_different(pool, 1)) == 1
        assert board.judges == (LOCAL,)
        printed = capfd.readouterr().out
        assert "First answer won" in printed
        assert str(logs.ranking) in printed
    first, second = boards
    assert [(row.model, row.borda) for row in first.rows] == [
        (row.model, row.borda) for row in second.rows
    ]
    assert first.receipt.n_cached == 0
    assert second.receipt.n_cached == second.receipt.n_calls > 0
