"""Where the questions come from: the Hub at a pinned revision, a copy of it, or a file.

Pinned revisions keep the questions, and so the fingerprints that pools are joined by, the same
from run to run.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from tiebreak.benchmarks.question import Row
from tiebreak.paths import problem_with
from tiebreak.prerequisite import PrerequisiteError


class Source(NamedTuple):
    """A dataset repository on the Hub: `folder` holds the split `test`, `revision` is a commit."""

    repo: str
    folder: str
    revision: str


HUB: Final[Mapping[str, Source]] = {
    "humaneval": Source(
        "openai/openai_humaneval", "openai_humaneval", "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"
    ),
    "gsm8k": Source("openai/gsm8k", "main", "cc7b047b6e5bb11b4f1af84efc572db110a51b3c"),
    "mmlu": Source("cais/mmlu", "all", "c30699e8356da336a370243923dbaf21066bb9fe"),
}
"""Data of the benchmarks; BFCL's come with its own package (see `bfcl.questions`)."""


MOST_ROWS: Final = 1_000_000
"""The most rows that a file may hold; the largest benchmark here has 14,042."""

LONGEST_LINE: Final = 64 * 2**20
"""Bytes. A small compressed file can hold a line without end."""


def origin(benchmark: str, data: str | Path | None = None) -> str:
    """Where the questions come from, in a few words for a log."""
    if data is not None:
        return str(data)
    if benchmark in HUB:
        return f"{HUB[benchmark].repo}@{HUB[benchmark].revision}"
    try:
        return f"bfcl-eval=={metadata.version('bfcl-eval')}"
    except metadata.PackageNotFoundError:
        return "bfcl-eval"


def hub_rows(benchmark: str, folder: Path | None = None) -> list[Row]:
    """Rows of the split `test`.

    Args:
        benchmark: A key of `HUB`.
        folder: A local copy of the repository (`hf download --repo-type dataset --local-dir`);
            None takes the Hub, or its cache on this machine.

    Raises:
        PrerequisiteError: the data cannot be loaded; the message says what to do.
    """
    import datasets

    source = HUB[benchmark]
    revision = None if folder else source.revision
    try:
        split = datasets.load_dataset(
            str(folder or source.repo), data_dir=source.folder, split="test", revision=revision
        )
    except Exception as error:  # network, rights, layout: errors of many kinds
        where = folder or f"{source.repo} at {source.revision[:8]}"
        reason = str(error).strip().split("\n")[0][:200] or type(error).__name__
        raise PrerequisiteError(
            f"The questions of {benchmark} cannot be loaded from {where}: {reason}\n"
            "Without a network give a local copy: a JSON lines or Parquet file, or the folder of\n"
            f"  hf download --repo-type dataset {source.repo} --revision {source.revision} "
            "--local-dir FOLDER\n"
            "with -T data=… (Inspect) or --metadata '{\"data\": …}' (lm-eval)."
        ) from error
    return list(split)


def file_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Rows of a JSON lines or Parquet file, each with a name of its place for messages.

    Args:
        path: `.parquet`, else JSON lines, also compressed (`.gz`).

    Raises:
        PrerequisiteError: the file cannot be read, or holds more rows than any benchmark; the
            message says where.
    """
    if problem := problem_with(path):
        raise PrerequisiteError(f"The data cannot be read: {path} {problem}.")
    rows = _parquet_rows(path) if path.suffix == ".parquet" else _json_rows(path)
    for number, row in enumerate(rows):
        if number == MOST_ROWS:
            raise PrerequisiteError(f"{path} holds more than {MOST_ROWS:,} rows; give fewer.")
        yield row


def _parquet_rows(path: Path) -> Iterator[tuple[str, Row]]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", row
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        after = f" after row {number}" if number else ""
        raise PrerequisiteError(f"The data cannot be read{after}: {error}") from error


def _json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            raise PrerequisiteError(f"The data cannot be read: {place}: {error}.") from error
        except (ValueError, RecursionError) as error:
            raise PrerequisiteError(f"{place}: {error}.") from error
        if not isinstance(row, dict):
            raise PrerequisiteError(f"{place}: it is not a JSON object.")
        yield place, row


def _lines(path: Path) -> Iterator[bytes]:
    # Of bytes: text also ends lines at characters that JSON allows inside of strings.
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise ValueError(f"{path} has a line of more than {LONGEST_LINE:,} bytes")
                yield line
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise PrerequisiteError(f"The data cannot be read: {error}") from error
