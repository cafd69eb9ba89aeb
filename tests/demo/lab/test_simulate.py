"""The simulation compared with plain arithmetic on the same pools, and its sentences."""

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.analysis.whole import told
from tests.cases import cases
from tests.expected import check
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.demo.lab.planted import LabError, Pool, Traits, World, normal_qualities
from tiebreak.demo.lab.sheet import data_of, sheets_of
from tiebreak.demo.lab.simulate import (
    Agreement,
    Figure,
    Row,
    Run,
    Simulation,
    _row,
    _variant,
    simulate,
)
from tiebreak.progress import Activity, watch
from tiebreak.scorers.catalogue import ONE_JUDGE, PROTOCOLS, STANDARD

WORLD = World(normal_qualities(6, 0.3), Traits(noise=0.5))
SEED = 3


def simulate_world(
    world: World, items: Sequence[int] = (50, 100, 200), **settings: Any
) -> Simulation:
    """Simulate a given world; `simulate` itself takes the world's numbers."""
    settings |= {"ties": world.ties, "pass_rate": world.pass_rate, **asdict(world.traits)}
    return simulate(world.qualities, items, **settings)


@pytest.fixture(scope="module")
def study() -> Simulation:
    return simulate_world(WORLD, (10, 25), repeats=3, seed=SEED, swap="never")


def test_all_protocols_with_one_judge_are_compared() -> None:
    assert {_variant(label, None, "abcdef").protocol.name for label in STANDARD} == set(ONE_JUDGE)


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [10, 25])
def test_full_pairwise_is_the_share_of_wins(study: Simulation, n_items: int) -> None:
    """Compute the board by hand: an item's ranks are those by wins, and Borda is linear in ranks.

    Equal sums of ranks are ordered by the mean margin; a gap of 1 is full confidence.
    """
    rho, tau, first = [], [], []
    for repeat in range(3):
        pool = Pool(WORLD, 25, SEED, repeat)
        names = pool.models
        total = np.zeros(len(names))
        for item in range(n_items):
            gaps = pool.judge(item).gaps
            wins = np.array([sum(gaps[a, b] > 0 for b in names if b != a) for a in names])
            # N minus the mean rank: models with fewer wins, and half of those with as many.
            total += [np.sum(wins < w) + (np.sum(wins == w) - 1) / 2 for w in wins]
            seen = [[min(1, max(-1, gaps[a, b])) for b in names if b != a] for a in names]
            total += 1e-6 * np.mean(seen, axis=1)
        rho.append(spearmanr(total, WORLD.qualities).statistic)
        tau.append(kendalltau(total, WORLD.qualities).statistic)
        first.append(total.argmax() == 0)
    truth = study.row("full_pairwise", n_items).truth
    assert truth.spearman.mean == pytest.approx(np.mean(rho))
    assert truth.spearman.minimum == pytest.approx(np.min(rho))
    assert truth.spearman.standard_error == pytest.approx(np.std(rho, ddof=1) / math.sqrt(3))
    assert truth.kendall.mean == pytest.approx(np.mean(tau))
    assert truth.top1.mean == pytest.approx(np.mean(first))


def test_original_is_the_pass_rate(study: Simulation) -> None:
    rho, undefined = [], 0
    for repeat in range(3):
        pool = Pool(WORLD, 25, SEED, repeat)
        passed = np.array([[contest.native[m] for m in pool.models] for contest in pool.contests])
        rates = passed.mean(axis=0).round(9)
        if len(set(rates)) == 1:
            undefined += 1
        else:
            rho.append(spearmanr(rates, WORLD.qualities).statistic)
    figure = study.row("original", 25).truth.spearman
    assert figure.mean == pytest.approx(np.mean(rho))
    assert figure.undefined == undefined


def test_agreement_with_full_pairwise(study: Simulation) -> None:
    assert study.row("full_pairwise", 25).reference.spearman == Figure(1.0, 0.0, 1.0, 0)
    for label in STANDARD:
        assert -1 <= study.row(label, 25).reference.spearman.mean <= 1


def test_sorting_agrees_fully_with_a_judge_that_never_contradicts_itself() -> None:
    study = simulate_world(World(normal_qualities(7, 0.2)), (12,), repeats=2, protocols=["sorted"])
    assert study.row("sorted", 12).reference.spearman.minimum == 1
    assert study.row("sorted", 12).reference.kendall.minimum == 1


def test_protocols_know_the_truth_when_models_are_far_apart() -> None:
    world = World(normal_qualities(4, 30.0))
    study = simulate_world(world, (3,), repeats=2, swap="never", target=1.0)
    for label in STANDARD:
        row = study.row(label, 3)
        # With three items, pass or fail and grades clipped at 0 and 10 leave some models tied.
        tied = label in ("original", "pointwise", "fixed_rubric")
        if PROTOCOLS[label.partition(":")[0]].orders_all and not tied:
            assert (row.truth.spearman.minimum, row.recovered) == (1.0, 1.0), label
    assert "original" not in [label for label, items in study.needed.items() if items]


def test_the_target_itself_counts() -> None:
    # Two neighbours of five changed places: ρ = 1 − 6 · 2 / (5 · 24) = 0.9.
    board = -np.array([[1.0, 2.0, 3.0, 5.0, 4.0]])
    run = Run(World((5.0, 4.0, 3.0, 2.0, 1.0)).models, depth=[0])
    truth = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    for target, recovered in ((0.9, 1.0), (0.91, 0.0)):
        assert _row("p", 1, board, board, truth, [run], target).recovered == recovered


def test_calls_by_kind(study: Simulation) -> None:
    n, items = 6, 25
    assert study.row("original", items).calls == {}
    assert study.row("pointwise", items).calls == {"score": n}
    # One rubric for the whole benchmark.
    assert study.row("fixed_rubric", items).calls == {"rubric": 1 / items, "score": n}
    assert study.row("full_pairwise", items).calls == {"match": 15}
    assert study.row("flat_bracket", items).calls == {"seed": 1, "match": 5}
    # Six candidates: two semi-finals and a final get a critique.
    seal = study.row("seal", items)
    assert {kind: seal.calls[kind] for kind in ("seed", "match", "critique")} == {
        "seed": 1,
        "match": 5,
        "critique": 3,
    }
    assert 0 < seal.calls["refine"] <= 4
    assert seal.calls_per_item == pytest.approx(9 + seal.calls["refine"])
    assert study.row("swiss:rounds=3", items).calls["match"] == 9
    # Critique and refinement change nothing for a planted judge.
    assert seal.truth == study.row("flat_bracket", items).truth
    assert study.row("full_pairwise", items).depth == 1
    assert study.row("flat_bracket", items).depth == 4


@pytest.mark.slow
def test_fewer_items_are_the_beginning_of_the_same_pools(study: Simulation) -> None:
    alone = simulate_world(WORLD, (10,), repeats=3, seed=SEED, swap="never")
    assert str(alone.rows) == str(tuple(row for row in study.rows if row.n_items == 10))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes() -> None:
    def data(seed: int) -> str:
        study = simulate_world(WORLD, (4, 6), repeats=2, seed=seed)
        return json.dumps(data_of(study), allow_nan=False)

    assert data(SEED) == data(SEED)
    assert data(SEED + 1) != data(SEED)


def test_one_protocol_more_changes_no_other() -> None:
    world = World(normal_qualities(4, 0.3), Traits(noise=0.5, fresh=True, malformed=0.1))
    one = simulate_world(world, (8,), repeats=2, protocols=["swiss"])
    two = simulate_world(world, (8,), repeats=2, protocols=["sorted", "swiss"])
    assert str(one.row("swiss", 8)) == str(two.row("swiss", 8))


def test_position_bias_ties_everybody_in_both_orders() -> None:
    """If both orders are asked, a judge that always prefers the first answer ties all models."""
    world = World(normal_qualities(4, 0.3), Traits(position_bias=100))
    row = simulate_world(
        world, (5,), repeats=2, protocols=["full_pairwise:swap=always"], swap="never"
    ).row("full_pairwise:swap=always", 5)
    assert row.calls == {"match": 12}
    assert math.isnan(row.truth.spearman.mean)
    assert (row.truth.spearman.undefined, row.recovered) == (2, 0)
    assert row.truth.top1.mean == 0.25  # a tie of four: as good as guessing


def test_a_judge_that_says_nothing_of_use() -> None:
    world = World((1.0, 0.0), Traits(malformed=1.0))
    study = simulate_world(world, (3,), repeats=1)
    for label in set(STANDARD) - {"original"}:
        row = study.row(label, 3)
        assert (row.unscored, row.unranked, row.recovered) == (1, 1, 0), label
    assert math.isnan(study.row("original", 3).unscored)
    assert study.row("original", 3).unranked == 0
    json.dumps(data_of(study), allow_nan=False)


def test_repeated_answers_save_calls() -> None:
    study = simulate_world(
        World(normal_qualities(8, 0.2), ties=0.5), (10,), repeats=1, swap="never"
    )
    # With half of the answers repeated, four of eight are different.
    assert study.row("full_pairwise", 10).calls == {"match": 6}
    assert study.row("flat_bracket", 10).calls == {"seed": 1, "match": 3}
    assert study.row("pointwise", 10).calls == {"score": 4}


def test_it_runs_inside_a_running_event_loop() -> None:
    async def notebook() -> Simulation:
        return simulate_world(World((1.0, 0.0)), (2,), repeats=1)

    assert asyncio.run(notebook()).row("full_pairwise", 2).calls == {"match": 2}


def test_parts_are_counted() -> None:
    seen: list[Activity | None] = []
    with watch(seen.append):
        simulate_world(World((1.0, 0.0)), (2, 4), repeats=3, protocols=["listwise"])
    [activity, end] = seen
    assert end is None
    assert activity is not None
    assert activity.description == "judging planted items"
    assert activity.done == activity.total == 6


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    studies = [
        simulate_world(World((0.5, 0.0, -0.5)), (4,), repeats=2, jobs=jobs) for jobs in (1, 2)
    ]
    assert repr(studies[0]) == repr(studies[1])


@pytest.mark.parametrize(("label", "swap", "settings"), cases(__file__, "read_variant"))
def test_read_variant(label: str, swap: Any, settings: dict[str, Any]) -> None:
    variant = _variant(label, swap, "abcdef")
    assert (variant.label, variant.settings) == (label, settings)
    assert variant.protocol.name == label.split(":")[0]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: _variant("swis", None, "abcdef"), "Did you mean swiss"),
        (lambda: _variant("stars", None, "abcdef"), "planted items have none"),
        (lambda: simulate_world(WORLD, ()), "numbers of items"),
        (lambda: simulate_world(WORLD, (0, 5)), "numbers of items"),
        (lambda: simulate_world(WORLD, (5,), repeats=0), "0 repeats"),
        (lambda: simulate(1), "1 models: a comparison takes two"),
    ],
)
def test_bad_studies(make: Callable[[], object], problem: str) -> None:
    with pytest.raises(LabError, match=problem):
        make()


def row(protocol: str, n_items: int, recovered: float, calls: float = 1.0) -> Row:
    figure = Figure(0.5, 0.1, 0.2, 0)
    agreement = Agreement(figure, figure, figure)
    return Row(protocol, n_items, agreement, agreement, {"match": calls}, 1.0, 0.0, 0.0, recovered)


@pytest.mark.parametrize(("shares", "expected"), cases(__file__, "needed"))
def test_items_needed(shares: dict[int, float], expected: int | None) -> None:
    rows = [row("p", n_items, share) for n_items, share in shares.items()]
    assert study_of(*rows, row("other", 5, 1.0)).needed == {"p": expected, "other": 5}


def study_of(*rows: Row) -> Simulation:
    return Simulation(WORLD, tuple(sorted({one.n_items for one in rows})), 10, 0, 0.9, 0.9, rows)


def test_answers() -> None:
    cheap, quick = row("cheap", 100, 1.0, calls=2.0), row("quick", 50, 1.0, calls=28.0)
    free = replace(cheap, protocol="original", calls={})
    none = (row("a", 50, 0.3), row("b", 50, 0.8), row("b", 100, 0.7))
    rows = ((cheap, quick), (cheap,), (free, quick), none)
    check(__file__, "answers.txt", "\n".join([*(study_of(*one).answer for one in rows), ""]))


def test_models_described_in_plain_numbers() -> None:
    judge = Traits(noise=0.25, position_bias=0.3, reading_noise=0.5)
    world = World(normal_qualities(4, 0.3), judge, ties=0.5, pass_rate=0.9)
    expected = simulate_world(world, (3, 6), repeats=2, protocols=["seal"], seed=3)
    shared: dict[str, Any] = {"ties": 0.5, "pass_rate": 0.9, "noise": 0.25, "position_bias": 0.3}
    shared |= {"reading_noise": 0.5, "repeats": 2, "protocols": ["seal"], "seed": 3}
    for models in (4, normal_qualities(4, 0.3)):
        found = simulate(models, (3, 6), spread=0.3, **shared)
        assert repr(found) == repr(expected)


MALFORMED = World((0.4, 0.2, 0.0), Traits(malformed=0.2, fresh=True, noise=0.3), ties=0.3)


def small_study(repeats: int = 3) -> Simulation:
    return simulate_world(
        MALFORMED, (4, 8), repeats=repeats, protocols=["original", "seal"], swap="never"
    )


def test_what_is_shown_and_exported() -> None:
    """On a narrow and a wide screen, with undefined figures, and with a single pool."""
    one = small_study()
    for width in (80, 120):
        text = show(sheets_of(one), width)
        assert max(map(len, text.splitlines())) <= width
        check(__file__, f"simulated_{width}.txt", text)
    everybody_passes = World((0.1, 0.0), pass_rate=0.9999)
    equal = simulate_world(everybody_passes, (3,), repeats=2, protocols=["original"])
    check(__file__, "simulated_equal.txt", show(sheets_of(equal), 80) + told(data_of(equal)))
    check(__file__, "simulated.txt", told(round_trip(data_of(small_study(repeats=1)))))
