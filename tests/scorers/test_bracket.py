"""The bracket against its definition, and against a tournament played with known strengths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.scorers.bracket import Bye, Pairing, first_round, next_round, rounds

SIZES = st.integers(2, 40)


def names(n: int) -> list[str]:
    return [f"s{i}" for i in range(n)]


def play_out(n: int, upset: set[int] = frozenset()) -> list[Pairing]:  # type: ignore[assignment]
    """All matches when the better seed always wins, but for the matches numbered in `upset`."""
    seeds, matches, entrants = names(n), [], names(n)
    for number in range(1, rounds(n) + 1):
        slots = first_round(seeds) if number == 1 else next_round(number, entrants, seeds)
        entrants = []
        for slot in slots:
            if isinstance(slot, Pairing):
                matches.append(slot)
                entrants.append(slot.low if len(matches) in upset else slot.high)
            else:
                entrants.append(slot.high)
    assert len(entrants) == 1
    return matches


@pytest.mark.slow
@given(SIZES, st.sets(st.integers(1, 40)))
def test_any_tournament_has_n_minus_one_matches_and_each_but_one_loses_once(
    n: int, upset: set[int]
) -> None:
    matches = play_out(n, upset)
    losers = [m.high if i in upset else m.low for i, m in enumerate(matches, start=1)]
    assert len(matches) == n - 1
    assert len(set(losers)) == n - 1


@given(SIZES)
def test_without_upsets_seeds_meet_as_late_as_they_can(n: int) -> None:
    for match in play_out(n):
        high, low = int(match.high[1:]), int(match.low[1:])
        # In round r of R, 2^(R - r + 1) slots are left and the seeds that meet add up to that - 1.
        assert high + low == 2 ** (rounds(n) - match.round + 1) - 1


@given(SIZES)
def test_byes_go_to_the_top_seeds(n: int) -> None:
    byes = {slot.high for slot in first_round(names(n)) if isinstance(slot, Bye)}
    assert byes == set(names(n)[: 2 ** rounds(n) - n])


@pytest.mark.parametrize("seeds", [[], ["a"], ["a", "a"]])
def test_bad_seeds(seeds: list[str]) -> None:
    with pytest.raises(ValueError, match="at least two candidates"):
        first_round(seeds)
