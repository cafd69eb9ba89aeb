"""Recalled questions: table 4 of LLMEval-Fair, failed attempts, and what cannot be compared."""

import math
import os
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from tests.analysis.whole import told
from tests.candidates.builders import write_inspect_log
from tests.cases import cases, some
from tests.expected import check
from tests.report.showing import printed
from tiebreak.analysis.errors import AnalysisError
from tiebreak.candidates import REPLAY_KEY
from tiebreak.fair.analysis.contamination import (
    Contamination,
    RecallGap,
    Replayed,
    contamination,
    contamination_of,
)
from tiebreak.fair.report.contamination import data_of, rows_of, sheets_of, verdict_of
from tiebreak.rankers.intervals import Estimate, wilson
from tiebreak.report import csv

# Table 4: recalled of 1,000 questions of AGIEval (EN and ZH), C-Eval, and the paper's own.
TABLE_4 = cases(__file__, "table 4")
DATASETS = ("AGI (EN)", "AGI (ZH)", "C-Eval", "Ours")


def replayed(model: str, dataset: str, recalled: int, n: int = 1000, size: int = 1) -> Replayed:
    values = tuple([1] * recalled + [0] * (n - recalled))
    clusters = tuple(f"q{k // size}" for k in range(n))
    return Replayed(model, dataset, "word", values, clusters, 0)


@pytest.fixture(scope="module")
def table_4() -> Contamination:
    cells = [
        replayed(model, dataset, count)
        for model, counts in TABLE_4.items()
        for dataset, count in zip(DATASETS, counts, strict=True)
    ]
    return contamination_of(cells, baselines=["Ours"])


def test_table_4(table_4: Contamination) -> None:
    assert table_4.datasets == DATASETS[:3]
    assert table_4.baselines == ("Ours",)
    for model, counts in TABLE_4.items():
        for dataset, recalled in zip(DATASETS, counts, strict=True):
            cell = some(table_4.cell(model, dataset))
            assert (cell.recalled, cell.n) == (recalled, 1000)
            expected = wilson(recalled, 1000)
            assert cell.share.lower == pytest.approx(expected.lower, abs=2e-4)
            assert cell.share.upper == pytest.approx(expected.upper, abs=2e-4)
    # "Almost all models achieve substantially higher completion counts" (§3.3): of 18 counts, these
    # are more than chance gives; in English none is.
    above = {(gap.model, gap.dataset) for gap in table_4.gaps if gap.above}
    assert above == {
        ("DeepSeek-V3", "AGI (ZH)"),
        ("DeepSeek-V3", "C-Eval"),
        ("ClaudeSonnet-4", "AGI (ZH)"),
        ("GPT-4o", "AGI (ZH)"),
        ("Qwen3-32B", "AGI (ZH)"),
        ("Qwen3-32B", "C-Eval"),
        ("Doubao-1.5", "C-Eval"),
    }
    assert "AGI (EN): " in verdict_of(table_4)
    assert "AGI (EN): ClaudeSonnet-4, DeepSeek-V3" in verdict_of(table_4)
    assert "not told apart from Ours" in verdict_of(table_4)


def test_sheets_and_data(table_4: Contamination) -> None:
    text = printed(sheets_of(table_4), 100) + csv.text(rows_of(table_4)) + told(data_of(table_4))
    check(__file__, "table_4.txt", text)
    assert repr(table_4) == "Contamination(6 models on 4 datasets)"


def test_siblings_are_one_question() -> None:
    rng = np.random.default_rng(0)
    known = np.repeat(rng.random(100) < 0.3, 4)
    one = Replayed(
        "m", "d", "word", tuple(map(int, known)), tuple(f"q{k // 4}" for k in range(400)), 0
    )
    [cell] = contamination_of([one]).cells
    expected = wilson(int(known[::4].sum()), 100)
    assert (cell.n, cell.n_clusters) == (400, 100)
    assert cell.share.upper - cell.share.lower == pytest.approx(
        expected.upper - expected.lower, rel=0.05
    )


def test_without_a_baseline_nothing_is_said() -> None:
    found = contamination_of([replayed("m", "d", 100)])
    assert found.gaps == ()
    assert "Without a baseline nothing follows" in verdict_of(found)
    lacking = contamination_of(
        [replayed("m", "d", 100), replayed("x", "base", 10)], baselines=["base"]
    )
    assert "No model has both" in verdict_of(lacking)
    assert tuple(map(str, lacking.notes)) == (
        "m has no replay of base: nothing of it is compared with that",
    )


def test_what_cannot_be_compared() -> None:
    one, other = replayed("m", "d", 1), Replayed("m", "e", "option", (1,), ("q",), 0)
    with pytest.raises(AnalysisError, match=r"took out different things \(option, word\)"):
        contamination_of([one, other])
    with pytest.raises(AnalysisError, match="No replay of the baseline 'f'; there are: d"):
        contamination_of([one], baselines=["f"])


def write(path: Path, attempts: dict[str, list[str | None]], data: str = "d", **log: Any) -> Path:
    """A replay's log: C, I, or None for an attempt that failed."""
    rows = [
        {
            **{"id": name, "epoch": epoch, "question": "?", "metadata": {"raw_uuid": name[0]}},
            **({"scores": {"filled_in": value}} if value else {"error": True}),
        }
        for name, values in attempts.items()
        for epoch, value in enumerate(values, start=1)
    ]
    about = {REPLAY_KEY: {"data": data, "mask": "word"}}
    return write_inspect_log(path, "m/x", rows, task="replay", epochs=3, metadata=about, **log)


def test_attempts(tmp_path: Path) -> None:
    attempts: dict[str, list[str | None]] = {
        "a1": ["C", "C", "I"],
        "a2": ["C", None, "C"],
        "b1": ["I", "C", "I"],
        "b2": ["I", None, "C"],
        "c1": ["I", "I", None],
        "c2": [None, None, "C"],
    }
    write(tmp_path / "1.eval", attempts)
    found = contamination(tmp_path)
    [cell] = found.cells
    assert (cell.recalled, cell.n, cell.undecided, cell.n_clusters) == (2, 4, 2, 3)
    assert tuple(map(str, found.notes)) == (
        "m/x on d: 2 questions undecided, because attempts failed",
    )


def test_logs_of_one_dataset_are_joined(tmp_path: Path) -> None:
    write(tmp_path / "1.eval", {"a": ["C"] * 3, "b": ["C"] * 3}, created="2026-01-01")
    write(
        tmp_path / "2.eval", {"a": ["I"] * 3, "c": ["C"] * 3}, created="2026-01-02", status="error"
    )
    write(tmp_path / "3.json", {"a": ["C"] * 3}, data="e")
    (tmp_path / "4.eval").write_text("damaged")
    found = contamination([tmp_path])
    cell = some(found.cell("m/x", "d"))
    assert (cell.recalled, cell.n) == (2, 3)
    assert any("cannot be read as an Inspect log" in str(note) for note in found.notes)
    assert any("2.eval: status is 'error'" in str(note) for note in found.notes)


def test_nothing_can_be_decided(tmp_path: Path) -> None:
    write(tmp_path / "1.eval", {"a": [None] * 3})
    [cell] = contamination(tmp_path).cells
    assert (cell.n, cell.undecided) == (0, 1)
    assert math.isnan(cell.share.value)


@pytest.mark.parametrize("path", ["pipe.eval", "x" * 5_000])
def test_a_path_that_cannot_be_read(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe.eval")
    with pytest.raises(AnalysisError, match=r"is a pipe|File name too long"):
        contamination(tmp_path / path)


def test_damaged_summaries_are_named(tmp_path: Path) -> None:
    write(tmp_path / "1.eval", {"a": ["C"] * 3})
    path = write(tmp_path / "2.eval", {"b": ["C"] * 3})
    with ZipFile(path) as log:
        texts = {name: log.read(name) for name in log.namelist()}
    with ZipFile(path, "w") as log:
        for name, text in texts.items():
            log.writestr(name, text[:-9] if "summaries" in name else text)
    found = contamination(tmp_path)
    assert [cell.n for cell in found.cells] == [1]
    assert any("2.eval cannot be read as an Inspect log" in str(note) for note in found.notes)


def test_no_replay(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="nowhere does not exist"):
        contamination(tmp_path / "nowhere")
    with pytest.raises(AnalysisError, match="No log of a replay"):
        contamination(tmp_path)


@pytest.mark.parametrize(
    ("apart", "difference", "above"),
    [(True, 0.1, True), (True, 0.0, False), (True, -0.1, False), (False, 0.1, False),
     (None, math.nan, False)],
)  # fmt: skip
def test_more_than_the_baseline(apart: bool | None, difference: float, above: bool) -> None:
    gap = Estimate(difference, math.nan, math.nan, 0)
    assert RecallGap("m", "old", "ours", gap, math.nan, math.nan, apart).above is above
