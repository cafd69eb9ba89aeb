"""Plans: what a budget buys, by brute force; what logs say; the command line."""

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.claims.round_robin import points
from tests.candidates.builders import make_rows, write_inspect_log
from tests.cli.handed import wrong_use
from tests.ranking_logs.builders import call, item, match, write_log
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.experience import Evidence, agree, cheaper_protocol, of_scores
from tiebreak.study.estimate.plan import Goal, Noise, Rate, half_width, noise_of, powers, spend

MODELS = tuple("abcdefgh")
RATES = [Rate(4.0 * rounds, 0.01 * rounds, 0.01 * rounds) for rounds in range(1, 8)]
NOISE = Noise(0.25, 1 / 3)


def board(protocol: str, scores: Any, *, calls: float = 4.0, met: float = 1.0) -> Evidence:
    found = of_scores(
        np.asarray(scores), MODELS, log="x", protocol=protocol, calls=calls, met=met, tie=0.0
    )
    assert found is not None
    return found


@pytest.mark.parametrize("n_pool", [20, 100, 1000])
@pytest.mark.parametrize("calls", [30, 100, 399, 400, 1500, 10**6])
def test_calls_are_spent_on_items_first_then_on_rounds(n_pool: int, calls: int) -> None:
    rounds, n_items = spend(Goal(calls=calls), n_pool, RATES, NOISE)
    assert n_items * RATES[rounds - 1].calls <= calls
    affordable = {(k, n) for k in range(1, 8) for n in range(1, n_pool + 1) if n * 4 * k <= calls}
    full = [k for k, n in affordable if n == n_pool]
    best = (max(full), n_pool) if full else (1, max(n for k, n in affordable if k == 1))
    assert (rounds, n_items) == best


@pytest.mark.parametrize("precision", [0.02, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("n_pool", [50, 300])
def test_a_precision_takes_as_few_rounds_and_items_as_reach_it(
    precision: float, n_pool: int
) -> None:
    rounds, n_items = spend(Goal(precision=precision), n_pool, RATES, NOISE)
    reached = [
        (k, n)
        for k in range(1, 8)
        for n in range(2, n_pool + 1)
        if half_width(NOISE.of_item(k), n) <= precision
    ]
    wanted = min(reached, default=(7, n_pool))
    assert (rounds, n_items) == (wanted[0], max(wanted[1], 6))


def test_budgets_that_buy_nothing_say_what_would() -> None:
    with pytest.raises(EstimateError, match=r"judges 2 items.*it takes 24 calls or more"):
        spend(Goal(calls=10), 100, RATES, NOISE)
    with pytest.raises(EstimateError, match=r"it takes \$0.06 or more"):
        spend(Goal(dollars=0.03), 100, RATES, NOISE)
    with pytest.raises(EstimateError, match="No price of the judge is known"):
        spend(Goal(dollars=3), 100, [Rate(4.0, None, None)], NOISE)


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_the_noise_of_an_item_is_what_a_judge_without_noise_shows(rounds: int) -> None:
    quality = np.random.default_rng(rounds).standard_normal((20_000, 8))
    won = (quality[:, :1] > quality[:, 1:]).astype(float)[:, :rounds]
    assert won.mean(axis=1).var() == pytest.approx(NOISE.of_item(rounds), rel=0.03)


def test_a_log_of_several_rounds_shows_how_alike_results_on_an_item_are() -> None:
    rng = np.random.default_rng(3)
    seen = board("round_robin", points(rng, np.zeros(8), 4000, 3), met=3)
    # That judge has noise of sd 1: two of its gaps correlate by 1 / (2 + 1²).
    assert noise_of(0.0, 0.0, seen).rho == pytest.approx(2 / math.pi * math.asin(1 / 3), abs=0.03)
    assert noise_of(0.5, 0.1, None) == Noise(0.25 * 0.5 * 0.9, 1 / 3)


def test_power_is_that_of_a_normal_test_where_scores_are_known() -> None:
    scores = np.repeat(np.linspace(0.3, 0.7, 8)[None], 1000, axis=0)
    seen = board("round_robin", scores + 1e-9 * np.random.default_rng(0).random(scores.shape))
    pairs = {(pair.first, pair.second): pair.power for pair in powers(seen, 0.25, 200)}
    error = math.sqrt(2 * 0.25 / 200 * 8 / 7)
    critical = norm.isf(0.05 / 56) * error
    assert pairs["h", "a"] == pytest.approx(norm.sf((critical - 0.4) / error), abs=1e-3)
    assert powers(seen, 0.25, 5) == powers(None, 0.25, 200) == ()


def test_another_protocol_is_recommended_only_if_it_finds_the_same_for_less() -> None:
    rng = np.random.default_rng(8)
    theta = np.linspace(0.5, -0.5, 8)

    def listing(taste: Any, noise: float) -> Any:
        read = theta + taste + rng.standard_normal((400, 8)) + noise * rng.standard_normal((400, 8))
        return (read[:, :, None] > read[:, None, :]).sum(axis=2) / 7

    own = board("full_pairwise", listing(0 * theta, 0.2), calls=28)
    needed = 4 * 0.25 / own.signal
    sharp = board("listwise", listing(0 * theta, 0.2), calls=1)
    biased = board("listwise", listing(np.array([0, 2, 0, -1, 0, 2, 0, 1.0]), 0.2), calls=1)
    vague = board("listwise", listing(0 * theta, 12.0), calls=1)
    assert cheaper_protocol([own, sharp], own, needed) is sharp
    assert not agree(biased, own)
    assert cheaper_protocol([own, biased, vague], own, needed) is None


def test_what_plans_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget becomes a command, in dollars up to what a judge that may reason hides.

    That is a thousand tokens a call, at 17 dollars a million. A log of the same judge shows its
    noise and who differs.
    """
    monkeypatch.chdir(tmp_path)
    for folder, n_items in (("few", 10), ("logs", 40), ("judged", 40)):
        for number, model in enumerate("abcd"):
            rows = make_rows(n_items, answer=f"{model}: {{i}}", native=float(number < 3))
            write_inspect_log(Path(folder, f"{model}.eval"), model, rows)
    rng = np.random.default_rng(0)
    items = []
    for number in range(30):
        matches = [
            match(one, other, 0.5 if rng.random() < 0.9 else -0.5)
            for one, other in combinations("abcd", 2)
        ]
        calls = [call("match", model="acme/j")] * 6
        judged = item(f"{number}", matches, groups=tuple("abcd"), calls=calls)
        how = {"placed_by": "win_rate", "protocol": "full_pairwise"}
        items.append(judged.model_copy(update=how))
    write_log(Path("judged/judged/full.eval"), items)
    wrong_use(__file__, "plan.txt")
