import math
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.expected import check
from tiebreak.candidates import (
    Candidate,
    CandidateError,
    CandidatePool,
    Item,
    ItemKey,
    Note,
    load_candidates,
    parquet,
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
scores = st.just(math.nan) | st.floats(allow_nan=False, allow_infinity=False)


ITEMS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        **dict.fromkeys(("input_hash", "prompt", "target"), texts),
        "choices": st.lists(texts, max_size=2).map(tuple),
        "tools": st.lists(objects, max_size=2).map(tuple),
        "metadata": objects,
    }
)
CANDIDATES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        **dict.fromkeys(("text", "source"), texts),
        **dict.fromkeys(("native_metric", "stop_reason"), st.none() | names),
        **dict.fromkeys(("input_tokens", "output_tokens"), counts),
        "tool_calls": st.lists(objects, max_size=2).map(tuple),
        "native_score": scores,
    }
)


@st.composite
def pools(draw: st.DrawFn) -> CandidatePool:
    some_keys = st.lists(
        st.builds(ItemKey, names, names, st.integers(1, 3)), unique=True, max_size=4
    )
    keys = draw(some_keys)
    models = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    items = tuple(Item(key=key, **draw(ITEMS)) for key in keys)
    candidates = {
        key: {model: Candidate(key=key, model=model, **draw(CANDIDATES)) for model in models}
        for key in keys
    }
    notes = tuple(draw(st.lists(st.builds(Note, names, texts, texts), max_size=2)))
    return CandidatePool(items, candidates, notes)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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


def test_what_cannot_be_written(tmp_path: Path) -> None:
    key = ItemKey("gsm8k", "q")
    infinite = {"m": Candidate(key, "m", "text", native_score=-math.inf)}
    for answers, words in (({}, "no candidate"), (infinite, "an infinite score")):
        pool = CandidatePool(one_item().items, {key: answers})
        with pytest.raises(ValueError, match=f"item 'q' of gsm8k has {words}"):
            write_parquet(pool, tmp_path / "pool.parquet")


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
    assert schema.metadata == {
        b"tiebreak_pool": b"2",
        b"tiebreak_notes": b"[]",
        b"tiebreak_settings": b"[]",
    }
    fields = (f"{field.name}: {field.type}{' or null' * field.nullable}\n" for field in schema)
    check(__file__, "pool_columns.txt", "".join(fields))


def put(name: str, *values: Any) -> Callable[[pa.Table], pa.Table]:
    """Change of a pool's table: another column of that name."""

    def changed(table: pa.Table) -> pa.Table:
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    return changed


def noted(key: str, value: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.replace_schema_metadata(
        table.schema.metadata | {key.encode(): value}
    )


def another_model(*, question: str) -> Callable[[pa.Table], pa.Table]:
    """A second row of the same item, by another model."""

    def changed(table: pa.Table) -> pa.Table:
        other = put("input_hash", question)(put("model", "n")(table))
        return pa.concat_tables([table, other.cast(table.schema)])

    return changed


def too_many_tokens(table: pa.Table) -> pa.Table:
    at = table.column_names.index("input_tokens")
    return table.set_column(at, "input_tokens", pa.array([2**63], pa.uint64()))


DAMAGED: dict[str, Callable[[pa.Table], pa.Table]] = {
    **{name: put(*cell) for name, cell in cases(__file__, "cells").items()},
    **{name: noted(*entry) for name, entry in cases(__file__, "metadata").items()},
    "no pool": lambda table: table.replace_schema_metadata({}),
    "no prompt": lambda table: table.drop_columns(["prompt"]),
    "a row twice": lambda table: pa.concat_tables([table, table]),
    "one id, two questions": another_model(question="other"),
    "a column twice": lambda table: table.append_column("prompt", table["prompt"]),
    "large count": too_many_tokens,
    "deep JSON": put("metadata", '{"a":' * 5_000),
    "deep notes": noted("tiebreak_notes", "[" * 5_000),
}


def test_what_no_pool_holds_is_an_error_with_its_reason(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    table = pq.read_table(path)
    texts = []
    for name, change in DAMAGED.items():
        rewritten(path, change(table))
        with pytest.raises(CandidateError) as caught:
            read_parquet(path)
        [note] = caught.value.notes
        texts.append(f"{name}: {note.what}\n")
        with pytest.raises(CandidateError, match=r"pool\.parquet"):
            load_candidates(path, alone=True)
    # What other libraries say is theirs.
    text = re.sub(r"\((EOF|recursion|Integer) .*\)", "(…)", "".join(texts))
    check(__file__, "damaged_pools.txt", text)


def test_other_writers_may_choose_other_types_of_text(tmp_path: Path) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    table = pq.read_table(path)
    for kind in (pa.string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        fields = [
            field.with_type(kind) if field.type == pa.large_string() else field
            for field in table.schema
        ]
        other = table.cast(pa.schema(fields, table.schema.metadata))
        assert comparable(read_parquet(rewritten(path, other))) == comparable(one_item())
    numbers = put("epoch", 1)(put("native_score", 1)(table))
    [answer] = read_parquet(rewritten(path, numbers)).candidates[ItemKey("gsm8k", "q")].values()
    assert answer.native_score == 1.0


def test_a_pool_without_rows_is_no_source(tmp_path: Path) -> None:
    path = write_parquet(CandidatePool((), {}), tmp_path / "pool.parquet")
    assert len(read_parquet(path)) == 0
    with pytest.raises(CandidateError, match=r"pool\.parquet: holds no rows"):
        load_candidates(path)


def test_what_would_fill_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(one_item(), tmp_path / "pool.parquet")
    monkeypatch.setattr(parquet, "_ALWAYS_READ", 1_000)
    rewritten(path, pq.read_table(path).take([0] * 100_000))
    with pytest.raises(CandidateError, match="its rows would take 15 MB"):
        read_parquet(path)


@pytest.mark.parametrize(
    ("megabytes", "words"), [(60, "not a pool"), (70, "its list of columns takes 70 MB")]
)
def test_a_million_columns_are_not_looked_at(tmp_path: Path, megabytes: int, words: str) -> None:
    path = tmp_path / "wide.parquet"
    with path.open("wb") as file:
        file.truncate(size := megabytes * 2**20)  # a hole takes no place on the disk
        file.seek(0, os.SEEK_END)
        file.write(size.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(CandidateError, match=words):
        read_parquet(path)
