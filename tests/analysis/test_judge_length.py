import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from tests.ranking_logs.builders import item, match
from tiebreak.analysis.judge import LengthBias, length_bias
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import ItemBallots


def met(item_id: str, *matches: tuple[int, int, float | None]) -> ItemBallots:
    """Matches of one item, each as (length of one, length of the other, margin for the one)."""
    lengths: dict[str, int] = {}
    played = []
    for number, (one, other, margin) in enumerate(matches):
        lengths |= {f"a{number}": one, f"b{number}": other}
        played.append(match(f"a{number}", f"b{number}", margin))
    groups = tuple((name,) for name in lengths)
    return item(item_id, played, groups=groups).model_copy(update={"lengths": lengths})


def test_by_hand() -> None:
    # Longer wins twice, loses once, ties once; one match without a verdict does not count.
    result = length_bias(
        [
            met("q1", (30, 10, 0.5), (10, 15, -0.2), (12, 10, -0.3)),
            met("q2", (40, 10, 0.0), (50, 10, None)),
        ],
        how=Resampling(draws=50),
    )
    assert (result.n_matches, result.n_decided) == (4, 3)
    assert result.longer_rate == pytest.approx(2 / 3)
    # Results 1, -1, -1, 0; differences 20, -5, 2, 30. Of the eight values ±2 ±5 ±20 ±30 the
    # centred ranks are ±0.5, ±1.5, ±2.5, ±3.5: x = 2.5, -1.5, 0.5, 3.5.
    # Σxy = 2.5 + 1.5 - 0.5 = 3.5; Σx² = 6.25 + 2.25 + 0.25 + 12.25 = 21; Σy² = 3.
    assert result.correlation == pytest.approx(3.5 / math.sqrt(21 * 3))
    assert result.warning is None


MATCHES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.4, 0.0, -0.4])), min_size=1
)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(MATCHES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_it_is_spearmans_of_both_sides_whoever_is_named_first(
    per_item: list[list[tuple[int, int, float]]], random: Random
) -> None:
    result = length_bias(
        [met(f"q{n}", *own) for n, own in enumerate(per_item)], how=Resampling(draws=20)
    )
    flat = [one for own in per_item for one in own]
    longer, won = (
        np.array([sign * value for sign in (1, -1) for value in values])
        for values in ([a - b for a, b, _ in flat], [margin for _, _, margin in flat])
    )
    if not longer.any() or not won.any():
        assert result.reason is not None
        assert math.isnan(result.correlation)
        return
    assert result.reason is None
    assert result.correlation == pytest.approx(spearmanr(longer, won).statistic)
    turned = [
        [(b, a, -margin) if random.random() < 0.5 else (a, b, margin) for a, b, margin in own]
        for own in per_item
    ]
    again = length_bias(
        [met(f"q{n}", *own) for n, own in enumerate(turned)], how=Resampling(draws=20)
    )
    assert again.correlation == pytest.approx(result.correlation)
    assert (again.n_decided, again.longer_rate) == (result.n_decided, result.longer_rate) or (
        math.isnan(again.longer_rate) and math.isnan(result.longer_rate)
    )


def rate_and_bounds(result: LengthBias) -> tuple[float, float, float]:
    return result.correlation, result.correlation_lower, result.correlation_upper


def test_the_interval_resamples_items() -> None:
    """Twenty copies of a match are one piece of evidence when they are about one item."""
    games = [(20, 10, 0.5), (20, 10, 0.5), (20, 10, -0.5), (10, 20, -0.5), (10, 20, 0.5)] * 2
    apart = length_bias([met(f"q{n}", one) for n, one in enumerate(games)], how=Resampling(seed=1))
    copied = length_bias(
        [met(f"q{n}", *[one] * 20) for n, one in enumerate(games)], how=Resampling(seed=1)
    )
    assert rate_and_bounds(copied) == pytest.approx(rate_and_bounds(apart))
    assert copied.n_matches == 20 * apart.n_matches
    # Epochs of an item are one item: then there is nothing to resample.
    epochs = length_bias([met("q", one) for one in games], how=Resampling(seed=1))
    assert math.isnan(epochs.correlation_lower)
    assert epochs.correlation == pytest.approx(apart.correlation)


def test_the_order_of_items_changes_nothing() -> None:
    items = [met(f"q{n}", (20, 10 + n, (-0.5) ** n), (n, 3, 0.2)) for n in range(12)]
    assert length_bias(items) == length_bias(items[::-1])


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([], "no scored match"),
        ([met("q", (1, 2, None))], "no scored match"),
        ([item("q", [match("a", "b", 0.2)])], "the log does not say how long the answers are"),
        ([met("q", (7, 7, 0.3), (5, 5, -0.1))], "answers that met are equally long"),
        ([met("q", (7, 9, 0.0))], "all matches are tied"),
    ],
)
def test_nothing_observed_is_undefined(items: list[ItemBallots], reason: str) -> None:
    result = length_bias(items)
    assert (result.reason, result.warning) == (reason, None)
    assert all(math.isnan(value) for value in (*rate_and_bounds(result), result.longer_rate))


def contested(longer_wins: int, n: int, per_item: int) -> list[ItemBallots]:
    games = [(20, 10, 0.5 if game < longer_wins else -0.5) for game in range(n)]
    return [met(f"q{k}", *games[k : k + per_item]) for k in range(0, n, per_item)]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (contested(80, 100, 1), "The longer answer won 80% of 100 decided matches. Longer answers"),
        (contested(20, 100, 1), "The shorter answer won 80% of 100 decided matches. Shorter"),
        # 70% is not above 70%, however sure.
        (contested(700, 1000, 1), None),
        # Not one in a thousand, but in nine items; ten are enough.
        (contested(90, 90, 10), None),
        (contested(100, 100, 10), "The longer answer won 100% of 100"),
        # 15 of 20: the 99% Wilson interval 0.45–0.91 holds 0.5.
        (contested(15, 20, 1), None),
        # Six longer winners beside six ties: only over matches it may be chance (0.48–1).
        ([*contested(6, 6, 1), *(met(f"t{n}", (20, 10, 0.0)) for n in range(6))], None),
        # 80 of 100, but by eight items of ten: mean 0.6, standard error 0.8 / √10 = 0.25.
        (contested(80, 100, 10), None),
        (contested(20, 100, 10), None),
    ],
)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_when_to_warn(items: list[ItemBallots], said: str | None, level: float) -> None:
    warning = length_bias(items, how=Resampling(level=level)).warning
    assert (warning is None) if said is None else str(warning).startswith(said)
    if said is not None:
        assert "may be better" in str(warning)
