import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from tests.cases import cases
from tests.expected import check
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.diagnosis import (
    Diagnosis,
    Evidence,
    Saturation,
    diagnose,
    saturation,
    saturation_of,
    verdict,
)
from tiebreak.candidates import (
    Candidate,
    CandidatePool,
    Item,
    ItemKey,
    Note,
    audit,
    normalise_answer,
)
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.pairwise_tests import items_needed
from tiebreak.reason import Reason
from tiebreak.report.sheets.diagnosis import data_of, sheets_of

NAN = math.nan
Row = Mapping[str, tuple[str, float]]


def pool_of(
    rows: Mapping[ItemKey, Row], metric: str | None = "match", notes: tuple[Note, ...] = ()
) -> CandidatePool:
    """A pool from the answer and the native score of every model."""
    return CandidatePool(
        items=tuple(Item(key, str(key), "?", "!") for key in rows),
        candidates={
            key: {
                model: Candidate(key, model, text, native_score=score, native_metric=metric)
                for model, (text, score) in row.items()
            }
            for key, row in rows.items()
        },
        notes=notes,
    )


def printed(*diagnoses: Diagnosis, width: int = 80) -> str:
    return show(sheets_of(diagnoses), width)


BY_HAND = {
    ItemKey("gsm8k", "1"): {"a": ("x", 1.0), "b": ("x ", 1.0), "c": ("x", 1.0)},  # identical
    ItemKey("gsm8k", "2"): {"a": ("x", 1.0), "b": ("y", 1.0), "c": ("z", 1.0)},  # open
    ItemKey("gsm8k", "3"): {"a": ("x", 1.0), "b": ("x", 1.0), "c": ("y", 0.0)},  # ranked
    ItemKey("gsm8k", "4"): {"a": ("x", 1.0), "b": ("y", 0.0), "c": ("z", NAN)},  # open: c
    ItemKey("gsm8k", "5"): {"a": ("x", NAN), "b": ("x", 0.0), "c": ("x", 0.0)},  # identical
}


def test_by_hand() -> None:
    [found] = diagnose(pool_of(BY_HAND))
    evidence = found.evidence
    assert (evidence.n_models, evidence.n_scored, evidence.n_rows) == (3, 3, 5)
    assert (evidence.n_identical, evidence.n_open, evidence.n_unscored) == (2, 2, 2)
    assert found.distinct == pytest.approx((1 + 3 + 2 + 3 + 1) / 5)
    # Tied: 3 + 3 + 1 + 0 + 1 pairs, of which the three of item 2 differ.
    assert (found.n_tied_pairs, found.n_tied_different) == (8, 3)
    # a 1 1 1 1 –; b 1 1 1 0 0; c 1 1 0 – 0. Common items: a, b 4; b, c 4; a, c 3.
    assert [(s.model, s.native, s.n_items) for s in found.standings] == [
        ("a", 1.0, 4),
        ("b", pytest.approx(3 / 5), 5),
        ("c", pytest.approx(1 / 2), 4),
    ]
    assert (evidence.n_items, evidence.n_pairs, evidence.n_apart) == (4, 3, 0)
    assert evidence.largest == pytest.approx(1 / 3)  # a over c
    assert math.isnan(evidence.detectable)  # four items show nothing, three tests take seven
    assert (evidence.all_equal, evidence.points, evidence.top) == (False, True, 3)
    assert (found.verdict.kind, found.verdict.judging) == ("too_few_items", "could_help")
    assert found.audit.n_saturated == 2


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("xyz"), st.sampled_from([0.0, 0.5, 1.0, NAN])),
            min_size=4,
            max_size=4,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_counts_of_answers_by_brute_force(table: list[list[tuple[str, float]]]) -> None:
    rows = {
        ItemKey("b", str(n)): dict(zip("klmn", row, strict=True)) for n, row in enumerate(table)
    }
    [found] = diagnose(pool_of(rows))
    pairs = [list(combinations(row, 2)) for row in table]
    tied = [[(a, b) for a, b in item if a[1] == b[1]] for item in pairs]
    is_open = [
        any(a[0] != b[0] and not (a[1] < b[1] or a[1] > b[1]) for a, b in item) for item in pairs
    ]
    assert found.n_tied_pairs == sum(map(len, tied))
    assert found.n_tied_different == sum(a[0] != b[0] for item in tied for a, b in item)
    assert found.evidence.n_open == sum(is_open)
    assert found.evidence.n_identical == sum(len({a for a, _ in row}) == 1 for row in table)
    assert found.distinct * len(table) == pytest.approx(
        sum(len({normalise_answer(a) for a, _ in row}) for row in table)
    )
    round_trip(data_of([found]))
    assert printed(found)


def simulated(accuracies: list[float], n_items: int, seed: int = 0) -> CandidatePool:
    """Models that pass independently; every answer is different."""
    generator = np.random.default_rng(seed)
    passed = generator.random((n_items, len(accuracies))) < accuracies
    rows = {}
    for n, row in enumerate(passed):
        answers = {f"m{k}": (f"answer of m{k}", float(one)) for k, one in enumerate(row)}
        rows[ItemKey("gsm8k", str(n))] = answers
    return pool_of(rows)


@pytest.mark.parametrize(
    ("accuracies", "n_items", "kind", "n_groups"),
    [
        ([0.96] * 8, 162, "saturated", 1),
        ([0.2, 0.5, 0.8], 500, "not_saturated", 3),
        ([0.97, 0.97, 0.97, 0.3], 300, "partly_saturated", 2),
        ([0.1, 0.9], 5, "too_few_items", 1),
    ],
)
def test_planted_models(accuracies: list[float], n_items: int, kind: str, n_groups: int) -> None:
    [found] = diagnose(simulated(accuracies, n_items))
    assert found.verdict.kind == kind
    assert len({group for s in found.standings for group in s.groups}) == n_groups
    if kind == "partly_saturated":
        assert found.evidence.top == 3
        assert [s.groups for s in found.standings] == [(1,), (1,), (1,), (2,)]


def test_every_benchmark_has_its_own_diagnosis() -> None:
    rows: dict[ItemKey, Row] = {
        **{ItemKey("mmlu", str(n)): {"a": ("A", 1.0), "b": ("A", 1.0)} for n in range(9)},
        **{ItemKey("own", str(n)): {"a": ("x", NAN), "c": ("y", NAN)} for n in range(3)},
        **{ItemKey("solo", str(n)): {"a": ("x", 1.0)} for n in range(3)},
    }
    found = diagnose(pool_of(rows))
    assert [(d.benchmark, d.verdict.kind, d.verdict.judging) for d in found] == [
        ("mmlu", "identical", "cannot_help"),
        ("own", "no_native", "could_help"),
        ("solo", "one_model", "cannot_help"),
    ]
    text = printed(*found)
    assert text.count("Native") == 2  # "own" has no leaderboard
    assert "Items that lack a native score: 3 of 3 (100%)" in text
    assert "solo · 1 model · 3 items" in text
    solo = found[2].evidence
    assert (solo.n_items, solo.n_pairs, solo.n_apart, solo.top) == (0, 0, 0, 1)
    assert math.isnan(solo.largest)
    infinite = {ItemKey("b", "1"): {"a": ("x", math.inf), "b": ("y", 1.0)}}
    with pytest.raises(RankingError):
        diagnose(pool_of(infinite))


def test_epochs_are_one_item_to_native_scores_and_several_to_judges() -> None:
    rows = {
        ItemKey("gsm8k", str(item), epoch): {"a": (f"{epoch}", 1.0), "b": ("2", float(epoch - 1))}
        for item in range(7)
        for epoch in (1, 2)
    }
    [found] = diagnose(pool_of(rows))
    assert (found.evidence.n_rows, found.evidence.n_items) == (14, 7)
    assert found.standings[1].native == pytest.approx(1 / 2)
    assert (found.evidence.n_identical, found.evidence.n_open) == (7, 0)
    # One half in each of the seven items: 2 / 2⁷.
    assert found.separation.pairs[0].p == pytest.approx(2 / 2**7)
    assert found.verdict.kind == "not_saturated"


def test_native_scores_that_never_differ_have_a_bound() -> None:
    rows = {ItemKey("b", str(n)): {"a": ("x", n % 2), "b": ("y", n % 2)} for n in range(60)}
    [found] = diagnose(pool_of(rows))
    assert found.evidence.all_equal
    # 1 − 0.05^(1/60) = 0.0487
    assert "differ by at most 4.9 points" in str(found.verdict.text)
    beyond = {
        ItemKey("b", str(n)): {"a": ("x", 5.0 + n % 2), "b": ("y", 5.0 + n % 3)} for n in range(30)
    }
    [beyond_one] = diagnose(pool_of(beyond))
    assert "points" not in str(beyond_one.verdict.text)


def test_as_data() -> None:
    kinds = ("native_differs", "settings_differ", "wording_differs", "hole")
    notes = [Note(kind, "gsm8k", f"of {kind}") for kind in kinds]
    pool = replace(pool_of(BY_HAND), notes=(*notes, Note("native_differs", "mmlu", "elsewhere")))
    [found] = diagnose(pool)
    [data] = round_trip(data_of([found]))["benchmarks"]
    assert data["verdict"]["kind"] == "too_few_items"
    assert data["evidence"]["unseen"] is None
    assert [pair["above"] + pair["below"] for pair in data["pairs"]] == ["ab", "ac", "bc"]
    assert data["pairs"][1]["detectable"] is None
    counts = {"n_native": 3, "n_saturated": 2, "n_dropped": 1, "n_pairs": 15, "power": 0.8}
    notes_of = [f"of {kind}" for kind in kinds[:3]]
    assert data | counts | {"metrics": ["match"], "notes": notes_of} == data
    assert data["n_identical_pairs"] == 3 + 0 + 1 + 0 + 3


# --- Diagnosis verdict.


USUAL = Evidence(**cases(__file__, "usual"))
CASES = cases(__file__, "verdicts")


def test_kinds_and_texts() -> None:
    found = {name: verdict(replace(USUAL, **changes)) for name, changes in CASES.items()}
    lines = (f"{name}: {v.kind}, {v.judging}: {v.text}\n" for name, v in found.items())
    check(__file__, "diagnosis_verdicts.txt", "".join(lines))


# --- Saturation.


def scores_pool(scores: Mapping[ItemKey, Mapping[str, float]]) -> CandidatePool:
    items = tuple(Item(key, str(key), "?", "!") for key in scores)
    candidates = {
        key: {model: Candidate(key, model, "a", native_score=s) for model, s in row.items()}
        for key, row in scores.items()
    }
    return CandidatePool(items, candidates)


def test_one_result_per_benchmark_by_hand() -> None:
    pool = scores_pool(
        {
            ItemKey("mmlu", "1"): {"b": 1, "a": 1},
            ItemKey("gsm8k", "1"): {"a": 1, "c": 1, "b": 1},
            ItemKey("gsm8k", "2"): {"a": 0, "b": 1, "c": 1},
            ItemKey("gsm8k", "3"): {"a": 0, "b": 1, "c": NAN},
            # An item in several epochs counts once: means ½ and ½ (they agree), 1 and 0.
            ItemKey("law", "1", 1): {"a": 1, "b": 0},
            ItemKey("law", "1", 2): {"a": 0, "b": 1},
            ItemKey("law", "2", 1): {"a": 1, "b": 0},
            ItemKey("law", "2", 2): {"a": NAN, "b": 0},
        }
    )
    results = saturation(pool)
    agree = [(name, one.agree.value, one.agree.n_items) for name, one in results.items()]
    assert agree == [("mmlu", 1, 1), ("gsm8k", 1 / 3, 3), ("law", 1 / 2, 2)]
    np.testing.assert_allclose(results["gsm8k"].means, [1 / 3, 1, 1])
    assert results["gsm8k"].order == (1, 2, 0)
    np.testing.assert_allclose(results["law"].means, [0.75, 0.25])
    # Two items show nothing, whatever their scores: p = 2 / 2².
    assert math.isnan(results["law"].detectable[0, 1])


def test_saturated_items_are_those_of_the_audit() -> None:
    generator = np.random.default_rng(0)
    pool = scores_pool(
        {
            ItemKey("humaneval", str(item)): {
                model: float(generator.random() < 0.9) for model in "abcd"
            }
            for item in range(50)
        }
    )
    [result], [counted] = saturation(pool).values(), audit(pool).benchmarks
    assert 0 < counted.n_saturated < 50
    assert result.agree.value == counted.n_saturated / counted.n_native
    assert result.agree.n_items == counted.n_native


FloatArray = NDArray[np.float64]

# --- By hand ---------------------------------------------------------------------------------


def test_saturation_by_hand() -> None:
    result = saturation_of([[1.0, 1, 1], [1.0, 1, 0], [1, 0, NAN], [0.0, 0, 0], [NAN, 1, NAN]])
    # Four items have two scores or more; in the first and the fourth all agree.
    assert (result.agree.value, result.agree.n_items) == (2 / 4, 4)
    np.testing.assert_allclose(result.means, [3 / 4, 3 / 5, 1 / 3])
    assert result.order == (0, 1, 2)
    assert np.isnan(np.diag(result.detectable)).all()
    assert (result.n_constant_pairs, result.reason) == (0, None)


def detectable(
    gap: Sequence[float], n_pairs: int, *, level: float = 0.95, power: float = 0.8
) -> float:
    """The definition, by a search for its root."""
    d, n = np.array(gap, dtype=float), len(gap)
    size, spread = float(np.abs(d[d != 0]).mean()), float(d.var(ddof=1))
    ties = float(np.mean(d == 0))
    alpha = (1 - level) / n_pairs
    quantiles = float(stats.t.isf(alpha / 2, n - 1) + stats.t.ppf(power, n - 1))

    def short(lead: float) -> float:
        return lead - quantiles * math.sqrt(max(0, spread + ties * (lead * size - lead**2)) / n)

    k = next(k for k in range(n + 1) if 2 * 0.5**k <= alpha)
    enough = brentq(lambda share: stats.binom.sf(k - 1, n, share) - power, 0, 1)
    return max(float(brentq(short, 0, 10 * size)), size * float(enough))


# Twelve against six of 40 items; two of 40 differ; all do, by ever more.
@pytest.mark.parametrize(
    "gap", [[1] * 12 + [-1] * 6 + [0] * 22, [1, -1] + [0] * 38, [n - 9.5 for n in range(20)]]
)
def test_detectable_is_the_root_of_its_equation(gap: list[float]) -> None:
    two = saturation_of([[one, 0] for one in gap])
    assert two.detectable[0, 1] == two.detectable[1, 0] == pytest.approx(detectable(gap, 1))
    # Three models are three tests, and a third one that shares no item changes nothing.
    three = saturation_of([[one, 0, 0] for one in gap])
    assert three.detectable[0, 1] == pytest.approx(detectable(gap, 3))
    assert three.typical_detectable == pytest.approx(detectable(gap, 3))
    alone = saturation_of([[one, 0, NAN] for one in gap] + [[NAN, NAN, 1]])
    assert alone.detectable[0, 1] == pytest.approx(detectable(gap, 1))


def test_a_lead_must_make_enough_items_differ() -> None:
    # With 28 tests it takes 11 items; 11 or more of 20 differ in 80% of cases at a rate of 0.6161.
    scores = np.ones((20, 8))
    scores[0, 0] = scores[1, 1] = 0
    lead = saturation_of(scores).detectable[0, 1]
    assert lead == pytest.approx(0.6161, abs=1e-4)
    assert stats.binom.sf(10, 20, lead) == pytest.approx(0.8)


def test_models_that_never_differ_have_a_bound_and_no_zero() -> None:
    result = saturation_of(np.ones((60, 3)))
    assert (result.agree.value, result.n_constant_pairs) == (1, 3)
    assert np.isnan(result.detectable).all()
    assert math.isnan(result.typical_detectable)
    # The rule of three: nearly 3/60. Exactly, (1 − x)⁶⁰ = 0.05.
    assert (1 - result.unseen) ** 60 == pytest.approx(0.05)
    assert "3 of 3 pairs" in str(result.reason)
    assert "4.9%" in str(result.reason)


def test_a_constant_difference_is_not_detectable_by_formula() -> None:
    result = saturation_of([[1.0, 0.9, NAN]] * 8 + [[NAN, 0.9, 0.9 + 1e-15]] * 2)
    assert np.isnan(result.detectable).all()
    assert result.n_constant_pairs == 2
    assert result.unseen == pytest.approx(1 - 0.05 ** (1 / 2))  # the pair with two items


def test_the_luckiest_of_some_constant_pairs_is_bounded_by_all_pairs() -> None:
    result = saturation_of([[1, 1, 0]] * 10 + [[0, 0, 1]] * 20 + [[1, 1, 1]] * 10)
    assert result.n_constant_pairs == 1
    assert (1 - result.unseen) ** 40 == pytest.approx(0.05 / 3)


def test_one_model_and_models_without_a_common_item() -> None:
    result = saturation_of([[1.0], [0.0]])
    assert result.reason == Reason("one_model")
    assert math.isnan(result.unseen)
    lonely = saturation_of([[1, NAN], [NAN, 0.5]])
    assert lonely.order == (0, 1)
    assert np.isnan([lonely.detectable[0, 1], lonely.agree.value]).all()


@pytest.mark.parametrize(
    ("native", "options", "message"),
    [
        ([1, 0], {}, "native must have shape"),
        (np.empty((3, 0)), {}, "there is no model"),
        ([[1, math.inf]], {}, "finite"),
        ([[1, 0]], {"level": 1}, "level and power must lie"),
        ([[1, 0]], {"power": 80}, "level and power must lie"),
    ],
)
def test_bad_input(native: Any, options: Any, message: str) -> None:
    with pytest.raises(RankingError, match=message):
        saturation_of(native, **options)


# --- The detectable difference is detected as often as it says --------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.9, 0.6)])
def test_power_by_simulation(level: float, power: float) -> None:
    # Models share the difficulty of the items, so the pairing counts.
    generator = np.random.default_rng(3)

    def draw(runs: int, gap: float) -> FloatArray:
        items = generator.normal(size=(runs, 200, 1))
        return items + generator.normal(size=(runs, 200, 2)) * [1, 2] + [gap, 0]

    gap = float(
        np.mean(
            [saturation_of(x, level=level, power=power).typical_detectable for x in draw(60, 0)]
        )
    )
    scores = draw(4000, gap)
    found = stats.ttest_rel(scores[..., 0], scores[..., 1], axis=1).pvalue <= 1 - level
    # Standard error √(.8 · .2 / 4,000) = 0.6%.
    assert np.mean(found) == pytest.approx(power, abs=0.02)


# --- Properties -------------------------------------------------------------------------------

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(2, 4)),
    elements=st.one_of(st.integers(0, 2).map(lambda x: x / 2), st.just(NAN)),
)


def facts(result: Saturation) -> list[float]:
    return [result.agree.value, result.typical_detectable, result.unseen]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(tables, st.permutations(range(8)))
def test_order_of_items_does_not_matter(native: FloatArray, order: list[int]) -> None:
    shuffled = native[[row for row in order if row < len(native)]]
    np.testing.assert_allclose(
        facts(saturation_of(native)), facts(saturation_of(shuffled)), rtol=1e-12
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(tables)
def test_every_pair_is_detectable_constant_or_has_too_few_items(native: FloatArray) -> None:
    result = saturation_of(native, level=0.5)
    constant = 0
    there = ~np.isnan(native)
    needed = items_needed(int(np.sum(np.triu(there.T.astype(int) @ there, k=1) > 0)), 0.5)
    for i in range(native.shape[1]):
        for j in range(i):
            gap = native[:, i] - native[:, j]
            gap = gap[~np.isnan(gap)]
            alike = gap.size > 0 and len(set(gap)) == 1
            constant += alike
            assert np.isnan(result.detectable[i, j]) == (alike or gap.size < needed)
            if not np.isnan(result.detectable[i, j]):
                assert result.detectable[i, j] > 0
    assert result.n_constant_pairs == constant
