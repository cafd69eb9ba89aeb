"""What an alignment looks like: on terminals of all widths, as JSON and as CSV."""

import csv
import io
from dataclasses import fields
from typing import Any, get_args

import numpy as np
import pytest
from rich.cells import cell_len

from tests.analysis.alignment.panels import NAN, noisy, panel, people, ranks_of
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.alignment import Alignment, Correlation, Scores, align_panels
from tiebreak.rankers import Resampling
from tiebreak.rankers.intervals import Estimate
from tiebreak.report.csv import text as csv_text
from tiebreak.report.sheets.alignment import data_of, rows_of, sheets_of
from tiebreak.tables.human import HumanRanking

MARKUP = "[bold red]x[/]\x1b[31m\ny"


def printed(alignment: Alignment, width: int) -> str:
    return show(sheets_of(alignment), width)


@pytest.fixture(scope="module")
def alignment() -> Alignment:
    """Two benchmarks; one reviewer has no usable review, one contradicts people."""
    names = [MARKUP, "openai/gpt-5", "smollm2-135m/greedy", "d", "e", "a" * 60]
    models = sorted(names)
    table = noisy(12, 6, 6, seed=0)
    table[:, 1] = NAN
    table[:, 2] = 7 - table[:, 2]
    rng = np.random.default_rng(0)
    native = (rng.random((12, 6)) < 0.7).astype(float)
    panels = [
        panel(table, models=models, native=native, benchmark=name, notes=(f"of {name}",))
        for name in ("gsm8k", MARKUP)
    ]
    human = HumanRanking(
        f"{MARKUP}.csv",
        {"": {name: float(k) for k, name in enumerate(models) if name != "e"}},
        ("a note of the file",),
    )
    return align_panels(
        panels,
        human,
        how=Resampling(level=0.9, draws=200),
        methods=["borda", "irv", "kemeny_young"],
    )


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_too_long_and_nothing_is_cut(alignment: Alignment, width: int) -> None:
    text = printed(alignment, width)
    assert max(cell_len(row) for row in text.splitlines()) <= width
    assert "…" not in text
    assert "\x1b" not in text
    for word in ("[bold red]x", "90% interval", "Undef.", "a note of the file", "of gsm8k"):
        assert word in text
    assert "gsm8k · 12 items · 5 of 6 models ranked by people" in text


def test_the_widest_numbers_fit() -> None:
    # Everybody contradicts people, but for some noise: minus signs everywhere.
    rng = np.random.default_rng(0)
    table = ranks_of(-np.arange(6) + rng.normal(size=(9, 3, 6)))
    found = align_panels(
        [panel(table)], people("fedcba"), how=Resampling(draws=200), methods=["kemeny_young"]
    )
    text = printed(found, 80)
    assert max(cell_len(row) for row in text.splitlines()) <= 80
    assert "Undef.\n" in text
    shown = [cells(text, "kemeny_young", number) for number in range(3)]
    assert [len(row) for row in shown] == [11, 11, 11]
    assert all(number.startswith("-") for row in shown for number in row[1:5] if number != "to")


def cells(text: str, start: str, number: int) -> list[str]:
    found = [row for row in text.splitlines() if row.startswith(start)]
    return found[number].split()


def test_the_tables_by_hand() -> None:
    # ρ = 1, 0.5, −1 and τ = 1, 1/3, −1 against a, b, c. SD: √((0.833² + 0.333² + 1.167²)/2).
    rows = [[[1, 2, 3]], [[2, 1, 3]], [[3, 2, 1]], [[1, 1, 1]]]
    found = align_panels(
        [panel(np.array(rows))], people("abc"), how=Resampling(draws=100), methods=["borda"]
    )
    text = printed(found, 80)
    pearson, kendall, macro = (cells(text, "a ", number) for number in range(3))
    assert (pearson[1], pearson[5:]) == ("0.17", ["1.04", "-1.00", "-0.25", "0.50", "0.75", "1.00"])
    assert (kendall[1], kendall[5:]) == ("0.11", ["1.02", "-1.00", "-0.33", "0.33", "0.67", "1.00"])
    # Means 2, 1.75, 2.25 against 1, 2, 3: 0.25/√(0.125·2); two of three pairs are in order.
    assert (macro[1], macro[5], macro[-2:]) == ("0.50", "0.33", ["3", "1"])
    native = cells(text, "native score", 2)
    assert native[2:] == ["–", "–", "–", "–", "0", "4"]


def plain_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(plain_floats, value.values()))
    if isinstance(value, list):
        return all(map(plain_floats, value))
    return value is None or type(value) in (int, float, str)


def test_json(alignment: Alignment) -> None:
    data = data_of(alignment)
    assert plain_floats(data)
    assert round_trip(data) == data
    assert (data["format"], data["version"], data["level"]) == ("tiebreak/alignment", 1, 0.9)
    first = data["benchmarks"][0]
    assert "item_ids" not in first
    assert [one["human_rank"] for one in first["models"]] == [1, 2, 3, 4, 5]
    silent = first["raters"][1]["pearson"]
    assert silent["n_rows"] == 0
    assert silent["mean"] == {
        "value": None,
        "lower": None,
        "upper": None,
        "n_items": 0,
        "reason": "in no item does the rater tell the models apart",
    }
    assert "values" not in silent
    with_items = data_of(alignment, items=True)["benchmarks"][0]
    assert with_items["item_ids"] == [f"q{number}" for number in range(12)]
    for ours, each in zip(alignment.benchmarks[0].raters, with_items["raters"], strict=True):
        values = [math_nan(value) for value in each["kendall"]["values"]]
        np.testing.assert_array_equal(values, ours.kendall.values)


def math_nan(value: float | None) -> float:
    return NAN if value is None else value


def test_the_documented_shape() -> None:
    found = align_panels([panel(noisy(3, 2, 4, seed=0))], people(), how=Resampling(draws=10))
    data = data_of(found, items=True)
    [one] = data["benchmarks"]
    for level in (data, one, one["models"][0], one["raters"][0]):
        for key in level:
            assert f'"{key}"' in (data_of.__doc__ or "")
    # What is not spelled out there has the fields of these.
    figure = one["raters"][0]["pearson"]
    assert set(figure) == {f.name for f in fields(Correlation)}
    assert set(figure["mean"]) == {f.name for f in fields(Estimate)}


def test_csv(alignment: Alignment) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(rows_of(alignment)))))
    raters = [(one, each) for one in alignment.benchmarks for each in one.raters]
    assert len(rows) == len(raters)
    for row, (one, each) in zip(rows, raters, strict=True):
        assert (row["benchmark"], row["name"], row["kind"]) == (one.benchmark, each.name, each.kind)
        assert row["n_models"] == "5"
        for name, figure in (("pearson", each.pearson), ("kendall", each.kendall)):
            assert row[f"{name}_n_undefined"] == str(figure.n_undefined)
            for key, value in (
                ("mean", figure.mean.value),
                ("mean_upper", figure.mean.upper),
                ("median", figure.median),
                ("macro", figure.macro.value),
                ("macro_lower", figure.macro.lower),
            ):
                np.testing.assert_equal(float(row[f"{name}_{key}"] or NAN), value)


@pytest.mark.parametrize("scores", get_args(Scores))
def test_the_legend_says_what_is_correlated(scores: Scores) -> None:
    found = align_panels(
        [panel(noisy(3, 3, 4, seed=0))],
        people(),
        scores=scores,
        methods=["borda", "average"],
        how=Resampling(draws=10),
    )
    text = printed(found, 80)
    assert [text.count(f"\n{view} ") for view in ("SR", "PR", "SIA", "SFA")] == [3, 3, 3, 3]
    words = " ".join(text.split())
    means = "Pearson of average, SR and PR is that of the mean ranks themselves"
    assert (means in words) == (scores == "mean-rank")
    assert "in the consensus of all ballots, by borda; SFA" in words
