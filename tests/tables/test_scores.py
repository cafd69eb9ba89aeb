"""Tables of scores: what a CSV file says, which reader a path goes to, names of cells."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import cases
from tests.tables.builders import task_values, write, write_summary
from tiebreak.analysis.contests import contest_report
from tiebreak.tables import ScoreTable, TableError, find_cells, read_scores
from tiebreak.tables.scores import read_score_table, unlike_scales

NAN = float("nan")


def read(folder: Path, text: str) -> ScoreTable:
    return read_score_table(write(folder / "scores.csv", text))


SAME = cases(__file__, "the same scores")


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_the_same_scores(tmp_path: Path, text: str) -> None:
    table = read(tmp_path, text)
    assert table.models == ("m1", "m2")
    assert table.benchmarks == ("gsm8k", "mmlu")
    np.testing.assert_array_equal(table.scores, [[95.5, 70], [NAN, 71.25]])
    assert not table.scores.flags.writeable
    assert table.sources == (str(tmp_path / "scores.csv"),)
    assert table.notes == ("1 of 4 scores are missing: 'm2' on 'gsm8k'",)


def test_scales_that_differ_are_noted(tmp_path: Path) -> None:
    table = read(tmp_path, "model,a,b,c\nm1,0.5,50,0\nm2,1,0.6,1\n")
    [mixed] = table.notes
    assert "'b' has scores below 1 and above 1" in mixed
    # Only a round that joins both takes their mean.
    assert unlike_scales(table, [("a", "c"), ("b",)]) == ()
    [differ] = unlike_scales(table, [("a",), ("c", "b", "a")])
    assert differ.startswith("The round c + b + a takes the mean")
    rounds = contest_report(table, [[0, 1], [2]], options={"iterations": 1})
    assert rounds.notes == (mixed, *unlike_scales(table, [("a", "b")]))
    for text in ("model,a,b\nm1,0.5,0\nm2,1,.25\n", "model,a,b\nm1,5,0\nm2,1,9\n"):
        assert read(tmp_path, text).notes == ()


def test_negative_scores_stay(tmp_path: Path) -> None:
    np.testing.assert_array_equal(
        read(tmp_path, "model,a\nm1,-3\nm2,-1e-2\n").scores, [[-3], [-0.01]]
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


@pytest.mark.parametrize(("names", "options", "words"), cases(__file__, "together"))
def test_what_does_not_go_together(
    tmp_path: Path, names: list[str], options: dict[str, Any], words: str
) -> None:
    write(tmp_path / "scores.csv", CSV)
    (tmp_path / "out").mkdir()
    with pytest.raises(TableError, match=words):
        read_scores([str(tmp_path / name) for name in names], **options)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a=mmlu", (0, (1,), 0.0)),
        ("b=c=mmlu, gsm8k", (1, (1, 0), 0.0)),
        ("a=mmlu, gsm8k: 0.25", (0, (1, 0), 0.25)),
    ],
)
def test_cells_by_name(
    tmp_path: Path, text: str, cells: tuple[int, tuple[int, ...], float]
) -> None:
    assert find_cells(read_score_table(write(tmp_path / "s.csv", CSV)), text) == cells


def test_the_best_score_there_is(tmp_path: Path) -> None:
    text = "model,a,b:best,c:d\nx,1,2,\ny,,-5,\n"
    table = read_score_table(write(tmp_path / "s.csv", text))
    assert find_cells(table, "y=a,b:best") == (1, (0, 1), 0.0)  # a benchmark's name goes before
    assert find_cells(table, "y=a,b:best:best") == (1, (0, 1), (1.0, 2.0))
    with pytest.raises(TableError, match="no model has a score on 'c:d'"):
        find_cells(table, "y=c:d:best")


def test_standard_errors_of_a_second_file(tmp_path: Path) -> None:
    scores = write(tmp_path / "s.csv", CSV)
    errors = write(tmp_path / "e.csv", "model,mmlu,gsm8k\nb=c,0.4,\na,0.2,0\n")
    table = read_scores(scores, stderr=errors)
    np.testing.assert_array_equal(table.errors, [[0, 0.2], [NAN, 0.4]])
    assert table.sources == (str(scores), str(errors))
    assert table.notes == ()
    assert read_scores(scores).errors is None
