"""No figure is shown or exported outside the range that it can have, and none outside its interval.

Of every kind of finding some, as small and uneven as they come: few items, one round, all or
nothing.
"""

import csv as standard_csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.claims.worlds import ranking_log
from tests.analysis import test_whole_boards, test_whole_peers, test_whole_stars, test_whole_tables
from tests.cases import cases
from tests.ranking_logs.builders import item, match, write_log
from tiebreak.analysis.comparison import compare
from tiebreak.analysis.frames import leaderboard_df
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import board_of
from tiebreak.analysis.pair import compare_pair
from tiebreak.publish.runs import read_runs
from tiebreak.publish.tables import leaderboard_rows
from tiebreak.rankers import Resampling
from tiebreak.report import csv
from tiebreak.report.sheet import Sheet
from tiebreak.report.sheets import _MODULES, leaderboard, sheets_of
from tiebreak.scorers.ballots import ItemBallots

MODELS = "abcd"
QUICK = Resampling(draws=100)
ANY = (-math.inf, math.inf)
UNIT = (0.0, 1.0)

# The first line that fits a kind of finding and a heading; headings that are names come last.
RANGES: dict[str, tuple[float, float]] = cases(__file__, "ranges")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\d)")


def outside(kind: str, sheet: Sheet) -> Iterator[str]:
    """The cells of a sheet with a number outside the range of their column."""
    for table in (section.table for section in sheet.sections if section.table):
        for at, column in enumerate(table.columns):
            # An interval has the range of the figure before it.
            of = table.columns[at - bool(re.match(r"\d+% interval", column.heading))].heading
            name = f"{kind} {of}"
            low, high = next(own for fits, own in RANGES.items() if re.fullmatch(fits, name))
            for row in table.rows if column.numeric else ():
                texts = f"{row[at].text} {row[at].under}".replace("p = .", "p = 0.")
                texts = re.sub(r"\([^)]*\)|\d+/\d+| of .*", "", texts)
                found = [float(text.replace(",", "")) for text in NUMBER.findall(texts)]
                top = 100.0 if high == 1 and "%" in texts else high
                if any(not low <= number <= top for number in found):
                    yield f"{name}: {texts}"


def findings(found: Any) -> Iterator[Any]:
    """What has sheets, among findings nested at will."""
    if is_dataclass(found) and type(found).__name__ in _MODULES:
        yield found
    elif isinstance(found, Mapping):
        yield from (part for one in found.values() for part in findings(one))
    elif isinstance(found, list | tuple):
        yield from (part for one in found for part in findings(one))


WHOLE = {
    name: make
    for module in (test_whole_boards, test_whole_peers, test_whole_stars, test_whole_tables)
    for name, make in module.CASES.items()
    if name not in ("comparison", "board_all_pairs")  # which are not whole
}
WHOLE["comparison"] = lambda folder: compare(test_whole_boards.compared(folder), how=QUICK)


# Of an item only some models are judged: what is estimated leaves [0, 1], not its interval alone.
UNEVEN: tuple[dict[str, float], ...] = ({"ad": 1.0}, {"ac": 1.0, "bd": 1.0}, {"ab": 1.0, "bd": 1.0})


def points(number: int, margins: Mapping[str, float], models: str = MODELS) -> ItemBallots:
    """An item of a round robin with the margins of its matches."""
    played = [match(pair[0], pair[1], margin) for pair, margin in margins.items()]
    ballots = item(f"q{number}", played, groups=[[one] for one in models], protocol="round_robin")
    return ballots.model_copy(update={"placed_by": "points", "lengths": dict.fromkeys(models, 1)})


def uneven() -> list[ItemBallots]:
    return [
        points(k, played, "".join(sorted({*"".join(played)}))) for k, played in enumerate(UNEVEN)
    ]


def few_matches(folder: Path) -> Any:
    """A round robin of three items, of whose pairs some never met."""
    log = write_log(folder / "r.eval", uneven())
    return [board_of(ranking_log(uneven()), how=QUICK), compare_pair(log, "a", "d")]


@pytest.mark.parametrize("name", ["few_matches", *WHOLE])
def test_no_sheet_shows_a_number_outside_its_range(name: str, tmp_path: Path) -> None:
    made = few_matches(tmp_path) if name == "few_matches" else WHOLE[name](tmp_path)
    for one in findings(made):
        kind = _MODULES[type(one).__name__].removesuffix("*").rpartition(".")[2]
        assert [text for sheet in sheets_of(one) for text in outside(kind, sheet)] == []


def test_the_estimates_of_the_sample_do_leave_the_range() -> None:
    means = np.nanmean(ItemTable.of(ranking_log(uneven()).ranked).borda, axis=0)
    assert means.max() > 1
    assert means.min() < 0


def test_tables_of_the_sample_and_what_is_published(tmp_path: Path) -> None:
    log = write_log(tmp_path / "r.eval", uneven())
    all_inside(leaderboard_df(log, how=QUICK).to_dict("records"), "borda")
    [run] = read_runs([log], how=QUICK)[0]
    published = [row for row in leaderboard_rows(run) if row["metric"] == "normalized_borda"]
    assert len(published) == len(MODELS)
    all_inside(published, "value")


PAIRS = [one + other for k, one in enumerate(MODELS) for other in MODELS[k + 1 :]]
BOARDS = st.lists(
    st.dictionaries(
        st.sampled_from(PAIRS), st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=3
    ),
    min_size=1,
    max_size=12,
)
KEYS = {"borda": UNIT, "value": ANY, "rate": UNIT, "share": UNIT, "gain": (-0.5, 0.5)}


def intervals(data: Any, key: str = "") -> Iterator[tuple[str, float, float, float]]:
    """Every figure of some JSON with its interval: its name, lower bound, value, upper bound.

    An estimate has the name of its `key`.
    """
    if isinstance(data, Mapping):
        if data.get("lower") is not None:
            for name in KEYS.keys() & data.keys():
                named = key if name == "value" and key in KEYS else name
                yield named, data["lower"], data[name], data["upper"]
        for name, part in data.items():
            yield from intervals(part, name)
    elif isinstance(data, list | tuple):
        for part in data:
            yield from intervals(part, key)


def all_inside(rows: Iterable[Mapping[Any, Any]], value: str) -> None:
    for row in rows:
        if row["lower"] not in ("", None) and not math.isnan(float(row["lower"])):
            lower, middle, upper = (float(row[name]) for name in ("lower", value, "upper"))
            assert 0 <= lower <= middle <= upper <= 1


@settings(max_examples=60, deadline=None)
@given(BOARDS, st.booleans())
def test_bounds_of_every_exported_board(items: list[dict[str, float]], whole: bool) -> None:
    there = [MODELS if whole else "".join(sorted({*"".join(played)})) for played in items]
    log = ranking_log([points(k, *each) for k, each in enumerate(zip(items, there, strict=True))])
    board = board_of(log, how=QUICK)
    assert not [text for sheet in sheets_of(board) for text in outside("leaderboard", sheet)]
    for name, lower, value, upper in intervals(leaderboard.data_of([board])):
        low, high = KEYS[name]
        assert low <= lower <= value <= upper <= high
    assert all(-1 <= pair.difference <= 1 for pair in board.pairs if pair.n_items)
    text = csv.text(leaderboard.rows_of([board]), leaderboard.columns_of())
    all_inside(list(standard_csv.DictReader(io.StringIO(text))), "borda")
