"""What a board would say at equal length, in worlds of a judge whose preference is known."""

import numpy as np
import pytest

from benchmarks.claims.worlds import (
    FAIR,
    Array,
    judged,
    length_loving,
    ranking_log,
    true_borda,
)
from tests.ranking_logs.builders import item, match
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.judge.biases import length_of
from tiebreak.analysis.leaderboard import board_of
from tiebreak.analysis.verdict import at_equal_length
from tiebreak.demo.lab.planted import Traits
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(draws=20)


def drawn(traits: Traits, theta: list[float], better: float = 0.0) -> list[ItemBallots]:
    """All pairs of 150 items; half of the variance of lengths is a model's own."""
    rng = np.random.default_rng(5)
    return judged(
        rng, theta, 150, traits, protocol="full_pairwise", swap="never", longer_is_better=better
    )


def test_equal_models_are_equal_again_where_the_judge_likes_length() -> None:
    board = board_of(ranking_log(drawn(length_loving(0.8), [0.0] * 4)), how=HOW)
    changes = board.verdict.equal_length
    assert changes is not None
    apart = {(pair.above, pair.below) for pair in board.pairs if pair.apart}
    assert apart
    assert (changes.sensitive, {*changes.lost}, changes.n_apart) == (True, apart, len(apart))
    sentence = str(board.verdict.sentence)
    assert f"At equal length {len(apart)} of {len(apart)} pairs told apart do not hold" in sentence
    assert "sensitive to length (rank --control length)" in sentence
    assert board.trust.state == "fine"


def test_what_length_has_no_part_in_holds() -> None:
    board = board_of(ranking_log(drawn(length_loving(0.75), [1.6, 0.8, 0.0])), how=HOW)
    changes = board.verdict.equal_length
    assert changes is not None
    assert (changes.sensitive, changes.lost, changes.leader) == (False, (), None)
    assert "At equal length nothing changes" in str(board.verdict.sentence)
    # Without a gain nothing is said.
    board = board_of(ranking_log(drawn(FAIR, [1.0, 0.5, 0.0])), how=HOW)
    assert board.verdict.equal_length is None
    assert "length" not in str(board.verdict.sentence)


@pytest.mark.parametrize("likes", [0.6, 0.8])
def test_scores_come_near_to_those_of_a_judge_who_is_blind_to_length(likes: float) -> None:
    theta = [0.6, 0.4, 0.2, 0.0]
    items = drawn(length_loving(likes), theta)
    table = ItemTable.of(ranking_log(items).ranked)
    adjusted = scores_at_equal_length(table, items)
    truth = true_borda(theta, noise=FAIR.noise)
    before, after = (
        float(np.sqrt(np.mean((scores.mean(axis=0) - truth) ** 2)))
        for scores in (table.borda, adjusted)
    )
    assert after < 0.04
    assert after < 0.7 * before


def scores_at_equal_length(table: ItemTable, items: list[ItemBallots]) -> Array:
    """A second way: least squares on a dummy for every model and on length, all rows at once."""
    n, k = table.borda.shape
    lengths = np.array([[item.lengths[model] for model in table.models] for item in items])
    more = (lengths[:, :, None] - lengths[:, None, :]) / (lengths[:, :, None] + lengths[:, None, :])
    x = more.sum(axis=2) / (k - 1)
    design = np.column_stack([np.tile(np.eye(k), (n, 1)), x.ravel()])
    [*_, slope], *_ = np.linalg.lstsq(design, table.borda.ravel(), rcond=None)
    adjusted: Array = table.borda - slope * x
    return adjusted


def test_the_tests_are_those_of_the_adjusted_scores() -> None:
    items = drawn(length_loving(0.7), [1.2, 0.7, 0.2, 0.0], better=0.2)
    table = ItemTable.of(ranking_log(items).ranked)
    order = np.argsort(-table.borda.mean(axis=0)).tolist()
    tests = separation(table.borda, order)
    changes = at_equal_length(table, items, tests, length_of(items))
    adjusted = scores_at_equal_length(table, items)
    from scipy.stats import ttest_1samp

    lost = []
    for pair in tests.pairs:
        if pair.apart:
            leads = adjusted[:, pair.above] - adjusted[:, pair.below]
            if leads.mean() <= 0 or ttest_1samp(leads, 0).pvalue > 0.05:
                lost.append((table.models[pair.above], table.models[pair.below]))
    assert 0 < len(lost) < changes.n_apart
    assert set(changes.lost) == set(lost)


def test_answers_of_unknown_length_keep_their_scores() -> None:
    items = [
        item(f"q{number}", [match("a", "b", 1 if number % 3 else -1)], groups=[["a"], ["b"]])
        for number in range(30)
    ]
    table = ItemTable.of(ranking_log(items).ranked)
    tests = separation(table.borda, [0, 1])
    changes = at_equal_length(table, items, tests, length_of(items))
    assert (changes.lost, changes.leader) == ((), None)
