import math

import pytest

from tests.ranking_logs.builders import match
from tiebreak.analysis.judge import position_bias
from tiebreak.scorers.ballots import Match
from tiebreak.words import count, percent


def swapped(first_wins: bool) -> Match:
    """Both orders: a judge that always takes the first answer, or one that is consistent."""
    return match("a", "b", 0.3, second_order=-0.3 if first_wins else 0.3)


def test_a_judge_that_always_takes_the_first_answer() -> None:
    # 46 matches flip (the first answer wins both times: 92 verdicts), 2 do not (1 of 2 each).
    matches = [swapped(True)] * 46 + [swapped(False)] * 2
    bias = position_bias(matches)
    assert (bias.n_first, bias.n_swapped) == (96, 48)
    assert bias.first_rate == pytest.approx(94 / 96)
    assert bias.flip_rate == pytest.approx(46 / 48)
    assert bias.warning == (
        "This judge chose the first answer in 98% of 96 verdicts (an unbiased judge: 50%) and "
        "contradicted itself in 46 of 48 matches when the order was swapped: do not trust this "
        "ranking. Put a stronger judge in: --model-role judge=MODEL"
    )


def test_a_judge_that_always_takes_the_second_answer() -> None:
    bias = position_bias([match("a", "b", -0.3)] * 40)
    assert bias.first_rate == 0
    assert bias.warning is not None
    assert "chose the second answer in 100% of 40 verdicts" in bias.warning
    assert "contradicted" not in bias.warning


@pytest.mark.parametrize(
    ("matches", "findings"),
    [
        # Consistent in both orders: the first answer wins once and loses once.
        ([swapped(False)] * 50, []),
        # 6 of 8 verdicts: Wilson 0.41–0.93 holds 0.5.
        ([match("a", "b", 0.3)] * 6 + [match("a", "b", -0.3)] * 2, []),
        # 560 of 1,000: Wilson 0.53–0.59 excludes 0.5, but 0.06 is within tolerance.
        ([match("a", "b", 0.3)] * 560 + [match("a", "b", -0.3)] * 440, []),
        # 620 of 1,000 is not.
        ([match("a", "b", 0.3)] * 620 + [match("a", "b", -0.3)] * 380, ["first answer in 62%"]),
        # 7 of 7 flips: too few matches; 14 of 14 verdicts went to the first answer.
        ([swapped(True)] * 7, ["first answer in 100% of 14"]),
        # 3 of 8 flips: rate 0.38, Wilson lower bound 0.14; first rate (3·2 + 5) / 16 = 0.69,
        # Wilson 0.44–0.86.
        ([swapped(True)] * 3 + [swapped(False)] * 5, ["contradicted itself in 3 of 8"]),
        # 3 of 11 flips: rate 0.27, lower bound 0.0975.
        ([swapped(True)] * 3 + [swapped(False)] * 8, []),
    ],
)
def test_when_to_warn(matches: list[Match], findings: list[str]) -> None:
    warning = position_bias(matches).warning
    assert (warning is None) == (not findings)
    assert all(finding in str(warning) for finding in findings)


def test_nothing_observed_is_undefined() -> None:
    bias = position_bias([match("a", "b", None), match("a", "b", 0.0)])
    assert (bias.n_first, bias.n_swapped, bias.warning) == (0, 0, None)
    assert math.isnan(bias.first_rate)
    assert math.isnan(bias.flip_lower)


def test_the_first_answer_is_the_left_one_whoever_is_the_better_seed() -> None:
    bias = position_bias([match("a", "b", -0.5, first="b")])  # b shown first, b better
    assert bias.first_rate == 1


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1, "100%"), (0.97, "97%")],
)
def test_percent(rate: float, text: str) -> None:
    assert percent(rate) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 matches"), (1, "1 match"), (1200, "1,200 matches")]
)
def test_count(number: int, text: str) -> None:
    assert count(number, "match", "matches") == text
