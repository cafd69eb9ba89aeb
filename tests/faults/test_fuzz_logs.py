"""Damaged logs and pools, given to every reader: each is read rightly, or named in a sentence."""

import io
import json
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tests.faults.record import Tried, amount, record
from tests.faults.spoiling import VALUES, spoiled_bytes, spoiled_json, written
from tests.ranking_logs.builders import all_pairs, bracket, graded, listed, starred, write_log
from tiebreak.candidates import (
    CandidateError,
    CandidatePool,
    Mode,
    audit,
    hub,
    load_candidates,
    read_parquet,
    write_parquet,
)
from tiebreak.ranking_logs import RankingLogError, read_ranking_logs
from tiebreak.report.sheets import audit as audit_sheets

N = amount(15, 3_000)
SLOWEST = 10.0
"""Seconds of CPU time for one input; most take a hundredth of one."""

MODES: tuple[Mode, ...] = ("strict", "intersect")
ROWS = [
    make_rows(1)[0] | {"tools": [{"name": "f", "parameters": {"type": "dict", "properties": {}}}]},
    make_rows(2)[1] | {"choices": ["a", "b"], "metadata": {"a": [1, {"b": 2}]}},
    {"id": "q2", "question": "f?", "tool_calls": [{"function": "f", "arguments": {"x": 1}}]}
    | {"native": 0.5},
    {"id": "q3", "question": "“ünï” 🦆", "system": "Be nice.", "answer": "🦆", "native": 0.0},
]
IDS = [row["id"] for row in ROWS]
FROM_INSPECT = "2026-01-01T00-00-00+00-00_c"
"""A name that Inspect gives: no damage makes such a file one of another program."""

Damage = Callable[[Random, bytes], bytes]


@dataclass
class Tally:
    """What came of the inputs so far."""

    tried: int = 0
    survived: int = 0
    lost: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def take(self, read: Callable[[], str]) -> None:
        """One more input: `read` says what was lost without a word, "" for nothing."""
        self.tried += 1
        start = time.process_time()
        try:
            lost = read()
        except (CandidateError, RankingLogError) as error:
            str(error).encode()  # what cannot be printed is no sentence
            lost = ""
        except Exception as error:
            self.wrong[repr(error)[:300]] += 1
            return
        if (seconds := time.process_time() - start) > SLOWEST:
            self.wrong[f"{seconds:.0f} s"] += 1
        elif lost:
            self.lost += 1
            self.wrong[lost] += 1
        else:
            self.survived += 1


def fuzz(
    request: pytest.FixtureRequest,
    what: str,
    damage: Callable[[Random], object],
    read: Callable[[Random], str],
) -> None:
    """Damage and read `N` times; `what` was damaged stands in the table of faults."""
    tally = Tally()

    @settings(
        max_examples=N, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.randoms(use_true_random=True))
    def run(rng: Random) -> None:
        damage(rng)
        tally.take(lambda: read(rng))

    run()
    record(request, Tried(f"corrupt {what}", tally.tried, tally.survived, tally.lost))
    assert tally.wrong == {}
    assert tally.tried >= N


def as_jsonl(rng: Random, data: bytes) -> bytes:
    if rng.random() < 0.3:
        return spoiled_bytes(data, rng)
    lines = data.decode().splitlines()
    at = rng.randrange(len(lines))
    changes: tuple[Callable[[], list[str]], ...] = (
        lambda: [*lines, lines[at]],
        lambda: lines[:at] + lines[at + 1 :],
        *[lambda: [*lines[:at], spoiled_json(lines[at], rng), *lines[at + 1 :]]] * 6,
    )
    return "".join(f"{line}\n" for line in rng.choice(changes)()).encode()


def as_json(rng: Random, data: bytes) -> bytes:
    return spoiled_bytes(data, rng) if rng.random() < 0.3 else spoiled_json(data, rng).encode()


def as_zip(rng: Random, data: bytes) -> bytes:
    if rng.random() < 0.3:
        return spoiled_bytes(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as log, zipfile.ZipFile(out, "w") as other:
        members = [(name, log.read(name)) for name in log.namelist()]
        at = rng.randrange(len(members))
        name, text = members[at]
        changes: tuple[Callable[[], list[tuple[str, bytes]]], ...] = (
            lambda: [],
            lambda: [(name + rng.choice(("x", "/", "\0")), text)],
            lambda: [(name, text), (rng.choice(members)[0], text)],
            lambda: [(name, spoiled_bytes(text, rng))],
            *[lambda: [(name, spoiled_json(text, rng).encode())]] * 6,
        )
        members[at : at + 1] = rng.choice(changes)()
        for name, text in members:
            other.writestr(zipfile.ZipInfo(name), text)
    return out.getvalue()


def as_parquet(rng: Random, data: bytes) -> bytes:
    if rng.random() < 0.3:
        return spoiled_bytes(data, rng)
    table = pq.read_table(io.BytesIO(data))
    name, row = rng.choice(table.column_names), rng.randrange(table.num_rows)
    changes: tuple[Callable[[], pa.Table], ...] = (
        lambda: table.drop_columns([name]),
        lambda: table.append_column(name + rng.choice(("", "x")), table[name]),
        lambda: pa.concat_tables([table, table.slice(row, 1)]),
        lambda: table.slice(0, row),
        lambda: table.replace_schema_metadata(
            {key: as_json(rng, value) for key, value in table.schema.metadata.items()}
        ),
        *[lambda: _with_value(rng, table, name, row)] * 3,
        *[lambda: _with_json(rng, table, row)] * 3,
        lambda: _of_type(rng, table, name),
    )
    out = io.BytesIO()
    pq.write_table(rng.choice(changes)(), out)
    return out.getvalue()


def _with_value(rng: Random, table: pa.Table, name: str, row: int) -> pa.Table:
    """Another value of the same type in one place, or that of another row."""
    values, kind = table[name].to_pylist(), table.schema.field(name).type
    floats = (0.0, -1.0, 1e308, float("inf"), float("-inf"), float("nan"))
    numbers = floats if kind == pa.float64() else (0, -1, 1, 2**62)
    texts = [one for one in VALUES if isinstance(one, str) and one.isprintable()]
    others = texts if kind == pa.large_string() else numbers
    values[row] = rng.choice([*others, rng.choice(values), None])
    return _put(table, name, pa.array(values, kind))


def _with_json(rng: Random, table: pa.Table, row: int) -> pa.Table:
    name = rng.choice(("choices", "tools", "metadata", "tool_calls"))
    values = table[name].to_pylist()
    values[row] = spoiled_json(values[row], rng)
    return _put(table, name, pa.array(values))


def _of_type(rng: Random, table: pa.Table, name: str) -> pa.Table:
    """The column as one of another type; the values go with it."""
    value = rng.choice((1, 1.5, float("inf"), True, b"\xff", [1], {"a": "b"}, None, "x"))
    return _put(table, name, pa.array([value] * table.num_rows))


def _put(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def lm_eval_samples(folder: Path) -> Path:
    return [write_lm_eval_run(folder, model, ROWS) for model in "abc"][-1]


def lm_eval_results(folder: Path) -> Path:
    return next(lm_eval_samples(folder).parent.glob("results_*.json"))


def inspect_eval(folder: Path, suffix: str = "eval") -> Path:
    for model in "ab":
        write_inspect_log(folder / f"{model}.eval", model, ROWS)
    return write_inspect_log(folder / f"{FROM_INSPECT}.{suffix}", "c", ROWS)


def inspect_json(folder: Path) -> Path:
    return inspect_eval(folder, "json")


def pool(folder: Path) -> Path:
    """A pool of one model, as one of three sources."""
    one = load_candidates(inspect_eval(folder / "c"), alone=True)
    path = write_parquet(one, folder / "c.parquet")
    for file in (folder / "c").iterdir():
        file.unlink()
    inspect_eval(folder).unlink()
    return path


READERS: dict[str, tuple[Callable[[Path], Path], Damage]] = {
    "lm-eval samples (JSONL)": (lm_eval_samples, as_jsonl),
    "lm-eval results (JSON)": (lm_eval_results, as_json),
    "Inspect logs (.eval)": (inspect_eval, as_zip),
    "Inspect logs (.json)": (inspect_json, as_json),
    "pools (Parquet)": (pool, as_parquet),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", READERS)
def test_candidates(request: pytest.FixtureRequest, tmp_path: Path, what: str) -> None:
    """Two models' files are sound; the third is damaged."""
    build, damage = READERS[what]
    target = build(tmp_path / "logs")
    sound = target.read_bytes()

    def read(rng: Random) -> str:
        mode = rng.choice(MODES)
        found = load_candidates(tmp_path / "logs", mode)
        use(found, tmp_path / "again.parquet")
        return lost(found, target, mode)

    fuzz(request, what, lambda rng: target.write_bytes(damage(rng, sound)), read)


def use(found: CandidatePool, path: Path) -> None:
    """What is taken can be counted, printed, written and read again."""
    json.dumps(audit_sheets.data_of(audit(found)), allow_nan=False)
    again = read_parquet(write_parquet(found, path))
    assert repr((again.items, dict(again.candidates))) == repr((found.items, {**found.candidates}))


def lost(found: CandidatePool, target: Path, mode: Mode) -> str:
    """What is neither there nor in a note."""
    said = "\n".join(map(str, found.notes))
    if len(found.models) < 3 and target.as_posix() not in said:
        return f"{target.name} is left out without a word"
    there = {item.item_id for item in found.items}
    gone = [one for one in IDS if one not in there and repr(one) not in said]
    if gone or (mode == "strict" and len(found) < len(IDS) and len(found.models) == 3):
        return f"items are left out without a word ({mode})"
    return ""


@pytest.mark.slow
def test_published_pools(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they lie in the cache after a download: a folder of pools, one of them damaged."""
    target = pool(tmp_path / "sources")
    folder = tmp_path / "candidates"
    folder.mkdir()
    write_parquet(load_candidates(tmp_path / "sources"), folder / "all.parquet")
    sound = target.read_bytes()
    monkeypatch.setattr(hub, "download", lambda address: folder)

    def damage(rng: Random) -> None:
        (folder / "c.parquet").write_bytes(as_parquet(rng, sound))

    def read(rng: Random) -> str:
        found = load_candidates("hf://datasets/owner/name", "intersect")
        use(found, tmp_path / "again.parquet")
        gone = {*IDS} - {item.item_id for item in found.items}
        noted = all(any(repr(one) in note.what for note in found.notes) for one in gone)
        return "" if noted and len(found.models) >= 3 else "a sound pool"

    fuzz(request, "pools from the Hub", damage, read)


BALLOTS = [
    bracket("q1", "a", "b", "c"),
    graded("q2", {"a": 0.5, "b": 0.7, "c": None}),
    listed("q3", [["a"], ["b", "c"]]),
    starred("q4", {"a": 3, "b": 0, "c": 1}),
    all_pairs("q5", "abc", swapped="bac"),
]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_ranking_logs(request: pytest.FixtureRequest, tmp_path: Path, suffix: str) -> None:
    target = write_log(tmp_path / f"{FROM_INSPECT}.{suffix}", BALLOTS)
    sound = target.read_bytes()

    def damage(rng: Random) -> None:
        target.write_bytes((as_zip if suffix == "eval" else as_json)(rng, sound))

    def read(rng: Random) -> str:
        path, metadata, votes = (rng.random() < 0.5 for _ in range(3))
        logs = read_ranking_logs(
            tmp_path if path else target, with_metadata=metadata, with_votes=votes
        )
        return "".join(unaccounted(logs))

    fuzz(request, f"ranking logs (.{suffix})", damage, read)


def unaccounted(logs: list[Any]) -> Iterator[str]:
    """Samples that have neither a ranking nor a reason, and planned ones that nobody misses."""
    for log in logs:
        if len(log.ranked) + len(log.unranked) + len(log.skipped) != len(log.samples):
            yield "a sample has no ranking and no reason"
        if len(log.samples) < len(log.planned) and not log.notes:
            yield "planned samples are missing without a word"


def test_damage_is_damage() -> None:
    """Most of what the tests above read is not what was written."""
    rng, text = Random(0), written({"a": [1, {"b": "c"}], "d": None})
    assert sum(spoiled_bytes(text.encode(), rng) != text.encode() for _ in range(300)) > 250
    assert sum(spoiled_json(text, rng) != text for _ in range(300)) > 250
