"""Swiss pairing: properties of every round, and the definition by exhaustive search."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ranking_logs.builders import match
from tests.scorers.judges import ONCE, NotingJudge, contest_of, judged, ladder, names, silent_about
from tiebreak.scorers.ballots import Match
from tiebreak.scorers.bracket import Pairing, first_round
from tiebreak.scorers.placement import place
from tiebreak.scorers.seal import pair_up, points

MARGIN = {1.0: 0.5, 0.5: 0.0, 0.0: -0.5, None: None}
RESULTS = st.sampled_from([1.0, 0.5, 0.0, None])


def played(pairs: Sequence[tuple[str, str]], results: Sequence[float | None]) -> list[Match]:
    return [match(*pair, MARGIN[r]) for pair, r in zip(pairs, results, strict=True)]


def tournament(
    seeds: Sequence[str], data: st.DataObject
) -> Iterator[tuple[list[Match], list[tuple[str, str]]]]:
    """The matches before every round, and the pairs of the round, until there are no more pairs."""
    matches: list[Match] = []
    while pairs := pair_up(seeds, matches):
        yield matches, pairs
        results = data.draw(st.lists(RESULTS, min_size=len(pairs), max_size=len(pairs)))
        matches = matches + played(pairs, results)


def perfect_matchings(table: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    if not table:
        yield []
        return
    first, *others = table
    for second in others:
        for rest in perfect_matchings([name for name in others if name != second]):
            yield [(first, second), *rest]


def by_exhaustion(seeds: Sequence[str], matches: Sequence[Match]) -> set[frozenset[str]]:
    """The definition of a later round.

    The table holds the candidates by points, then by seed. Of all ways to pair them all off without
    a repeated pair, take the one whose list of partners' places, read from the top of the table, is
    lexicographically first. With an odd number one sits out: of those that have played most, the
    lowest in the table for whom there is such a way; else of those that have played one match
    less, and so on.
    """
    won = {
        name: sum(
            (m.result if m.high == name else 1 - m.result)
            for m in matches
            if m.result is not None and name in (m.high, m.low)
        )
        for name in seeds
    }
    games = Counter(name for m in matches for name in (m.high, m.low))
    table = sorted(seeds, key=lambda name: (-won[name], seeds.index(name)))
    met = {frozenset((m.high, m.low)) for m in matches}
    benches: list[str | None] = [None]
    if len(seeds) % 2:
        benches = [*sorted(table, key=lambda name: (-games[name], -table.index(name)))]
    for bench in benches:
        playing = [name for name in table if name != bench]
        ways = [
            way
            for way in perfect_matchings(playing)
            if not any(frozenset(pair) in met for pair in way)
        ]
        if ways:
            best = min(ways, key=lambda way: [playing.index(second) for _, second in way])
            return {frozenset(pair) for pair in best}
    return set()


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.integers(2, 12), st.data())
def test_every_round_of_any_tournament(n: int, data: st.DataObject) -> None:
    seeds = names(n)
    rounds = 0
    for matches, pairs in tournament(seeds, data):
        rounds += 1
        playing = Counter(name for pair in pairs for name in pair)
        assert set(playing.values()) == {1}  # nobody plays twice, or itself
        assert len(playing) == n - n % 2  # everybody plays, but one where the number is odd
        met = {frozenset((m.high, m.low)) for m in matches}
        assert not any(frozenset(pair) in met for pair in pairs)
        assert all(seeds.index(high) < seeds.index(low) for high, low in pairs)
    # Each has n - 1 opponents; with an odd number each also sits out once. Fewer rounds can happen.
    assert 1 <= rounds <= (n - 1 if n % 2 == 0 else n)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.integers(3, 8), st.data())
def test_later_rounds_are_what_the_definition_says(n: int, data: st.DataObject) -> None:
    seeds = names(n)
    matches: list[Match] = []
    for matches, pairs in tournament(seeds, data):
        if matches:
            assert {frozenset(pair) for pair in pairs} == by_exhaustion(seeds, matches)
    last = matches + played(pairs, [1.0] * len(pairs))
    # It stops only where no pairing is left (or the next round would have been played).
    assert bool(pair_up(seeds, last)) == bool(by_exhaustion(seeds, last))


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_the_first_round_is_that_of_the_bracket(n: int) -> None:
    bracket = {
        frozenset((one.high, one.low)) for one in first_round(names(n)) if isinstance(one, Pairing)
    }
    assert {frozenset(pair) for pair in pair_up(names(n), [])} == bracket


@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_with_an_odd_number_the_middle_seed_sits_out_first(n: int) -> None:
    playing = {name for pair in pair_up(names(n), []) for name in pair}
    assert set(names(n)) - playing == {names(n)[n // 2]}


def test_nobody_sits_out_twice_before_all_others_have() -> None:
    rng = random.Random(0)
    for n in (3, 5, 7):
        matches: list[Match] = []
        benched: list[str] = []
        for _ in range(3):  # so many rounds always exist for these numbers
            pairs = pair_up(names(n), matches)
            benched += set(names(n)) - {name for pair in pairs for name in pair}
            matches += played(pairs, [rng.choice([1.0, 0.5, 0.0]) for _ in pairs])
        assert len(benched) == len(set(benched)) == 3


def test_a_second_round_by_hand() -> None:
    # Round 1: s0-s5, s1-s4, s2-s3. s5 and s4 win, s2 and s3 tie.
    first = [match("s0", "s5", -0.5), match("s1", "s4", -0.5), match("s2", "s3", 0.0)]
    seeds = [f"s{i}" for i in range(6)]
    assert points(seeds, first) == {"s0": 0, "s1": 0, "s2": 0.5, "s3": 0.5, "s4": 1, "s5": 1}
    # Table: s4 s5 | s2 s3 | s0 s1. The winners meet; s2 has met s3, so it meets the next one.
    assert pair_up(seeds, first) == [("s4", "s5"), ("s0", "s2"), ("s1", "s3")]


def test_a_match_without_a_verdict_gives_no_points_but_is_not_repeated() -> None:
    first = [match("a", "d", None), match("b", "c", 0.5)]
    assert points("abcd", first) == {"a": 0, "b": 1, "c": 0, "d": 0}
    # Table: b, then a, c, d by seed.
    assert pair_up("abcd", first) == [("a", "b"), ("c", "d")]


def test_it_stops_where_no_pairing_is_left() -> None:
    # Six candidates of which each of abc has met each of def: two triangles are left, and a
    # triangle cannot be paired off.
    met = [match(high, low, 0.5) for high in "abc" for low in "def"]
    assert pair_up("abcdef", met) == []
    assert pair_up("ab", [match("a", "b", 0.5)]) == []


def test_many_candidates_and_rounds_take_no_time() -> None:
    started = time.process_time()
    rng = random.Random(1)
    for n in (16, 20):
        matches: list[Match] = []
        while pairs := pair_up(names(n), matches):
            matches += played(pairs, [rng.choice([1.0, 0.0]) for _ in pairs])
        assert len(matches) >= n * n // 4
    assert time.process_time() - started < 5


def test_rounds_end_where_all_have_met() -> None:
    judge = NotingJudge(ladder(4))
    ballots = judged("swiss", contest_of(4), judge, **{**ONCE["swiss"], "rounds": 9})
    assert len(ballots.matches) == len(set(judge.met)) == 6  # all pairs, in 3 rounds
    assert max(m.round for m in ballots.matches) == 3
    assert place(ballots).order == tuple((name,) for name in names(4))


@pytest.mark.parametrize("n", range(3, 11))
def test_as_many_rounds_as_there_are_opponents_give_the_true_order(n: int) -> None:
    judge = NotingJudge(ladder(n))
    ballots = judged("swiss", contest_of(n), judge, **{**ONCE["swiss"], "rounds": n, "tiers": 1})
    # Not all pairs meet where no pairing is left before that; the closure knows how they would end.
    assert place(ballots).order == tuple((name,) for name in names(n))


def test_the_better_seed_is_not_preferred_by_an_unscored_match() -> None:
    judge = NotingJudge(ladder(4), silent=silent_about("m00", "m03"))
    ballots = judged("swiss", contest_of(4), judge, **ONCE["swiss"])
    [unscored] = [m for m in ballots.matches if m.unscored]
    assert {unscored.high, unscored.low} == {"m00", "m03"}
    assert unscored.result is None
    assert points(ballots.seeds, [unscored]) == dict.fromkeys(ballots.seeds, 0.0)


def test_close_matches_sharpen_the_checklist_between_rounds_only() -> None:
    judge = NotingJudge(ladder(8), scale=100)  # all margins are close
    ballots = judged("swiss", contest_of(8), judge, rounds=3, swap="never")
    assert [r.round for r in ballots.refinements] == [1, 1, 2, 2]
    sizes = {m.round: len(m.verdicts[0].checklist) for m in ballots.matches}
    assert sizes == {1: 4, 2: 6, 3: 8}
    assert len(ballots.calls) == 1 + 3 * 4 + 4
