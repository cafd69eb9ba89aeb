import random
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.sampling import (
    Entry,
    OriginalQuestions,
    Share,
    _Frame,
    allocate,
    draw,
    linked,
)


def bank_of(**sizes: tuple[int, int]) -> tuple[Entry, ...]:
    """Categories of (originals, siblings of each): "true" is right for the first sibling only."""
    return tuple(
        Entry(
            f"{category}{raw}-{sibling}",
            f"{category}{raw}",
            category,
            "true_false" if n_siblings > 1 else "fill_in",
            ("false" if sibling else "true") if n_siblings > 1 else "x",
        )
        for category, (n_raws, n_siblings) in sizes.items()
        for raw in range(n_raws)
        for sibling in range(n_siblings)
    )


KINDS = [("true_false", "true"), ("true_false", "false"), ("multiple_choice", "B")]


def numbered(rows: list[tuple[str, int, tuple[str, str]]]) -> tuple[Entry, ...]:
    return tuple(
        Entry(f"{n}", f"{category}{raw}", category, *kind)
        for n, (category, raw, kind) in enumerate(rows)
    )


rows = st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.sampled_from(KINDS))
banks = st.lists(rows, min_size=1, max_size=40).map(numbered)


@pytest.mark.slow
@given(
    banks, st.data(), st.booleans(), st.sampled_from(["equal", "proportional"]), st.integers(0, 9)
)
def test_what_every_draw_keeps(
    bank: tuple[Entry, ...], data: st.DataObject, balanced: bool, share: Share, seed: int
) -> None:
    by_uuid = {entry.uuid: entry for entry in bank}
    seen = data.draw(st.sets(st.sampled_from(sorted(by_uuid))))
    left = {entry.raw_uuid for entry in bank if entry.uuid not in seen}
    touched = {by_uuid[uuid].raw_uuid for uuid in seen}
    k = data.draw(st.integers(1, len(bank) + 1))
    if len(left) < k:
        with pytest.raises(BankError, match=rf"a sample of {k} .* the bank has {len(left)} of"):
            draw(bank, k, str(seed), seen=seen, balanced=balanced, share=share)
        return
    asked = draw(bank, k, str(seed), seen=seen, balanced=balanced, share=share)
    raws = [by_uuid[uuid].raw_uuid for uuid in asked]
    assert len(asked) == k == len(set(raws))
    assert not seen & set(asked)
    # A sibling of what was seen is asked only when nothing else is left in the whole bank.
    assert len(set(raws) - touched) == min(k, len(left - touched))
    shuffled = list(bank)
    random.Random(seed).shuffle(shuffled)
    assert draw(shuffled, k, str(seed), seen=seen, balanced=balanced, share=share) == asked
    plain = draw(bank, k, str(seed), seen=seen, share=share)
    for category in "abc":
        of = [by_uuid[uuid] for uuid in asked if by_uuid[uuid].category == category]
        before = [by_uuid[uuid] for uuid in plain if by_uuid[uuid].category == category]
        assert len(of) == len(before)
        if balanced and k < len(left - touched):
            assert_balanced(of, [e for e in bank if e.category == category], touched)


def assert_balanced(of: list[Entry], category: list[Entry], touched: set[str]) -> None:
    """Equally many of both keys, or nothing that has more of the lacking one can come in."""
    n = Counter(entry.answer for entry in of if entry.type == "true_false")
    if abs(n["true"] - n["false"]) <= 1:
        return
    lacking, excess = sorted(("true", "false"), key=lambda key: n[key])
    able = {e.raw_uuid for e in category if e.answer == lacking} - touched
    drawn = {entry.raw_uuid: entry.answer for entry in of}
    assert all(drawn.get(raw) not in (None, excess) for raw in able)


@pytest.mark.slow
@given(banks, st.data(), st.integers(0, 9))
def test_originals_are_sampled_as_from_a_list_of_the_fresh_ones(
    bank: tuple[Entry, ...], data: st.DataObject, seed: int
) -> None:
    by_uuid = {entry.uuid: entry for entry in bank}
    seen = data.draw(st.sets(st.sampled_from(sorted(by_uuid))))
    touched = {by_uuid[uuid].raw_uuid for uuid in seen}
    frame = _Frame(OriginalQuestions(bank), seen)
    for category in "abc":
        first_of = {entry.raw_uuid: entry for entry in sorted(bank, key=uuid_of, reverse=True)}
        raws = {entry.raw_uuid for entry in first_of.values() if entry.category == category}
        if not raws:
            continue
        fresh = sorted(raws - touched, key=lambda raw: first_of[raw].uuid)
        assert [*frame.fresh(category)] == fresh
        for n in range(len(fresh) + 1):
            plain = random.Random(seed).sample(fresh, n)
            assert frame.sample(category, n, random.Random(seed)) == plain


def uuid_of(entry: Entry) -> str:
    return entry.uuid


def allocations(k: int, high: list[int]) -> Iterator[tuple[int, ...]]:
    return (n for n in product(*(range(h + 1) for h in high)) if sum(n) == k)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=4),
    st.integers(0, 9),
)
def test_shares_are_the_nearest_that_the_bank_allows(
    categories: list[tuple[int, int]], seed: int
) -> None:
    names = "abcd"[: len(categories)]
    weights = {name: weight for name, (weight, _) in zip(names, categories, strict=True)}
    high = {name: h for name, (_, h) in zip(names, categories, strict=True)}
    for k in range(sum(high.values()) + 1):
        got = allocate(k, weights, dict.fromkeys(names, 0), high, random.Random(seed))
        cost = sum(got[name] ** 2 / weights[name] for name in names)
        assert sum(got.values()) == k
        assert cost == pytest.approx(
            min(
                sum(n**2 / weights[name] for name, n in zip(names, each, strict=True))
                for each in allocations(k, list(high.values()))
            )
        )


def test_categories_have_equal_shares_or_those_of_the_bank() -> None:
    bank = bank_of(law=(600, 1), art=(300, 1), war=(100, 1), tax=(8, 1))

    def per_category(share: Share) -> Counter[str]:
        return Counter(uuid[:3] for uuid in draw(bank, 101, "s", share=share))

    assert per_category("equal") == {"law": 31, "art": 31, "war": 31, "tax": 8}
    assert per_category("proportional") == {"law": 60, "art": 30, "war": 10, "tax": 1}


@pytest.mark.slow
@pytest.mark.parametrize(("share", "k", "of_a"), [("equal", 6, 3), ("proportional", 7, 5)])
def test_all_of_a_category_are_equally_likely_and_so_are_places_and_siblings(
    share: Share, k: int, of_a: int
) -> None:
    bank = bank_of(a=(6, 2), b=(3, 1))
    runs = 3000
    draws = [draw(bank, k, f"seed {run}", share=share) for run in range(runs)]
    drawn = Counter(uuid for asked in draws for uuid in asked)
    raws_of_a = Counter(uuid.split("-")[0] for a in draws for uuid in a if uuid[0] == "a")
    assert sum(raws_of_a.values()) == of_a * runs
    assert chisquare([raws_of_a[f"a{raw}"] for raw in range(6)]).pvalue > 1e-4
    assert chisquare([drawn[f"a{raw}-{s}"] for raw in range(6) for s in (0, 1)]).pvalue > 1e-4
    assert (
        chisquare(
            [Counter(a.index("b0-0") for a in draws if "b0-0" in a)[place] for place in range(k)]
        ).pvalue
        > 1e-4
    )


def test_true_is_right_as_often_as_false_over_the_whole_sample() -> None:
    # One true and three false statements of each original; odd numbers in every category.
    bank = bank_of(**dict.fromkeys("abcdefg", (40, 4)))
    keys = {entry.uuid: entry.answer for entry in bank}
    counts = {
        balanced: [
            Counter(keys[uuid] for uuid in draw(bank, 105, str(seed), balanced=balanced))
            for seed in range(20)
        ]
        for balanced in (False, True)
    }
    assert {abs(n["true"] - n["false"]) for n in counts[True]} == {1}
    plain = sum(n["false"] for n in counts[False]) / (20 * 105)
    assert plain == pytest.approx(0.75, abs=0.03)


def test_a_bank_without_enough_true_statements_is_balanced_as_far_as_it_goes() -> None:
    bank = tuple(
        Entry(f"q{n}", f"q{n}", "a", "true_false", "true" if n < 10 else "false") for n in range(90)
    )
    keys = {entry.uuid: entry.answer for entry in bank}
    for k, n_true in ((8, 4), (20, 10), (40, 10)):
        asked = draw(bank, k, "s", balanced=True)
        assert Counter(keys[uuid] for uuid in asked)["true"] == n_true


def test_sessions_share_their_anchors_and_nothing_else_by_design() -> None:
    bank = bank_of(a=(300, 3), b=(300, 3))
    raw_of = {entry.uuid: entry.raw_uuid for entry in bank}
    samples = [linked(bank, 50, "study", f"model {n}", anchors=0.3) for n in range(8)]
    common = set.intersection(*map(set, samples))
    assert all(len({raw_of[uuid] for uuid in asked}) == 50 for asked in samples)
    assert len(common) == 15
    assert Counter(uuid[0] for uuid in common) in ({"a": 8, "b": 7}, {"a": 7, "b": 8})
    places = Counter(place for asked in samples for place in range(50) if asked[place] in common)
    assert max(places.values()) < 8
    assert linked(bank, 50, "study", "model 0", anchors=0.3) == samples[0]
    # What is not an anchor of the study is fresh: overlaps are those of chance.
    own = [set(asked) - common for asked in samples]
    overlaps = [len(one & other) for one in own for other in own if one is not other]
    assert sum(overlaps) / len(overlaps) == pytest.approx(35 * 35 / 585 / 3, abs=0.4)


@pytest.mark.parametrize("anchors", [0.0, 1.0])
def test_no_anchors_and_only_anchors(anchors: float) -> None:
    bank = bank_of(a=(30, 1))
    one, other = (set(linked(bank, 10, "s", name, anchors=anchors)) for name in ("x", "y"))
    assert (one == other) == (anchors == 1)


@pytest.mark.parametrize(
    ("k", "anchors", "message"),
    [
        (10, 1.5, "anchors is a share of the sample, 0 to 1, not 1.5"),
        (31, 0.2, "a sample of 31 .* the bank has 30 of 30"),
    ],
)
def test_what_cannot_be_linked(k: int, anchors: float, message: str) -> None:
    with pytest.raises(BankError, match=message):
        linked(bank_of(a=(30, 1)), k, "s", "x", anchors=anchors)


def test_a_sample_has_questions() -> None:
    with pytest.raises(BankError, match="at least one question, not 0"):
        draw(bank_of(a=(3, 1)), 0, "s")


@pytest.mark.slow
def test_a_bank_of_220_000_is_drawn_from_within_a_second() -> None:
    bank = bank_of(**dict.fromkeys("abcdefghijk", (5000, 4)))
    seen = frozenset(entry.uuid for entry in bank[::7])
    start = time.process_time()
    assert len(draw(bank, 1000, "s", seen=seen, balanced=True)) == 1000
    assert time.process_time() - start < 2
