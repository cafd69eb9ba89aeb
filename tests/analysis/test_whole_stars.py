"""Whole findings about stars, figure by figure, as `expected/*.txt` has them.

The figures were checked once, by hand or by the second methods of the other test modules; draws
are few, of fixed seeds. A change of a line there is a change of what users are told.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.test_stars import Stars, write
from tests.analysis.whole import told
from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import call, starred
from tiebreak.analysis.stars import star_report
from tiebreak.fair.analysis.star_samples import star_samples
from tiebreak.fair.analysis.star_stability import star_stability
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.tables import ScoreTable
from tiebreak.tables.dates import ReleaseDate
from tiebreak.tables.human import CauseLabels, HumanLabel

HOW = Resampling(draws=20, seed=3)

# Each column is a question; "-" has no usable verdict, " " was not asked.
FIRST = {"a": "333233313323", "b": "32323-112320", "c": "210301120213", "d": "100112010021"}
SECOND = {"a": "32303313", "b": "33231321", "c": "31001120", "d": "11210020"}


def items(rows: Mapping[str, str], first: int = 0, **fields: Any) -> list[ItemBallots]:
    """An item for each column; of each three columns the first two are of one question."""
    found = []
    for number, column in enumerate(zip(*rows.values(), strict=True), start=first):
        stars: Stars = {
            model: None if star == "-" else int(star)
            for model, star in zip(rows, column, strict=True)
            if star != " "
        }
        if stars:
            cluster = f"r{number - (number % 3 == 1)}"
            subject = ("law", "medicine", "")[number % 3]
            found.append(starred(f"q{number}", stars, subject=subject, cluster=cluster, **fields))
    return found


def two_rounds(folder: Path) -> Path:
    """Two samples of questions; models b and c alone in a log of their own the second time."""
    write(folder / "1.eval", items(FIRST, calls=[call("score", model="j/one", cost=0.01)]))
    one, other = ({m: SECOND[m] for m in names} for names in ("ad", "bc"))
    write(folder / "2.eval", items(one, 100), day=2)
    write(folder / "3.eval", items(other, 100, calls=[call("score", model="j/two")]), day=3)
    return folder


def apart(folder: Path) -> Path:
    """Three models with four questions in common, and some of their own."""
    rows = {"a": "3323132     ", "b": "2313   232  ", "c": "1202      10"}
    for model, stars in rows.items():
        write(folder / f"{model}.eval", items({model: stars}))
    return folder


def styles(folder: Path) -> Path:
    """The same questions in two styles, and questions of their own in a third one."""
    for number, (name, rows, first) in enumerate(
        [("plain", FIRST, 0), ("steps", {**SECOND, "d": "        "}, 0), ("terse", SECOND, 50)]
    ):
        write(folder / f"{name}.eval", items(rows, first, benchmark=name), day=1 + number)
    return folder


CAUSES = cases(__file__, "causes")


def whole_stability(folder: Path) -> Any:
    elsewhere = np.array([[0.9, 3.0], [0.7, np.nan], [0.8, 1.0], [np.nan, 2.0]])
    named = ("wrong fact", "wrong sum")
    causes = tuple(
        HumanLabel(line, item, (model,), named.index(cause), benchmark, rater)
        for line, (item, model, cause, rater, benchmark) in enumerate(CAUSES, start=2)
    )
    days = {"b": date(2025, 3, 1), "a": date(2025, 3, 1), "c": date(2024, 1, 9)}
    return star_stability(
        two_rounds(folder),
        sizes=(5, 12, 20),
        orders=True,
        against=ScoreTable(tuple("abcd"), ("maths", "law"), elsewhere),
        dates=[ReleaseDate(model, day, "B" * (model == "b")) for model, day in days.items()],
        causes=CauseLabels("causes.csv", causes, named),
        n_draws=4,
        seed=5,
        level=0.9,
    )


def linked_samples(folder: Path) -> Any:
    logs = read_ranking_logs(apart(folder))
    return star_samples("gsm8k", logs, sizes=(9, 12, 30), reference="b", n_draws=3, level=0.8)


CASES: dict[str, Callable[[Path], Any]] = {
    "stars": lambda folder: star_report(two_rounds(folder), how=HOW),
    "stars_linked": lambda folder: star_report(apart(folder), reference="b", how=HOW),
    "stars_styles": lambda folder: star_report(styles(folder), how=HOW).styles,
    "star_stability": whole_stability,
    "star_samples_linked": linked_samples,
}


@pytest.mark.parametrize("name", CASES)
def test_every_figure(name: str, tmp_path: Path) -> None:
    check(__file__, f"{name}.txt", told(CASES[name](tmp_path), tmp_path))
