"""The oracle against the paper's equations, and the engines against the oracle."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rankers.contests import exact
from tests.rankers.contests.cases import CASES, Case, truths
from tiebreak.rankers.contests.control import CHANCE_BITS, removed_by_size, share
from tiebreak.rankers.contests.expected_wins import csd
from tiebreak.rankers.contests.rounds import win_rates


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=7))
def test_equation_1(models: list[tuple[int, int]]) -> None:
    scores = tuple(score for score, _ in models)
    wins = win_rates([[strength] for _, strength in models]).tolist()
    after = exact.round_results(tuple(range(len(models))), scores, wins, 0)
    assert sum(after.values()) == 1
    for m in range(len(models)):
        group = [j for j in range(len(models)) if scores[j] == scores[m]]
        n, total = len(group), sum(Fraction(wins[m][j][0]) for j in group if j != m)
        mean = total / (n - 1) if n > 1 else Fraction(0)
        expected = mean if n % 2 == 0 else (1 - Fraction(1, n)) * mean
        assert sum(p * (s[m] - scores[m]) for s, p in after.items()) == expected
        # 2 × the sum of W is the number of weaker + the number of not stronger others.
        assert float(2 * total * share(n) / 2**CHANCE_BITS) == pytest.approx(
            float(expected), abs=float(2 * total) * 2.0 ** -(CHANCE_BITS + 1) + 1e-15
        )


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=7), st.integers(0, 8))
def test_equation_2(scores: list[int], most: int) -> None:
    active = tuple(range(len(scores)))
    left = exact.eliminations(active, tuple(scores), most)
    assert sum(left.values()) == 1
    lowest = [m for m in active if scores[m] == min(scores)]
    if most:
        chance = Fraction(most, max(most, len(lowest)))
        assert removed_by_size(most, len(lowest)) == round(chance * 2**CHANCE_BITS)
    for m in active:
        expected = Fraction(most, max(most, len(lowest))) if m in lowest else Fraction(0)
        assert sum((p for kept, p in left.items() if m not in kept), Fraction(0)) == expected


def test_by_hand() -> None:
    # Three models in strict order, two rounds, nobody is eliminated. Round 1: one of three has the
    # bye. Bye for 0: 1 beats 2; for 1: 0 beats 2; for 2: 0 beats 1. The winner is alone in round 2,
    # the two others (score 0) meet: bye for 0: 0 beats 2; for 1: 1 beats 2; for 2: 1 beats 2.
    wins = win_rates([[3, 3], [2, 2], [1, 1]]).tolist()
    assert exact.expected_wins(wins, (0, 0)) == [1, 1, 0]
    # With T = 1 one of the two at 0 goes, and nobody is left to play for the other.
    assert exact.expected_wins(wins, (1, 1)) == [Fraction(2, 3), Fraction(1, 3), 0]


@pytest.mark.parametrize("control_variate", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_engine(case: Case, control_variate: bool) -> None:
    result = csd(
        case.scores,
        eliminate=case.eliminate,
        iterations=20_000,
        control_variate=control_variate,
        seed=1,
    )
    error = np.abs(result.expected_wins - truths(case))
    assert np.all(error <= 4.5 * result.standard_error + 1e-8)
    assert np.all(result.rank_lower <= result.rank_upper)
