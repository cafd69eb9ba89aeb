"""All pairs: what is asked, and Borda from win rates."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import NotingJudge, contest_of, judged, ladder, names, silent_about
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.match import CLOSE_MARGIN
from tiebreak.scorers.placement import place


@pytest.mark.parametrize("n", range(2, 11))
def test_every_pair_meets_once_or_in_both_orders(n: int) -> None:
    every = [frozenset(pair) for pair in combinations(names(n), 2)]
    for swap, times in (("never", 1), ("always", 2)):
        judge = NotingJudge(ladder(n))
        ballots = judged("full_pairwise", contest_of(n), judge, swap=swap)
        assert sorted(judge.met, key=sorted) == sorted(every * times, key=sorted)
        assert {len({v.first for v in m.verdicts}) for m in ballots.matches} == {times}


@pytest.mark.parametrize("n", range(2, 11))
def test_close_pairs_are_asked_in_both_orders(n: int) -> None:
    # Margins are gap / 10: with gaps of 1, 2, 3 … the pairs at most 2 places apart are close
    # (0.1 and 0.2 < 0.25 ≤ 0.3): n - 1 neighbours and n - 2 next ones.
    assert 0.2 < CLOSE_MARGIN <= 0.3
    judge = NotingJudge(ladder(n), scale=10)
    ballots = judged("full_pairwise", contest_of(n), judge, swap="close")
    assert len(ballots.calls) == n * (n - 1) // 2 + (n - 1) + max(0, n - 2)
    # The second order waits for the first.
    assert {call.depth for call in ballots.calls} == {0, 1}


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=9))
def test_a_consistent_judge_gives_the_true_order_with_its_ties(levels: list[int]) -> None:
    quality = {name: float(level) for name, level in zip(names(len(levels)), levels, strict=True)}
    placement = place(judged("full_pairwise", planted_contest(quality), NotingJudge(quality)))
    truth = [
        tuple(name for name in quality if quality[name] == level)
        for level in sorted(set(quality.values()), reverse=True)
    ]
    assert placement.order == tuple(truth)


def test_borda_from_win_rates_with_ties_half() -> None:
    # a beats b and c and is even with d; b beats c and d; c beats d.
    #   a: (1 + 1 + ½) / 3 = 5/6    b: (0 + 1 + 1) / 3 = 4/6
    #   c: (0 + 0 + 1) / 3 = 2/6    d: (½ + 0 + 0) / 3 = 1/6
    gaps = {("a", "b"): 1.0, ("a", "c"): 1.0, ("a", "d"): 0.0,
            ("b", "c"): 1.0, ("b", "d"): 1.0, ("c", "d"): 1.0}  # fmt: skip
    flat = dict.fromkeys("abcd", 0.0)
    ballots = judged("full_pairwise", planted_contest(flat), NotingJudge(flat, gaps=gaps))
    assert place(ballots).order == (("a",), ("b",), ("c",), ("d",))
    assert [m.result for m in ballots.matches] == [1, 1, 0.5, 1, 1, 1]


def test_a_tie_counts_half_and_no_less() -> None:
    # a beats c, all else is even: a ¾, b ½, c ¼. Were a tie worth nothing, b and c would be level.
    gaps = {("a", "b"): 0.0, ("a", "c"): 1.0, ("b", "c"): 0.0}
    flat = dict.fromkeys("abc", 0.0)
    ballots = judged("full_pairwise", planted_contest(flat), NotingJudge(flat, gaps=gaps))
    assert place(ballots).order == (("a",), ("b",), ("c",))


def test_an_unscored_pair_is_left_out_of_the_rates() -> None:
    # a-d has no verdict: a 2/2, b 2/3, c 1/3, d 0/2.
    judge = NotingJudge(ladder(4), silent=silent_about("m00", "m03"))
    ballots = judged("full_pairwise", contest_of(4), judge)
    assert place(ballots).order == tuple((name,) for name in names(4))
    # The same for c-d: c 0/2, d 0/2, although c would have won. No verdict decides nothing.
    judge = NotingJudge(ladder(4), silent=silent_about("m02", "m03"))
    assert place(judged("full_pairwise", contest_of(4), judge)).order == (
        ("m00",),
        ("m01",),
        ("m02", "m03"),
    )
