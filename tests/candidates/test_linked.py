"""Models that did not answer the same items: each answer is in one pool, with all of its item."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tiebreak.candidates import CandidateError, load_by_models, load_candidates
from tiebreak.candidates.align import align_by_models
from tiebreak.candidates.pool import Candidate, Item, ItemKey
from tiebreak.candidates.records import LogRecord, Reading, Row


def write(folder: Path, items: Mapping[str, list[int]], **more: Any) -> Path:
    for model, own in items.items():
        rows = [{**make_rows(20)[i], **more} for i in own]
        write_inspect_log(folder / f"{model}.eval", model, rows)
    return folder


def test_anchors_and_samples_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, {"a": [0, 1, 2, 3], "b": [0, 1, 4], "c": [0, 5]})
    pools = load_by_models([tmp_path])
    assert {pool.models: [item.item_id for item in pool.items] for pool in pools} == {
        ("a", "b", "c"): ["q0"],
        ("a", "b"): ["q1"],
        ("a",): ["q2", "q3"],
        ("b",): ["q4"],
        ("c",): ["q5"],
    }
    assert not any(pool.notes for pool in pools)


def test_the_same_items_are_one_pool(tmp_path: Path) -> None:
    write(tmp_path, {"a": [0, 1], "b": [0, 1]})
    [pool] = load_by_models([tmp_path])
    assert pool == load_candidates([tmp_path])


def test_both_harnesses(tmp_path: Path) -> None:
    write(tmp_path, {"a": [0, 1]})
    write_lm_eval_run(tmp_path / "lm", "b", make_rows(1))
    assert [pool.models for pool in load_by_models([tmp_path])] == [("a", "b"), ("a",)]


@pytest.mark.parametrize(
    ("logs", "kind"),
    [
        ([("a", "a", {}), ("again", "a", {})], "duplicate_model"),
        ([("a", "a", {}), ("b", "b", {"question": "Something else?"})], "question_conflict"),
    ],
)
def test_what_cannot_be_linked(
    logs: list[tuple[str, str, dict[str, Any]]], kind: str, tmp_path: Path
) -> None:
    for name, model, more in logs:
        write_inspect_log(tmp_path / f"{name}.eval", model, [{**make_rows(1)[0], **more}])
    with pytest.raises(CandidateError) as caught:
        load_by_models([tmp_path])
    assert caught.value.kind == kind


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(CandidateError) as caught:
        load_by_models([tmp_path])
    assert caught.value.kind == "empty_folder"


ANSWERS = st.dictionaries(
    st.sampled_from("abcd"), st.sets(st.integers(0, 6), min_size=1), min_size=1
)


@pytest.mark.slow
@given(ANSWERS)
def test_no_answer_is_lost_and_every_pool_keeps_its_promise(answers: dict[str, set[int]]) -> None:
    records = tuple(
        LogRecord(
            model,
            "inspect",
            "t",
            "t",
            model,
            tuple(
                Row(Item(key, f"{i}", f"Q{i}", "k"), Candidate(key, model, "x", source=model))
                for i in sorted(own)
                for key in [ItemKey("t", f"q{i}")]
            ),
        )
        for model, own in answers.items()
    )
    pools = align_by_models(Reading(records))
    for pool in pools:
        for _, row in pool:
            assert tuple(row) == pool.models
    found = [(model, item.prompt) for pool in pools for item, row in pool for model in row]
    assert sorted(found) == sorted((model, f"Q{i}") for model, own in answers.items() for i in own)
    assert len({pool.models for pool in pools}) == len(pools)
