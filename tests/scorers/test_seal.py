"""SEAL with a planted judge: what it finds, what it asks, what it does with bad replies.

Most of it with a judge that replies at once; what depends on replies as text through Inspect.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ranking_logs.builders import match
from tests.scorers.judges import NotingJudge, judged, names
from tests.scorers.tournament import planted_contest, play_all
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.bracket import Pairing, first_round, round_name, rounds
from tiebreak.scorers.placement import place
from tiebreak.scorers.seal import MOST_REFINEMENTS, closest, pair_up, points


def planted(n: int, *, item: int = 0, gap: float = 1.0) -> dict[str, float]:
    """n models with qualities a gap apart, in an order that differs from item to item."""
    qualities = [gap * rank for rank in range(n)]
    random.Random(f"{n} {item}").shuffle(qualities)
    return {f"m{i:02}": quality for i, quality in enumerate(qualities)}


def play(
    qualities: dict[str, float], *, item: int = 0, judge: NotingJudge | None = None, **settings: Any
) -> ItemBallots:
    """One item, judged as the model provider `planted` would judge it."""
    judge = judge or NotingJudge(qualities, scale=0.1)
    contest = planted_contest(qualities, item_id=str(item))
    return judged("seal", replace(contest, position=item, n_items=999), judge, **settings)


def champion(ballots: ItemBallots) -> str:
    [best] = place(ballots).order[0]
    return best


def kinds(ballots: ItemBallots) -> dict[str, int]:
    return {
        kind: sum(call.kind == kind for call in ballots.calls)
        for kind in ("seed", "match", "critique", "refine")
    }


@pytest.mark.parametrize("n", range(2, 17))
def test_a_judge_without_noise_finds_the_planted_champion(n: int) -> None:
    for item in range(4):
        pool = planted(n, item=item)
        ballots = play(pool, item=item)
        placement = place(ballots)
        assert champion(ballots) == max(pool, key=pool.__getitem__)
        assert sorted(placement.ranks.values()) == list(range(1, n + 1))
        assert all(bout.decided_by == "principles" for bout in ballots.matches)


@pytest.mark.parametrize("n", range(2, 17))
def test_every_extra_call_is_accounted_for(n: int) -> None:
    # Qualities so near that every match is close: |margin| = gap / scale = 0.01 / 0.1 = 0.1 at
    # the nearest, so "close" asks both orders wherever neighbours meet.
    ballots = play(planted(n, gap=0.01), swap="close")
    last = rounds(n)
    swapped = sum(len(bout.verdicts) == 2 for bout in ballots.matches)
    by_round = [len(closest(ballots.matches, number)) for number in range(1, last)]
    assert kinds(ballots) == {
        "seed": 1,
        "match": n - 1 + swapped,
        "critique": sum(bout.round > max(last - 2, 1) for bout in ballots.matches),
        "refine": sum(by_round),
    }
    assert all(count <= MOST_REFINEMENTS for count in by_round)
    assert len(ballots.refinements) == sum(by_round)


@pytest.mark.slow
def test_through_inspect_it_is_the_same_tournament(tmp_path: Path) -> None:
    pools = [planted(8, item=item, gap=0.05) for item in range(3)]
    contests = [planted_contest(p, item_id=str(i)) for i, p in enumerate(pools)]
    for item, ballots in enumerate(play_all(contests, tmp_path)):
        fast = play(pools[item], item=item)
        for one, other in zip(ballots.matches, fast.matches, strict=True):
            assert (one.high, one.low, one.winner) == (other.high, other.low, other.winner)
            assert one.margin == pytest.approx(other.margin)
        assert kinds(ballots) == kinds(fast)
        assert place(ballots).order == place(fast).order


def test_names_of_rounds() -> None:
    assert [round_name(i, 4) for i in (1, 2, 3, 4)] == ["Round 1", "Round 2", "Semi-final", "Final"]


# Swiss pairing: properties of every round, and the definition by exhaustive search.

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


def test_a_second_round_by_hand() -> None:
    # Round 1: s0-s5, s1-s4, s2-s3. s5 and s4 win, s2 and s3 tie.
    first = [match("s0", "s5", -0.5), match("s1", "s4", -0.5), match("s2", "s3", 0.0)]
    seeds = [f"s{i}" for i in range(6)]
    assert points(seeds, first) == {"s0": 0, "s1": 0, "s2": 0.5, "s3": 0.5, "s4": 1, "s5": 1}
    # Table: s4 s5 | s2 s3 | s0 s1. The winners meet; s2 has met s3, so it meets the next one.
    assert pair_up(seeds, first) == [("s4", "s5"), ("s0", "s2"), ("s1", "s3")]


def test_many_candidates_and_rounds_take_no_time() -> None:
    """A search that tried all ways to pair them off would not come to its end."""
    rng = random.Random(1)
    for n in (16, 20):
        matches: list[Match] = []
        while pairs := pair_up(names(n), matches):
            matches += played(pairs, [rng.choice([1.0, 0.0]) for _ in pairs])
        assert len(matches) >= n * n // 4
