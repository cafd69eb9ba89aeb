import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiebreak.candidates import (
    Candidate,
    CandidatePool,
    Item,
    ItemKey,
    Note,
    UnreadablePoolError,
    read_parquet,
    write_parquet,
)

# Lone surrogates are no text; readers replace them.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, json_values, max_size=3)
counts = st.none() | st.integers(0, 2**40)
scores = st.just(math.nan) | st.floats(allow_nan=False)


@st.composite
def pools(draw: st.DrawFn) -> CandidatePool:
    keys = draw(
        st.lists(st.builds(ItemKey, names, names, st.integers(1, 3)), unique=True, max_size=4)
    )
    models = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    items = tuple(
        Item(
            key=key,
            input_hash=draw(texts),
            prompt=draw(texts),
            target=draw(texts),
            choices=tuple(draw(st.lists(texts, max_size=2))),
            tools=tuple(draw(st.lists(objects, max_size=2))),
            metadata=draw(objects),
        )
        for key in keys
    )
    candidates = {
        key: {
            model: Candidate(
                key=key,
                model=model,
                text=draw(texts),
                tool_calls=tuple(draw(st.lists(objects, max_size=2))),
                native_score=draw(scores),
                native_metric=draw(st.none() | names),
                stop_reason=draw(st.none() | names),
                input_tokens=draw(counts),
                output_tokens=draw(counts),
                source=draw(texts),
            )
            for model in models
        }
        for key in keys
    }
    notes = tuple(draw(st.lists(st.builds(Note, names, texts, texts), max_size=2)))
    return CandidatePool(items, candidates, notes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(pool=pools())
def test_what_is_written_is_read_back(pool: CandidatePool, tmp_path: Path) -> None:
    path = write_parquet(pool, tmp_path / "new" / "pool.parquet")
    assert comparable(read_parquet(path)) == comparable(pool)


def comparable(pool: CandidatePool) -> Any:
    """A pool as something that equals its copy: an undefined score (NaN) does not equal itself."""
    return (
        pool.items,
        pool.notes,
        {
            key: {
                model: (str(candidate.native_score), replace(candidate, native_score=0.0))
                for model, candidate in row.items()
            }
            for key, row in pool.candidates.items()
        },
    )


def one_item() -> CandidatePool:
    key = ItemKey("gsm8k", "q")
    candidate = Candidate(key, "m", "text")
    return CandidatePool((Item(key, "h", "p", "t"),), {key: {"m": candidate}})


def test_an_undefined_score_is_null_for_other_readers(tmp_path: Path) -> None:
    table = pq.read_table(write_parquet(one_item(), tmp_path / "pool.parquet"))
    assert table["native_score"].null_count == 1
    assert table.num_rows == 1


def test_an_item_without_candidates_cannot_be_written(tmp_path: Path) -> None:
    pool = CandidatePool(one_item().items, {ItemKey("gsm8k", "q"): {}})
    with pytest.raises(ValueError, match="item 'q' of gsm8k has no candidate"):
        write_parquet(pool, tmp_path / "pool.parquet")


def test_a_cut_pool_is_an_error(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UnreadablePoolError, match=r"pool\.parquet"):
        read_parquet(path)


def test_other_parquet_is_an_error(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)
    with pytest.raises(UnreadablePoolError, match="no pool written by Tiebreak"):
        read_parquet(path)


def test_damaged_data_pages_are_an_error(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(bytes(content))
    with pytest.raises(UnreadablePoolError, match="damaged"):
        read_parquet(path)
