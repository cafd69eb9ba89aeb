"""Four planted judges in real runs of the tasks, and the sentence that each of them gets."""

from pathlib import Path
from random import Random

import pytest

from tests.inspect_tasks.runs import boards_by_protocol, judge_in_process, write_pool
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.report.sheets.leaderboard import sheets_of

N = 6
ITEMS = {"seal": 40, "full_pairwise": 14}

JUDGES = {
    "fair": "noise=0.5+scale=2",
    "position": "noise=0.5+scale=2+bias=1.5",
    "length": "noise=0.5+scale=2+length=1.5",
    "coin": "noise=1000+scale=4000",
}


def answer(model: int, item: int) -> str:
    """Models that are nearly tied; how long an answer is has nothing to do with its quality.

    Qualities take as many characters each, so that only the words make one answer the longer one.
    """
    rng = Random(f"{model} {item}")
    quality, words = 5 + model / 10 + rng.gauss(0, 1), rng.randrange(2, 30)
    return f"It is {item}, says {model}. quality={quality:.3f}" + " well" * words


def boards(folder: Path, judge: str) -> dict[str, Leaderboard]:
    """By protocol. Each judge's runs are its own test's: they take ten seconds."""
    pool = write_pool(folder / "logs", N, max(ITEMS.values()), answer)
    for protocol, n_items in ITEMS.items():
        limit = {"limit": n_items}
        judge_in_process(
            protocol, pool, folder / judge, f"planted/{JUDGES[judge]}", eval_args=limit
        )
    return boards_by_protocol(folder / judge)


FINE = "The judge on this board: no position bias found in {} verdicts."
FIRST = "The judge is doubtful on this board: the answer shown first won {} of {} verdicts."
LONGER = "Between the same two models the longer answer gains {}; longer answers may be better. At"
TOSSES = "The judge on this board: nothing shows that its verdicts are more than coin tosses."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "state", "seal", "full_pairwise"),
    [
        ("fair", "fine", FINE.format(200), FINE.format(210)),
        ("position", "doubtful", FIRST.format("88%", 200), FIRST.format("88%", 210)),
        ("length", "fine", FINE.format(200), FINE.format(210)),
        ("coin", "unknown", TOSSES, TOSSES),
    ],
)
def test_the_sentence_that_each_judge_gets(
    tmp_path: Path,
    judge: str,
    state: str,
    seal: str,
    full_pairwise: str,
) -> None:
    found = boards(tmp_path, judge)
    for protocol, sentence in (("seal", seal), ("full_pairwise", full_pairwise)):
        board = found[protocol]
        assert (board.trust.state, str(board.trust.sentence)) == (state, sentence), protocol
        # Neighbours are 0.1 apart, answers of one model 1: so few items do not tell them apart.
        assert str(board.verdict.sentence).startswith(
            f"No two of the 6 models can be told apart on these {ITEMS[protocol]} items: the order "
            "below is not a ranking. "
        )
        assert str(board.verdict.sentence).endswith(sentence)
        [sheet, *_] = sheets_of([board])
        assert f"{sheet.verdict} {' '.join(sheet.warnings)}".count(sentence) == 1
        assert any(sentence in warning for warning in map(str, board.warnings)) == (
            state == "doubtful"
        )
        points = {"seal": "30 points (25 to 35)", "full_pairwise": "33 points (24 to 42)"}[protocol]
        assert (LONGER.format(points) in str(board.verdict.sentence)) == (judge == "length")
