"""Files made to take memory or time, in their real sizes: a sentence, and soon."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.candidates.builders import make_rows, write_inspect_log, write_lm_eval_run
from tests.faults.record import FULL, Tried, record
from tests.ranking_logs.builders import bracket, write_log
from tiebreak.candidates import CandidateError, load_candidates, write_parquet
from tiebreak.ranking_logs import RankingLogError, read_ranking_logs

SECONDS = 5.0
"""CPU time that each may take."""

DEEP = b"[" * 300_000 + b"]" * 300_000


def samples(folder: Path) -> Path:
    return write_lm_eval_run(folder, "c", make_rows(3))


def put(path: Path, old: bytes, new: bytes) -> Path:
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


def put_in_zip(path: Path, old: bytes, new: bytes) -> Path:
    with ZipFile(path) as log:
        texts = {name: log.read(name) for name in log.namelist()}
    with ZipFile(path, "w", ZIP_DEFLATED) as log:
        for name, text in texts.items():
            log.writestr(name, text.replace(old, new))
    return path


def log(folder: Path, suffix: str = "eval") -> Path:
    return write_inspect_log(folder / f"c.{suffix}", "c", make_rows(3))


def pool(folder: Path) -> Path:
    path = log(folder)
    file = write_parquet(load_candidates(path, alone=True), folder / "c.parquet")
    path.unlink()
    return file


def bomb(folder: Path, *, copies: int = 1) -> Path:
    """A sample of a gigabyte of blanks, in one megabyte; or many of them."""
    path = log(folder)
    blanks = b" " * 2**20
    with ZipFile(path, "a", ZIP_DEFLATED) as zipped:
        for number in range(copies):
            with zipped.open(f"samples/x{number}_epoch_1.json", "w") as member:
                for _ in range(1024 // copies):
                    member.write(blanks)
    return path


def deep_json_in_pool(folder: Path) -> Path:
    path = pool(folder)
    table = pq.read_table(path)
    deep = pa.array(['{"a":' + DEEP.decode() + "}"] * len(table), pa.large_string())
    at = table.column_names.index("metadata")
    pq.write_table(table.set_column(at, "metadata", deep), path)
    return path


def many_rows(folder: Path) -> Path:
    """A hundred million rows of one answer, in a megabyte."""
    path = pool(folder)
    table = pq.read_table(path)
    schema, one = table.schema, table.slice(0, 1)
    with pq.ParquetWriter(path, schema) as writer:
        rows = one.take(pa.array(np.zeros(2_000_000, dtype=np.int64)))
        for _ in range(50):
            writer.write_table(rows)
    return path


def many_columns(folder: Path, metadata: dict[str, str], n: int = 100_000) -> Path:
    table = pa.table({f"c{k}": pa.nulls(1) for k in range(n)}).replace_schema_metadata(metadata)
    pq.write_table(table, folder / "c.parquet")
    return folder / "c.parquet"


def many_metrics(folder: Path) -> Path:
    path = samples(folder)
    first, *rest = path.read_text().splitlines()
    row = json.loads(first)
    row |= {f"m{k}": 0 for k in range(1_000_000)}
    del row["metrics"]  # older files do not list them: all unknown columns count
    path.write_text("\n".join([json.dumps(row), *rest, ""]))
    return path


def pipe(folder: Path, name: str = "c.eval") -> Path:
    os.mkfifo(folder / name)
    return folder / name


def device(folder: Path, name: str = "c.json") -> Path:
    (folder / name).symlink_to("/dev/zero")
    return folder / name


def sparse(folder: Path) -> Path:
    """Ten gigabytes of zeros without a line end, which take no place on the disk."""
    path = folder / "samples_gsm8k.jsonl"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)
    return path


Made = tuple[Callable[[Path], Path], str | None]
"""What makes a file, and words of the sentence; None for one that is read."""

CANDIDATES: dict[str, Made] = {
    "a pipe, .eval": (pipe, "is a pipe"),
    "a pipe, .jsonl": (lambda folder: pipe(folder, "samples_x.jsonl"), "is a pipe"),
    "/dev/zero, .json": (device, "is a device"),
    "/dev/zero, .parquet": (lambda folder: device(folder, "c.parquet"), "is a device"),
    "nested 600 kB, .eval": (lambda f: put_in_zip(log(f), b'"1"', DEEP), "recursion limit"),
    "nested 600 kB, .json": (lambda f: put(log(f, "json"), b'"1"', DEEP), "recursion limit"),
    "nested 600 kB, .jsonl": (lambda f: put(samples(f), b'"1"', DEEP), "recursion limit"),
    "nested 600 kB, .parquet": (deep_json_in_pool, "recursion limit"),
}
SLOW_TO_MAKE: dict[str, Made] = {
    "a zip bomb": (bomb, "unpacked it would take 1,024 MB"),
    "64 zip bombs": (lambda folder: bomb(folder, copies=64), "unpacked it would take 1,024 MB"),
    "10 GB of zeros": (sparse, "line 1 is longer than"),
    "a hundred million rows": (many_rows, "its rows would take"),
    "100,000 columns": (lambda folder: many_columns(folder, {}), "not a pool"),
    "100,000 columns of a pool": (
        lambda folder: many_columns(folder, {"tiebreak_pool": "1"}),
        "lacks the column",
    ),
    "a million metrics": (many_metrics, None),
    "600 kB of blanks": (lambda f: put(samples(f), b"answer is 1", b" " * 600_000 + b"1"), None),
}


@pytest.mark.slow
def test_candidates(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    for model in "ab":
        write_lm_eval_run(tmp_path / "logs", model, make_rows(3))
    cases = CANDIDATES | (SLOW_TO_MAKE if FULL else {})
    wrong = {}
    for number, (what, (build, words)) in enumerate(cases.items()):
        (folder := tmp_path / str(number)).mkdir()
        path = build(folder)
        start = time.process_time()
        try:
            found = load_candidates([tmp_path / "logs", path])
            said = f"read {len(found)} items of {len(found.models)} models"
        except CandidateError as error:
            said = str(error)
            assert path.as_posix() in said
            assert len(said) < 10_000
        seconds = time.process_time() - start
        if (words or "read 3 items of 3 models") not in said or seconds > SECONDS:
            wrong[what] = f"{seconds:.1f} s: {said}"
    survived = len(cases) - len(wrong)
    record(request, Tried("hostile files: pipes, bombs, depth, columns", len(cases), survived))
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_ranking_logs(request: pytest.FixtureRequest, tmp_path: Path, suffix: str) -> None:
    path = write_log(tmp_path / f"r.{suffix}", [bracket("q1", "a", "b", "c")])
    (put if suffix == "json" else put_in_zip)(path, b'"long text"', DEEP)
    start = time.process_time()
    with pytest.raises(RankingLogError, match="recursion limit"):
        read_ranking_logs(path)
    assert time.process_time() - start < SECONDS
    record(request, Tried(f"ranking logs (.{suffix}), nested 600 kB", 1, 1))
