"""One pair of models, chosen beforehand."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.ranking_logs.builders import bracket, sample, write_log
from tiebreak.analysis.pair import compare_pair
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import paired_interval
from tiebreak.report.sheets.pairs import sheets_of


def test_a_pair_by_hand(tmp_path: Path) -> None:
    # a is before b in 9 of 10 items, c always last: Borda 1 against ½.
    orders = ["abc"] * 9 + ["bac"]
    log = write_log(tmp_path / "r.eval", [bracket(f"q{n}", *o) for n, o in enumerate(orders)])
    [found] = compare_pair([log], "a", "b")
    assert found.difference.value == pytest.approx(0.4)
    assert found.difference.n_items == 10
    assert found.p == pytest.approx(22 / 2**10)  # one or none of ten against it, both ways
    # Twelve items: the ten, and one half each way; t with 11 degrees of freedom.
    centre = 4 / 12
    half = stats.t.ppf(0.975, 11) * math.sqrt(((10 + 1) / 4 / 12 - centre**2) / 12)
    assert (found.difference.lower, found.difference.upper) == pytest.approx(
        (centre - half, centre + half)
    )
    interval = f"{centre - half:+.3f} to {centre + half:+.3f}"
    said = f"a is ahead of b: +0.400 Borda (95% interval {interval}, p = .021, 10 items)."
    assert str(found.sentence) == said
    [turned] = compare_pair([log], "b", "a")
    assert (turned.difference.value, turned.p) == (-found.difference.value, found.p)
    assert str(turned.sentence).startswith("a is ahead of b: ")


def test_models_of_different_logs_are_no_pair(tmp_path: Path) -> None:
    logs = [
        write_log(tmp_path / f"{one}.eval", [bracket("q", *one)], task_id=one)
        for one in ("abc", "dbc")
    ]
    assert [len(compare_pair(logs, *pair)) for pair in ("bc", "ac")] == [2, 1]
    refused = {"ad": "no log ranks both 'a' and 'd'", "aa": "'a' twice", "ax": "'x'; there are: a"}
    for pair, said in refused.items():
        with pytest.raises(RankingError, match=said):
            compare_pair(logs, *pair)


def test_epochs_of_an_item_are_averaged(tmp_path: Path) -> None:
    items = [bracket("q", *order) for order in ("abc", "bac", "abc")] + [bracket("r", *"abc")]
    samples = [sample(one, f"{n}") for n, one in enumerate(items)]
    [found] = compare_pair([write_log(tmp_path / "r.eval", samples)], "a", "b")
    assert found.difference.n_items == 2
    assert found.difference.value == pytest.approx((0.5 / 3 + 0.5) / 2)


def test_an_interval_takes_two_items() -> None:
    assert all(map(math.isnan, paired_interval([0.5])))
    lower, upper = paired_interval([0.0] * 20)
    # No item differs: about the rule of three both ways.
    assert (lower, upper) == pytest.approx((-upper, upper))
    assert 0.05 < upper < 0.15


def test_models_that_never_met(tmp_path: Path) -> None:
    logs = write_log(tmp_path / "r.eval", [bracket("q", *"abc"), bracket("r", *"dbc")])
    [found] = compare_pair(logs, "a", "d")
    assert (found.difference.n_items, str(found.sentence)) == (0, "No item ranks both a and d.")
    assert np.isnan([found.difference.value, found.difference.lower, found.p]).all()
    [one] = compare_pair(logs, "d", "b")
    assert str(one.sentence) == "d and b cannot be told apart: +0.500 Borda (p = 1.000, 1 item)."


@pytest.mark.parametrize(("level", "apart"), [(0.96, True), (0.97, False)])
def test_apart_is_at_most_one_minus_the_level(level: float, apart: bool, tmp_path: Path) -> None:
    log = write_log(tmp_path / "r.eval", [bracket(f"q{n}", *"abc") for n in range(6)])
    [found] = compare_pair(log, "a", "b", level=level)
    assert found.p == 2 / 2**6
    assert str(found.sentence).startswith("a is ahead of b" if apart else "a and b cannot be told")
    assert found.difference.upper <= 1


@pytest.mark.parametrize(("p", "shown"), [(0.0004, "< 0.001"), (0.262, "0.262"), (math.nan, "–")])
def test_a_p_value_is_not_shown_as_0(tmp_path: Path, p: float, shown: str) -> None:
    [pair] = compare_pair(write_log(tmp_path / "r.eval", [bracket("q", *"abc")]), "a", "b")
    [sheet] = sheets_of([replace(pair, p=p)])
    table = sheet.sections[0].table
    assert table is not None
    assert table.rows[0][4].text == shown
