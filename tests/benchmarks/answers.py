"""Answers that are hard to score, each with its question: the same for every harness.

A case is a row in the benchmark's original schema, an answer to it, and whether that is right. The
questions are numbered, so that each case is an item of its own.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.cases import cases


class Case(NamedTuple):
    row: Mapping[str, Any]
    answer: str
    right: bool


def _numbered(row: Mapping[str, Any], right: list[str], wrong: list[str]) -> Iterator[Case]:
    """NUMBER in the row is the number of its case, NINES in an answer are very many digits."""
    for number, answer in enumerate([*right, *wrong]):
        numbered = json.loads(json.dumps(row).replace("NUMBER", str(number)))
        yield Case(numbered, answer.replace("NINES", "9" * 5000), number < len(right))


CASES: Mapping[str, tuple[Case, ...]] = {
    benchmark: tuple(_numbered(**cases(__file__, benchmark)))
    for benchmark in ("gsm8k", "mmlu", "bfcl", "humaneval")
}


def write_cases(folder: Path, benchmark: str) -> Path:
    """The rows of a benchmark's cases as a JSON lines file."""
    path = folder / f"{benchmark}.jsonl"
    lines = (json.dumps(case.row, ensure_ascii=False) for case in CASES[benchmark])
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
