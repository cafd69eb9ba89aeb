import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiebreak.candidates import (
    Candidate,
    CandidateError,
    CandidatePool,
    Item,
    ItemKey,
    Note,
    read_parquet,
    write_parquet,
)

REQUIRED_TEXTS = (
    *("benchmark", "item_id", "input_hash", "prompt", "target", "choices", "tools", "metadata"),
    *("model", "text", "tool_calls", "source"),
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


@pytest.mark.slow
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
    with pytest.raises(CandidateError, match=r"pool\.parquet"):
        read_parquet(path)


def test_other_parquet_is_an_error(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)
    with pytest.raises(CandidateError, match="not a pool written by Tiebreak"):
        read_parquet(path)


def test_damaged_data_pages_are_an_error(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(bytes(content))
    with pytest.raises(CandidateError, match="damaged"):
        read_parquet(path)


def test_a_writing_that_breaks_leaves_the_earlier_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    before = path.read_bytes()

    def broken(table: pa.Table, where: Path, **_: Any) -> None:
        Path(where).write_bytes(b"PAR1 half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", broken)
    with pytest.raises(OSError, match="No space left"):
        write_parquet(replace(one_item(), notes=(Note("x", "y", "z"),)), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    target = write_parquet(one_item(), tmp_path / "there" / "pool.parquet")
    link = tmp_path / "link.parquet"
    link.symlink_to(target)
    noted = replace(one_item(), notes=(Note("x", "y", "z"),))
    write_parquet(noted, link)
    assert link.is_symlink()
    assert read_parquet(target).notes == noted.notes


def rewritten(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path)
    return path


def test_columns_and_metadata_of_a_later_writer_are_ignored(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    table = pq.read_table(path)
    metadata = (table.schema.metadata or {}) | {b"tiebreak_later": b"x"}
    later = table.append_column("later", pa.array([["a"]])).replace_schema_metadata(metadata)
    assert comparable(read_parquet(rewritten(path, later))) == comparable(one_item())


def test_columns_that_may_be_absent(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    optional = [field.name for field in pq.read_schema(path) if field.nullable]
    assert "native_score" in optional
    bare = pq.read_table(path).drop_columns(optional)
    assert comparable(read_parquet(rewritten(path, bare))) == comparable(one_item())
    with pytest.raises(CandidateError, match=r"pool\.parquet: lacks the column 'prompt'"):
        read_parquet(rewritten(path, bare.drop_columns(["prompt"])))


@pytest.mark.parametrize("version", ["2", "10"])
def test_a_pool_of_a_newer_version_is_refused(tmp_path: Path, version: str) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    table = pq.read_table(path)
    newer = table.replace_schema_metadata(table.schema.metadata | {b"tiebreak_pool": version})
    words = rf"a newer Tiebreak \(pool version {version}; this one reads 1\): upgrade"
    with pytest.raises(CandidateError, match=words):
        read_parquet(rewritten(path, newer))


def test_pools_of_the_first_release_stay_readable() -> None:
    key = ItemKey("gsm8k", "q", 2)
    item = Item(key, "h", "What is 1 + 1?", "2", ("1", "2"), ({"name": "add"},), {"level": 1})
    call = {"function": "add", "arguments": {"x": 1}}
    answers = {
        "a": Candidate(key, "a", "two", (call,), 1.0, "match", "stop", 7, 9, "a.eval"),
        "b": Candidate(key, "b", ""),
    }
    pool = CandidatePool((item,), {key: answers}, (Note("epochs", "a.eval", "2 epochs"),))
    kept = Path(__file__).with_name("pool-0.1.0.parquet")
    assert comparable(read_parquet(kept)) == comparable(pool)


def test_what_earlier_readers_rely_on_is_written(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    schema = pq.read_schema(path)
    assert schema.metadata == {b"tiebreak_pool": b"1", b"tiebreak_notes": b"[]"}
    assert {field.name: (str(field.type), field.nullable) for field in schema} == {
        **dict.fromkeys(REQUIRED_TEXTS, ("large_string", False)),
        "epoch": ("int64", False),
        "native_score": ("double", True),
        "native_metric": ("large_string", True),
        "stop_reason": ("large_string", True),
        "input_tokens": ("int64", True),
        "output_tokens": ("int64", True),
    }
