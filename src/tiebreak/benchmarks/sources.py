"""Load rows of benchmarks from the Hub at a pinned revision, a copy of it, or a file.

Revisions are pinned because pools are joined by fingerprints of the questions.
"""

from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from tiebreak.benchmarks.question import Row
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rows import Place, rows_of


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
"""Maximum number of rows of a file; the largest benchmark here has 14,042."""


def origin(benchmark: str, data: str | Path | None = None) -> str:
    """Short description of the source of the questions, for a log."""
    if data is not None:
        return str(data)
    if benchmark in HUB:
        return f"{HUB[benchmark].repo}@{HUB[benchmark].revision}"
    try:
        return f"bfcl-eval=={metadata.version('bfcl-eval')}"
    except metadata.PackageNotFoundError:
        return "bfcl-eval"


def hub_rows(benchmark: str, folder: Path | None = None) -> list[Row]:
    """Load the split `test` from the Hub, its cache on this machine, or the local copy `folder`.

    A copy is a folder written by `hf download --repo-type dataset --local-dir`.

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
    """Yield the rows of a JSON lines, CSV or Parquet file, each with its place for messages.

    Raises:
        PrerequisiteError: the file cannot be read, or has more than `MOST_ROWS` rows; the message
            says where.
    """

    def fault(place: Place, message: str) -> None:
        raise PrerequisiteError(f"{path}, {place}: {message}.")

    try:
        for number, (place, row) in enumerate(rows_of(path, fault)):
            if number == MOST_ROWS:
                raise PrerequisiteError(f"{path} holds more than {MOST_ROWS:,} rows; give fewer.")
            if not isinstance(row, dict):
                fault(place, "it is not a JSON object")
            yield f"{path}, {place}", row
    except ValueError as error:
        raise PrerequisiteError(f"The data cannot be read: {path} {error}.") from error
