"""Whom other rules put first, against boards placed by these rules."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.claims.worlds import FAIR, judged, near_ties
from tests.ranking_logs.builders import all_pairs, graded, item, match, write_log
from tiebreak.analysis.leaderboard import first_by_rule, leaderboards
from tiebreak.cli.verbs import main
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(draws=100)
OTHERS = {"elimination_tied", "least_squares"}


def placed(item_id: str, order: str) -> ItemBallots:
    """A bracket of four that the paper's rule places so: the fourth lost more clearly."""
    first, second, third, fourth = tuple(order)
    played = [
        match(first, fourth, 0.5),
        match(second, third, 0.1),
        match(first, second, 0.2, round=2),
    ]
    return item(item_id, played, groups=[(name,) for name in "abcd"])


# In thirds of an item: a has 3 + 3 + 1 + 1 = 8, b has 2 + 2 + 3 + 0 = 7. With third and fourth
# tied (half a third each) a has 3 + 3 + ½ + ½ = 7, b has 2 + 2 + 3 + ½ = 7½.
SWAPPED = [placed(f"q{n}", order) for n, order in enumerate(("abcd", "abcd", "bdac", "dcab"))]


def test_another_first_model_by_hand(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.eval", SWAPPED)
    [board] = leaderboards(log, how=HOW)
    assert {row.model: row.borda * 12 for row in board.rows[:2]} == pytest.approx({"a": 8, "b": 7})
    # Least squares puts who lost to the champion above who lost to the second: b has 2 + 2 + 3 + 1.
    assert board.first_by_rule == {"elimination_tied": ("b",), "least_squares": ("b",)}
    said = "Placed by elimination_tied or least_squares, b stands first "
    assert said in str(board.verdict.sentence)
    shown = CliRunner().invoke(main, ["rank", str(log), "--draws", "100"]).output
    assert said in f"{' '.join(shown.split())} "
    [found] = leaderboards(log, how=HOW, rule="elimination_tied")
    twelfths = {row.model: row.borda * 12 for row in found.rows[:2]}
    assert twelfths == pytest.approx({"b": 7.5, "a": 7})
    assert "Placed by elimination, a stands first" in str(found.verdict.sentence)


def test_nothing_is_said_where_the_rules_agree_or_there_is_no_bracket(tmp_path: Path) -> None:
    agreed = write_log(tmp_path / "agreed.eval", [placed(f"q{n}", "abcd") for n in range(4)])
    [board] = leaderboards(agreed, how=HOW)
    assert board.first_by_rule == dict.fromkeys(OTHERS, ("a",))
    assert "Placed by" not in str(board.verdict.sentence)
    for items in ([all_pairs("q", "abc")], [graded("q", {"a": 1, "b": 0})], []):
        assert first_by_rule(items) == {}


def test_items_that_a_rule_cannot_rank_are_left_out() -> None:
    silent = item("q9", groups=[["a"], ["b"], ["c", "d"]])
    assert first_by_rule([silent]) == {}
    assert first_by_rule([*SWAPPED, silent])["least_squares"] == ("b",)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_first_of_the_board_by_that_rule(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    items = judged(rng, near_ties(n), 15, FAIR, swap="sample", ties=0.3)
    log = write_log(tmp_path / "log.eval", items)
    [board] = leaderboards(log, how=HOW)
    assert set(board.first_by_rule) >= OTHERS
    for rule, leads in board.first_by_rule.items():
        [other] = leaderboards(log, how=HOW, rule=rule)
        assert leads == tuple(row.model for row in other.rows if row.rank == 1)
        says = any(f"{by} {rule}" in str(board.verdict.sentence) for by in ("Placed by", "or"))
        assert says == (board.rows[0].model not in leads)
        # A board by another rule looks back at the one that its ballots name.
        assert "elimination" in other.first_by_rule
        assert rule not in other.first_by_rule
