import math
from random import Random

import numpy as np
import pytest

from tests.ranking_logs.builders import item, match
from tiebreak.analysis.judge.biases import length_of
from tiebreak.scorers.ballots import ItemBallots


def met(item_id: str, *matches: tuple[str, int, int, float | None]) -> ItemBallots:
    """Matches of one item: two one-letter models, the length of each, the first one's margin."""
    lengths: dict[str, int] = {}
    played = []
    for pair, one, other, margin in matches:
        lengths |= {pair[0]: one, pair[1]: other}
        played.append(match(pair[0], pair[1], margin))
    groups = tuple((name,) for name in lengths)
    return item(item_id, played, groups=groups).model_copy(update={"lengths": lengths})


def test_by_hand() -> None:
    # a against b: longer, shorter, longer; won, lost, lost. x = 1, −1, 1 and y = 1, 0, 0:
    # Σxy − ΣxΣy/3 = 1 − 1/3 = 2/3; Σx² − (Σx)²/3 = 3 − 1/3 = 8/3. c is always longer than d.
    found = length_of(
        [
            met("q1", ("ab", 2, 1, 0.3), ("cd", 2, 1, 0.3)),
            met("q2", ("ab", 1, 2, -0.3), ("cd", 2, 1, -0.3)),
            met("q3", ("ba", 1, 2, 0.3), ("cd", 3, 1, None)),
        ]
    )
    assert found.gain == pytest.approx((2 / 3) / (8 / 3))
    assert (found.n_matches, found.n_items) == (3, 3)
    assert math.isnan(found.lower)
    assert not found.bound


def worlds(n_items: int, likes: float, seed: int, *, better: float = 0.0) -> list[ItemBallots]:
    """Three models; `likes` is what being longer is worth, `better` is what c's habit is worth."""
    rng = np.random.default_rng(seed)
    built = []
    for n in range(n_items):
        size = rng.normal(0, 1, 3) + np.array([0, 0.5, 1.0])
        quality = rng.normal(0, 1, 3) + better * np.array([0, 0.5, 1.0]) + likes * size
        length = (1000 * np.exp(0.3 * size)).astype(int).tolist()
        built.append(
            met(
                f"q{n}",
                *(
                    ("abc"[i] + "abc"[j], length[i], length[j], 0.1 * (quality[i] - quality[j]))
                    for i, j in ((0, 1), (0, 2), (1, 2))
                ),
            )
        )
    return built


@pytest.mark.slow
def test_a_blind_judge_of_models_with_longer_and_better_answers_is_not_flagged() -> None:
    alarms = [length_of(worlds(30, 0.0, seed, better=2.0)).p <= 0.01 for seed in range(400)]
    assert sum(alarms) <= 10  # 4 are expected; more than 10 in 3 of 1,000 runs


@pytest.mark.slow
def test_a_judge_that_likes_length_is_found_and_intervals_hold_its_gain() -> None:
    every = [length_of(worlds(40, 1.0, seed)) for seed in range(40)]
    assert sum(one.bound for one in every) >= 36
    truth = length_of(worlds(4000, 1.0, 1000)).gain
    assert sum(one.lower <= truth <= one.upper for one in every) >= 34


@pytest.mark.parametrize("seed", [15, 149, 309])
def test_a_gain_that_hangs_on_one_item_has_bounds(seed: int) -> None:
    """Without that item rounding leaves a little over nothing, which is no gain without end."""
    rng = Random(seed)
    n_items = rng.randint(10, 14)
    hinge = rng.randrange(n_items)
    items = []
    for n in range(n_items):
        pairs = ["ab", "cd", "ef"]
        pairs = ["ef", "ab", "cd"] if n == hinge else rng.sample(pairs, rng.randint(1, 3))
        longer = (1, 2) if n == hinge else (2, 1)
        items.append(
            met(f"q{n}", *((pair, *longer, rng.choice((0.3, 0.0, -0.3))) for pair in pairs))
        )
    gain = length_of(items)
    assert -1 < gain.lower <= gain.gain <= gain.upper < 1


def test_the_jackknife_is_that_of_items_left_out_one_by_one() -> None:
    every = worlds(12, 1.0, 3)
    found = length_of(every)
    gains = [length_of(every[:n] + every[n + 1 :]).gain for n in range(12)]
    error = math.sqrt(11 / 12 * np.sum((np.array(gains) - np.mean(gains)) ** 2))
    assert (found.upper - found.gain) / 2.200985 == pytest.approx(error)  # t of 11 at 97.5%


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([], "no match"),
        ([item("q", [match("a", "b", 0.1)])], "the log does not say how long answers are"),
        (
            [met(f"q{n}", ("ab", 2, 1, 0.3)) for n in range(12)],
            "of no two models now one and now the other gave the longer answer",
        ),
    ],
)
def test_why_there_is_no_gain(items: list[ItemBallots], reason: str) -> None:
    found = length_of(items)
    assert (str(found.reason), math.isnan(found.gain), found.bound) == (reason, True, False)
