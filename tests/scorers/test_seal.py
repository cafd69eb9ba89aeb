"""SEAL with a planted judge: what it finds, what it asks, what it does with bad replies.

Most of it with a judge that replies at once; what depends on replies as text through Inspect.
"""

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.scorers.judges import NotingJudge, judged
from tests.scorers.tournament import planted_contest, play_all
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.bracket import round_name, rounds
from tiebreak.scorers.placement import NotPlacedError, place
from tiebreak.scorers.refinement import MOST_REFINEMENTS, closest

FLAT: dict[str, Any] = {"swap": "never", "refine": False, "critique": False}


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
        assert all(match.decided_by == "principles" for match in ballots.matches)


@pytest.mark.parametrize("n", range(2, 17))
def test_flat_bracket_asks_once_to_seed_and_once_a_match(n: int) -> None:
    ballots = play(planted(n), **FLAT)
    assert kinds(ballots) == {"seed": 1, "match": n - 1, "critique": 0, "refine": 0}
    # One call after another: seeding, then one match a round.
    assert max(call.depth for call in ballots.calls) + 1 == 1 + rounds(n)


@pytest.mark.parametrize("n", range(2, 17))
def test_every_extra_call_is_accounted_for(n: int) -> None:
    # Qualities so near that every match is close: |margin| = gap / scale = 0.01 / 0.1 = 0.1 at
    # the nearest, so "close" asks both orders wherever neighbours meet.
    ballots = play(planted(n, gap=0.01), swap="close")
    last = rounds(n)
    swapped = sum(len(match.verdicts) == 2 for match in ballots.matches)
    by_round = [len(closest(ballots.matches, number)) for number in range(1, last)]
    assert kinds(ballots) == {
        "seed": 1,
        "match": n - 1 + swapped,
        "critique": sum(match.round > max(last - 2, 1) for match in ballots.matches),
        "refine": sum(by_round),
    }
    assert all(count <= MOST_REFINEMENTS for count in by_round)
    assert len(ballots.refinements) == sum(by_round)


@pytest.mark.slow
def test_eight_candidates_all_close_cost_what_the_paper_says() -> None:
    # SEAL, table 5: 1 seeding + 7 matches + about 3.9 refinements and critiques = about 11.9.
    # Ours: 3 critiques (two semi-finals, one final) and from 0 to 4 refinements.
    calls = [
        len(play(planted(8, item=item, gap=0.05), item=item, swap="never").calls)
        for item in range(25)
    ]
    assert all(11 <= count <= 15 for count in calls)
    assert 11 <= sum(calls) / len(calls) <= 13


def test_swap_always_asks_both_orders_of_every_match() -> None:
    for match in play(planted(8), swap="always").matches:
        assert {verdict.first for verdict in match.verdicts} == {match.high, match.low}
        assert match.flipped is False


@pytest.mark.slow
def test_a_position_bound_judge_is_caught_and_decides_nothing(tmp_path: Path) -> None:
    [ballots] = play_all(
        [planted_contest(planted(8))],
        tmp_path,
        settings={"swap": "always", "refine": False},
        judge="planted/bias=1000",
    )
    assert all(match.flipped for match in ballots.matches)
    assert all(match.decided_by == "tie" for match in ballots.matches)


@pytest.mark.slow
def test_agreement_rises_with_the_quality_of_the_judge() -> None:
    pools = [planted(8, item=item) for item in range(20)]
    right_order = []
    for noise in (0, 2, 8, 1000):
        agreeing = 0
        for number, pool in enumerate(pools):
            rng = random.Random(f"{noise} {number}")
            # An error on each of the two answers that are compared.
            gaps = {
                (a, b): pool[a] - pool[b] + rng.gauss(0, noise) - rng.gauss(0, noise)
                for a, b in itertools.combinations(pool, 2)
            }
            tiers = {name: quality + rng.gauss(0, noise) for name, quality in pool.items()}
            judge = NotingJudge(pool, gaps=gaps, tiers=tiers, scale=0.1)
            ranks = place(play(pool, item=number, judge=judge, **FLAT)).ranks
            agreeing += sum(
                (ranks[a] < ranks[b]) == (pool[a] > pool[b])
                for a, b in itertools.combinations(pool, 2)
            )
        right_order.append(agreeing / (len(pools) * 28))
    best, good, poor, blind = right_order
    assert best > good > poor > blind
    assert blind == pytest.approx(0.5, abs=0.07)  # 560 pairs: 0.5 ± 3 standard errors
    # Not 1: elimination does not order those who went out in the same round exactly.
    assert best > 0.85


@pytest.mark.slow
def test_the_same_seed_gives_the_same_ballots_and_another_seed_others(tmp_path: Path) -> None:
    runs = []
    for seed in (1, 1, 2):
        contests = [
            planted_contest(planted(8, item=i), item_id=str(i), seed=seed) for i in range(2)
        ]
        played = play_all(contests, tmp_path, judge="planted/noise=3")
        runs.append([b.model_dump(exclude={"calls", "seed"}) for b in played])
    assert runs[0] == runs[1] != runs[2]


def test_order_of_presentation_is_balanced() -> None:
    matches = [m for item in range(15) for m in play(planted(8), item=item, **FLAT).matches]
    high_first = sum(match.verdicts[0].first == match.high for match in matches)
    assert 34 <= high_first <= 71  # of 105: 52.5 ± 18.5 is 3.6 standard deviations


def test_refinement_grows_the_checklist_and_never_the_principles() -> None:
    ballots = play(planted(8, gap=0.01))
    sizes: dict[int, set[int]] = {}
    for match in ballots.matches:
        for verdict in match.verdicts:
            assert set(verdict.principles) == {"P1", "P2", "P3", "P4"}
            sizes.setdefault(match.round, set()).add(len(verdict.checklist))
    added = {r: sum(x.round == r for x in ballots.refinements) for r in (1, 2)}
    assert sizes == {1: {4}, 2: {4 + added[1]}, 3: {4 + added[1] + added[2]}}
    assert sum(added.values()) > 0
    assert len({r.item_id for r in ballots.refinements}) == len(ballots.refinements)


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


@pytest.mark.slow
@pytest.mark.parametrize("malformed", [0.2, 0.6])
def test_malformed_replies_are_repaired_repeated_or_unscored(
    malformed: float, tmp_path: Path
) -> None:
    contests = [planted_contest(planted(8), item_id=str(i)) for i in range(6)]
    judge = f"planted/malformed={malformed}+seed=2"
    played = play_all(contests, tmp_path, settings=FLAT, judge=judge)
    repairs = [call for b in played for call in b.calls if call.repair]
    again = [call for b in played for call in b.calls if call.attempt == 1]
    unscored = [m for b in played for m in b.matches if m.unscored]
    assert repairs
    assert again
    assert bool(unscored) == (malformed == 0.6)
    for ballots in played:
        for match in ballots.matches:
            # A verdict that was set aside is kept, and says why.
            assert all(v.unscored for v in match.discarded)
            if match.unscored:
                assert match.winner == match.high
                assert match.margin is None
                assert match.decided_by == "unscored"


@pytest.mark.slow
def test_an_item_without_any_verdict_is_not_ranked(tmp_path: Path) -> None:
    contest = planted_contest(planted(4))
    [ballots] = play_all([contest], tmp_path, judge="planted/malformed=1")
    assert ballots.complete
    assert ballots.tiering is not None
    assert ballots.tiering.unscored == "it holds no JSON object"
    # Seeding, 3 matches, 1 of them in both orders: twice a try and its repair. 1 critique: once.
    assert kinds(ballots) == {"seed": 4, "match": 4 * (3 + 1), "critique": 2, "refine": 0}
    with pytest.raises(NotPlacedError, match="no match has a verdict"):
        place(ballots)


def test_a_single_group_asks_nobody() -> None:
    ballots = play({"a": 1.0})
    assert (ballots.calls, ballots.matches, ballots.complete) == ((), (), True)
    assert place(ballots).ranks == {"a": 1}


def test_one_tier_seeds_by_lot() -> None:
    ballots = play(planted(8), tiers=1)
    assert kinds(ballots)["seed"] == 0
    assert ballots.tiering is None
    assert sorted(ballots.seeds) == sorted(planted(8))


@pytest.mark.slow
def test_all_is_recorded_on_the_way(tmp_path: Path) -> None:
    stages: list[ItemBallots] = []
    play_all([planted_contest(planted(8))], tmp_path, stages=stages)
    assert [len(stage.matches) for stage in stages] == sorted(len(s.matches) for s in stages)
    assert [stage.complete for stage in stages] == [False] * (len(stages) - 1) + [True]
    with pytest.raises(NotPlacedError, match="cut short"):
        place(stages[0])


def test_names_of_rounds() -> None:
    assert [round_name(i, 4) for i in (1, 2, 3, 4)] == ["Round 1", "Round 2", "Semi-final", "Final"]
