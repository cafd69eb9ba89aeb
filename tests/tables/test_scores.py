"""Tables of scores."""

from pathlib import Path

import numpy as np
import pytest

from tests.tables.builders import write
from tiebreak.tables import ScoreTable, read_score_table

NAN = float("nan")


def read(folder: Path, text: str) -> ScoreTable:
    return read_score_table(write(folder / "scores.csv", text))


SAME = {
    "comma": "model,gsm8k,mmlu\nm1,95.5,70\nm2,,71.25\n",
    "semicolon": "Model;gsm8k;mmlu\r\nm1;95,5;70\r\nm2;;71,25\r\n",
    "percent": "model,gsm8k,mmlu\nm1,95.5%,70\nm2,n/a,71.25\n",
    "percent with a blank": "model,gsm8k,mmlu\nm1,95.5 %,70\nm2,-,71.25\n",
}


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
    table = read(tmp_path, "model,a,b,c\nm1,0.5,50,0\nm2,1,0.6,0\n")
    mixed, differ = table.notes
    assert "'b' has scores below 1 and above 1" in mixed
    assert "'a', 'c' within 0 to 1, 'b' beyond" in differ


@pytest.mark.parametrize("text", ["model,a,b\nm1,0.5,0\nm2,1,.25\n", "model,a,b\nm1,5,0\nm2,1,9\n"])
def test_one_scale_is_not(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).notes == ()


def test_negative_scores_stay(tmp_path: Path) -> None:
    np.testing.assert_array_equal(
        read(tmp_path, "model,a\nm1,-3\nm2,-1e-2\n").scores, [[-3], [-0.01]]
    )
