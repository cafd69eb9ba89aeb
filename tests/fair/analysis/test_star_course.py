"""Scores by date, scores elsewhere and causes of errors, from planted tables of stars."""

import math
from datetime import date

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.analysis.test_stars import drawn, items_of, log_of
from tests.cases import some
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.star_table import StarTable, star_table
from tiebreak.analysis.stars import star_report_of
from tiebreak.fair.analysis.star_stability import elsewhere, error_causes, star_course
from tiebreak.rankers import Resampling, cohen_kappa
from tiebreak.tables import ScoreTable
from tiebreak.tables.dates import ReleaseDate
from tiebreak.tables.human import CauseLabels, HumanLabel

HOW = Resampling(draws=200)


def table_of(n: int = 60, models: str = "abcde") -> StarTable:
    return star_table([log_of(items_of(drawn(n, models)))])


def test_scores_by_date_are_those_of_the_board() -> None:
    report = some(star_report_of([log_of(items_of(drawn(60, "abc")))], how=HOW))
    board = {row.model: row for row in report.boards[0].rows}
    dates = [ReleaseDate("c", date(2023, 1, 1), "X"), ReleaseDate("a", date(2025, 1, 1), "X")]
    found = star_course("fair", table_of(60, "abc"), dates)
    assert [row.model for row in found.rows] == ["c", "a"]
    for row in found.rows:
        own = board[row.model]
        assert (row.score.value, row.score.lower) == pytest.approx((own.value, own.lower))
    assert tuple(map(str, found.notes)) == ("No date of b",)
    with pytest.raises(AnalysisError, match="has a date"):
        star_course("fair", table_of(), [ReleaseDate("z", date(2025, 1, 1))])


def test_correlations_with_scores_elsewhere() -> None:
    table = table_of()
    others = ScoreTable(
        ("org/e", "a", "b", "c"),
        ("C-Eval", "few"),
        np.array([[0.7, 1], [0.9, np.nan], [0.5, 2], [0.6, np.nan]]),
    )
    one, few = elsewhere({"fair": table}, others, how=HOW)
    assert one.models == ("a", "b", "c", "e")
    means, theirs = table.scores.mean(axis=0)[[0, 1, 2, 4]], [0.9, 0.5, 0.6, 0.7]
    assert one.agreement is not None
    assert one.agreement.spearman.value == pytest.approx(spearmanr(means, theirs).statistic)
    assert one.agreement.kendall.value == pytest.approx(kendalltau(means, theirs).statistic)
    assert one.agreement.spearman.lower <= one.agreement.spearman.value
    assert few.agreement is None
    with pytest.raises(AnalysisError, match="three models"):
        elsewhere({"fair": table}, others.only(["few"]), how=HOW)


def labels(*rows: tuple[str, str, str, str]) -> CauseLabels:
    causes = tuple(sorted({cause for _, _, cause, _ in rows}))
    found = tuple(
        HumanLabel(line, item, (model,), causes.index(cause), rater=rater)
        for line, (item, model, cause, rater) in enumerate(rows, start=2)
    )
    return CauseLabels("c.csv", found, causes)


def test_shares_of_causes() -> None:
    table = table_of(20, "ab")
    causes = error_causes(
        labels(
            ("q0", "a", "x", "ann"),
            ("q0", "a", "y", "ben"),
            ("q1", "a", "x", ""),
            ("q2", "b", "y", ""),
            ("zz", "b", "y", ""),
        ),
        {"fair": table},
    )
    a, b, every = causes.rows
    assert [share.value for share in a.shares] == [0.75, 0.25]
    assert [share.value for share in b.shares] == [0, 1]
    assert every.model == ""
    assert [share.value for share in every.shares] == pytest.approx([0.5, 0.5])
    assert (a.n_labelled, every.n_labelled) == (2, 3)
    assert a.n_below == int(np.sum(table.scores[:, 0] < 1))
    assert "1 label" in str(causes.notes[0])
    with pytest.raises(AnalysisError, match=r"Nothing in c\.csv"):
        error_causes(labels(("zz", "b", "y", "")), {"fair": table})


def test_raters_agree_as_cohen_says() -> None:
    rng = np.random.default_rng(0)
    said = rng.integers(0, 3, (40, 2))
    said[:25, 1] = said[:25, 0]
    names = "xyz"
    rows = [
        (f"q{k}", "a", names[cause], rater)
        for k, both in enumerate(said)
        for rater, cause in zip(("ann", "ben"), both, strict=True)
    ]
    table = table_of(40, "ab")
    [pair] = error_causes(labels(*rows), {"fair": table}).raters
    assert (pair.first, pair.second, pair.n) == ("ann", "ben", 40)
    expected = cohen_kappa(said[:, 0].tolist(), said[:, 1].tolist()).value
    assert pair.kappa.value == pytest.approx(expected)
    assert pair.kappa.lower < expected < pair.kappa.upper


def test_raters_without_a_common_answer() -> None:
    given = labels(("q0", "a", "x", "ann"), ("q1", "a", "y", "ben"))
    [pair] = error_causes(given, {"fair": table_of(5, "ab")}).raters
    assert math.isnan(pair.kappa.value)


def test_an_item_in_two_benchmarks() -> None:
    table = table_of(5, "ab")
    with pytest.raises(AnalysisError, match="add a column benchmark"):
        error_causes(labels(("q0", "a", "x", "")), {"one": table, "two": table})
