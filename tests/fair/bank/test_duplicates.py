"""Duplicates: signatures against datasketch, candidates against brute force, verdicts against a
planted set of rewordings and of other questions with the same stem."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.fair.bank.duplicates import (
    PERMUTATIONS,
    SEED,
    alike,
    digest_of,
    near_candidates,
    normal,
    normal_parts,
    shingle_hash,
    shingles,
    signatures,
)
from tiebreak.fair.bank.question import BankQuestion
from tiebreak.fair.bank.rows import signatures_from

PLANTED = Path(__file__).with_name("near_duplicates.json")


def made(case: dict[str, Any], uuid: str, text: str, key: str) -> BankQuestion:
    return BankQuestion(
        uuid=uuid,
        raw_uuid=uuid,
        category="x",
        type=case["type"],
        question=text,
        answer=key,
        options=tuple(case.get("options", ())),
    )


def planted(part: str) -> Iterator[tuple[BankQuestion, list[BankQuestion], list[BankQuestion]]]:
    """A question with its rewordings, and with others of the same stem."""
    cases = json.loads(PLANTED.read_text(encoding="utf-8"))
    for n, case in enumerate(cases):
        if case["set"] == part:
            one = made(case, f"{n}", case["question"], case["answer"])
            same = [
                made(case, f"{n}s{k}", text, case["answer"]) for k, text in enumerate(case["same"])
            ]
            other = [made(case, f"{n}o{k}", *both) for k, both in enumerate(case["other"])]
            yield one, same, other


@pytest.mark.parametrize(("part", "found", "wrong"), [("choose", 23, 2), ("check", 21, 4)])
def test_how_often_a_verdict_is_right(part: str, found: int, wrong: int) -> None:
    cases = list(planted(part))
    assert sum(len(same) for _, same, _ in cases) == 24
    assert sum(alike(one, twin) for one, same, _ in cases for twin in same) >= found
    mistaken = [twin for one, _, other in cases for twin in other if alike(one, twin)]
    assert len(mistaken) <= wrong
    assert {twin.type for twin in mistaken} <= {"true_false"}


def test_candidates_are_those_of_brute_force() -> None:
    questions = [
        twin
        for part in ("choose", "check")
        for one, same, _ in planted(part)
        for twin in (one, *same)
    ]
    close = {
        (k, n)
        for (k, one), (n, other) in combinations(enumerate(questions), 2)
        if alike(one, other)
    }
    signed = signatures([normal_parts(question) for question in questions])
    candidates = set(near_candidates(signed, np.arange(len(questions))))
    assert len(close & candidates) >= 0.97 * len(close)
    assert len(candidates) < 3 * len(close)


def test_siblings_are_no_pair() -> None:
    [(one, same, _), *_] = planted("choose")
    signed = signatures([normal_parts(question) for question in (one, *same)])
    assert near_candidates(signed, np.zeros(3, dtype=np.int64)) == []
    assert near_candidates(signed, np.arange(3), first_new=3) == []


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_signatures_are_those_of_datasketch(texts: list[str]) -> None:
    questions = [
        BankQuestion(uuid="u", raw_uuid="u", category="x", type="term", question=text, answer="y")
        for text in texts
    ]
    signed = signatures([normal_parts(question) for question in questions])
    for one, row in zip(questions, signed, strict=True):
        codes = [np.array([[ord(char)] for char in text], np.uint32) for text in shingles(one)]
        hashes = [int(shingle_hash(*three)[0]) for three in codes]
        oracle = MinHash(PERMUTATIONS, seed=SEED, scheme="affine32", hashfunc=lambda value: value)
        oracle.update_batch(hashes)
        assert row.tolist() == oracle.hashvalues.tolist()


def test_signatures_are_those_that_banks_hold() -> None:
    [signed] = signatures([("whichfiltersblood",)])
    assert (len(signed), signed[0], signed[-1]) == (64, 759464736, 518458116)


def test_signatures_of_rows_are_taken_as_they_are_held() -> None:
    row: Any = SimpleNamespace(signature=np.arange(PERMUTATIONS, dtype="<u4").tobytes())
    assert signatures_from([row, row]).tolist() == [[*range(PERMUTATIONS)]] * 2


@pytest.mark.parametrize(("one", "other"), cases(__file__, "the same text"))
def test_the_same_text(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(("one", "other"), [("a+b", "a-b"), ("3.5", "35"), ("不对", "对")])
def test_not_the_same_text(one: str, other: str) -> None:
    assert normal(one) != normal(other)


def test_the_order_of_options_does_not_matter() -> None:
    case = {"type": "multiple_choice", "options": ["kidney", "lung"]}
    one = made(case, "a", "Which filters blood?", "A")
    other = made({**case, "options": ["lung", "kidney"]}, "b", "Which filters blood?", "B")
    assert digest_of(normal_parts(one)) == digest_of(normal_parts(other))
    assert alike(one, other)
