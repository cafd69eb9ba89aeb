"""Models that did not answer the same items: each answer is in one pool, with all of its item."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.candidates.builders import make_rows, write_inspect_log
from tiebreak.candidates import load_by_models, load_candidates
from tiebreak.candidates.align import align_by_models
from tiebreak.candidates.pool import Candidate, Item, ItemKey
from tiebreak.candidates.records import LogRecord, Reading, Row


def test_the_same_items_are_one_pool(tmp_path: Path) -> None:
    for model in "ab":
        write_inspect_log(tmp_path, model, make_rows(2))
    [pool] = load_by_models([tmp_path])
    assert pool == load_candidates([tmp_path])


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
