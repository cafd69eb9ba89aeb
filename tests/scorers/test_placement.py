"""From matches to a full ranking: worked cases, and properties of any tournament."""

import math

import pytest

from tests.report.builders import item, match
from tiebreak.scorers.ballots import Match
from tiebreak.scorers.placement import NotPlacedError, mean_margin, place

SINGLES = (("s0",), ("s1",), ("s2",), ("s3",))

# Semi-finals s0-s3 and s1-s2, then the final; margins favour the better seed.
CASES: list[tuple[str, list[Match], list[str]]] = [
    (
        "those who went out in one round: by mean margin",  # s3 lost by 0.1, s2 by 0.5
        [match("s0", "s3", 0.1), match("s1", "s2", 0.5), match("s0", "s1", 0.2, round=2)],
        ["s0", "s1", "s3", "s2"],
    ),
    (
        "equal margins: by seed",
        [match("s0", "s3", 0.3), match("s1", "s2", 0.3), match("s0", "s1", 0.2, round=2)],
        ["s0", "s1", "s2", "s3"],
    ),
    (
        "an upset, and a runner-up with a worse margin than the third",
        # s3 beats s0 by 0.1; s1 beats s2 by 0.1; the final is s1-s3, won by s1 by 0.9:
        # mean of s3 = (0.1 - 0.9) / 2 = -0.4, of s0 = -0.1, of s2 = -0.1
        [match("s0", "s3", -0.1), match("s1", "s2", 0.1), match("s1", "s3", 0.9, round=2)],
        ["s1", "s3", "s0", "s2"],
    ),
    (
        "without a scored match there is no evidence: last of its round",
        [match("s0", "s3", 0.9), match("s1", "s2", None), match("s0", "s1", 0.2, round=2)],
        ["s0", "s1", "s3", "s2"],
    ),
]


@pytest.mark.parametrize(
    ("matches", "order"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_order(matches: list[Match], order: list[str]) -> None:
    placement = place(item("q", matches, groups=SINGLES))
    assert placement.order == tuple((name,) for name in order)
    assert placement.ranks == {name: rank for rank, name in enumerate(order, start=1)}


def test_identical_answers_share_their_rank() -> None:
    placement = place(item("q", [match("a", "c", 0.5)], groups=(("a", "b"), ("c", "d", "e"))))
    # Places 1-2 and 3-5: means 1.5 and 4.
    assert placement.ranks == {"a": 1.5, "b": 1.5, "c": 4.0, "d": 4.0, "e": 4.0}
    assert placement.margins == {"a": 0.5, "b": 0.5, "c": -0.5, "d": -0.5, "e": -0.5}


def test_all_identical_are_tied_and_have_no_margin() -> None:
    placement = place(item("q", groups=(("a", "b", "c"),)))
    assert placement.ranks == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert all(math.isnan(margin) for margin in placement.margins.values())


def test_mean_margin_is_seen_from_the_candidate() -> None:
    matches = (match("a", "b", 0.4), match("c", "a", 0.6), match("a", "d", None))
    assert mean_margin("a", matches) == pytest.approx((0.4 - 0.6) / 2)


@pytest.mark.parametrize(
    ("matches", "complete", "why"),
    [
        ([match("s0", "s3", 0.1)], False, "cut short"),
        ([match("s0", "s3", None), match("s1", "s2", None)], True, "no match has a verdict"),
    ],
)
def test_what_cannot_be_placed(matches: list[Match], complete: bool, why: str) -> None:
    with pytest.raises(NotPlacedError, match=why):
        place(item("q", matches, groups=SINGLES, complete=complete))
