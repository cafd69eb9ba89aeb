import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.diagnosis import Diagnosis, diagnose
from tiebreak.candidates import Candidate, CandidatePool, Item, ItemKey, Note, normalise_answer
from tiebreak.rankers.errors import RankingError
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
    models = [f"m{n}" for n in range(len(accuracies))]
    passed = generator.random((n_items, len(models))) < accuracies
    return pool_of(
        {
            ItemKey("gsm8k", str(n)): {
                model: (f"answer of {model}", float(one))
                for model, one in zip(models, row, strict=True)
            }
            for n, row in enumerate(passed)
        }
    )


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
    assert found[1].separation.pairs == ()
    text = printed(*found)
    assert text.count("Native") == 2  # "own" has no leaderboard
    assert "Items that lack a native score: 3 of 3 (100%)" in text
    assert "solo · 1 model · 3 items" in text


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


def test_an_infinite_native_score_is_an_error() -> None:
    rows = {ItemKey("b", "1"): {"a": ("x", math.inf), "b": ("y", 1.0)}}
    with pytest.raises(RankingError):
        diagnose(pool_of(rows))


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


def test_one_model_has_no_pair_and_no_items_of_one() -> None:
    [found] = diagnose(pool_of({ItemKey("gsm8k", "1"): {"a": ("x", 1.0)}}))
    evidence = found.evidence
    assert (evidence.n_items, evidence.n_pairs, evidence.n_apart, evidence.top) == (0, 0, 0, 1)
    assert math.isnan(evidence.largest)
    assert found.verdict.kind == "one_model"
