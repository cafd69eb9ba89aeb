"""Which reader a path goes to, and names of cells."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tables.builders import task_values, write, write_summary
from tiebreak.tables import (
    MissingFileError,
    TableError,
    UnknownBenchmarkError,
    UnknownFormatError,
    UnknownModelError,
    find_cells,
    read_score_table,
    read_scores,
)

CSV = "model,gsm8k,mmlu\na,1,2\nb=c,3,4\n"


def test_a_table_or_results(tmp_path: Path) -> None:
    table = write(tmp_path / "scores.CSV", CSV)
    assert read_scores([str(table)]).benchmarks == ("gsm8k", "mmlu")
    values = {"gsm8k_cot": task_values(acc=0.5, f1=0.25)}
    run = write_summary(tmp_path / "out" / "results_x.json", "m", values)
    found = read_scores(
        [str(run), str(run.parent)], metric="f1", filter="none", rename={"gsm8k_cot": "gsm8k"}
    )
    assert (found.benchmarks, found.scores.tolist()) == (("gsm8k",), [[0.25]])


@pytest.mark.parametrize(
    ("names", "options", "error"),
    [
        (["scores.csv", "scores.csv"], {}, UnknownFormatError),
        (["out", "scores.csv"], {}, UnknownFormatError),
        (["scores.csv"], {"metric": "acc"}, UnknownFormatError),
        (["scores.csv"], {"filter": "none"}, UnknownFormatError),
        (["scores.csv"], {"rename": {"a": "b"}}, UnknownFormatError),
        (["nothing.csv"], {}, MissingFileError),
        (["nothing"], {}, MissingFileError),
    ],
)
def test_what_does_not_go_together(
    tmp_path: Path, names: list[str], options: dict[str, Any], error: type[TableError]
) -> None:
    write(tmp_path / "scores.csv", CSV)
    (tmp_path / "out").mkdir()
    with pytest.raises(error):
        read_scores([str(tmp_path / name) for name in names], **options)


@pytest.mark.parametrize(
    ("text", "cells"),
    [("a=mmlu", (0, (1,))), ("b=c=mmlu, gsm8k", (1, (1, 0)))],
)
def test_cells_by_name(tmp_path: Path, text: str, cells: tuple[int, tuple[int, ...]]) -> None:
    assert find_cells(read_score_table(write(tmp_path / "s.csv", CSV)), text) == cells


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("b=mmlu", UnknownModelError, "no model 'b'; did you mean|no model 'b'; there are 'a'"),
        ("mmlu", UnknownModelError, "no model ''"),
        ("a=", UnknownBenchmarkError, "no benchmark ''; there are 'gsm8k', 'mmlu'"),
        ("a=mmlu,gms8k", UnknownBenchmarkError, r"no benchmark 'gms8k'; did you mean 'gsm8k'\?"),
    ],
)
def test_names_that_are_not_there(
    tmp_path: Path, text: str, error: Callable[..., Any], words: str
) -> None:
    table = read_score_table(write(tmp_path / "s.csv", CSV))
    with pytest.raises(TableError, match=words) as caught:
        find_cells(table, text)
    assert type(caught.value) is error
