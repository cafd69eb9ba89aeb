"""Small data in the original schemas, laid out as the repositories on the Hub are."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tiebreak.benchmarks.sources import HUB

ITEMS = Path(__file__).parents[2] / "src" / "tiebreak" / "inspect_tasks" / "items"

_CARD = """\
---
configs:
- config_name: {folder}
  data_files:
  - split: test
    path: {folder}/test-*
  - split: train
    path: {folder}/train-*
---
# A small stand-in for {repo}
"""


def items(benchmark: str) -> list[dict[str, Any]]:
    lines = (ITEMS / f"{benchmark}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write_copy(
    folder: Path,
    benchmark: str,
    rows: Iterable[Mapping[str, Any]] | None = None,
    *,
    card: bool = True,
) -> Path:
    """A copy of a repository: Parquet files of two splits, another configuration, and a card."""
    source = HUB[benchmark]
    found = [dict(row) for row in (items(benchmark) if rows is None else rows)]
    _write(folder / source.folder / "test-00000-of-00001.parquet", found)
    _write(folder / source.folder / "train-00000-of-00001.parquet", found[:1])
    _write(folder / "other" / "test-00000-of-00001.parquet", found[:1])
    if card:
        text = _CARD.format(folder=source.folder, repo=source.repo)
        (folder / "README.md").write_text(text, encoding="utf-8")
    return folder


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
