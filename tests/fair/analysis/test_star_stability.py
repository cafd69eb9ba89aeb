"""Stability of planted logs of stars: rounds, draws, neighbours, and what is said of them."""

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.test_stars import drawn, items_of, linked_logs, write
from tests.expected import check
from tests.ranking_logs.builders import all_pairs, write_log
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.stars import star_report
from tiebreak.fair.analysis.star_samples import StarSamples
from tiebreak.fair.analysis.star_stability import star_stability
from tiebreak.fair.report.star_stability import data_of, rows_of, sheets_of
from tiebreak.rankers import Resampling
from tiebreak.report.markdown import text
from tiebreak.tables import ScoreTable
from tiebreak.tables.dates import ReleaseDate
from tiebreak.tables.human import CauseLabels, HumanLabel


def rounds(folder: Path, sizes: tuple[int, ...], *, apart: bool = False) -> Path:
    """A log for each round, on questions of its own; or one for each model of each round."""
    for number, n in enumerate(sizes):
        stars = drawn(n, first=number)
        for model in "abc" if apart else [None]:
            items = items_of(stars, 1000 * number, own=model)
            write(folder / f"{number}{model or ''}.eval", items, day=1 + number)
    return folder


def only(path: Path, **options: object) -> StarSamples:
    [found] = star_stability(path, **options).samples  # type: ignore[arg-type]
    return found


def test_rounds_are_samples_of_their_own(tmp_path: Path) -> None:
    samples = only(rounds(tmp_path, (40, 60)))
    assert [turn.n_items for turn in samples.rounds] == [40, 60]
    for number, _ in enumerate(samples.rounds):
        board = star_report(tmp_path / f"{number}.eval", reference="a").boards[0]
        relative = {row.model: row.relative.value for row in board.rows}
        for row in samples.models:
            assert row.rounds[number] == pytest.approx(relative[row.model])
    for row in samples.models:
        assert row.mean == pytest.approx(np.mean(row.rounds))
        assert row.variance == pytest.approx(np.var(row.rounds, ddof=1))
    assert samples.models[0].expected.upper == samples.models[0].variance == 0


def test_one_model_to_a_log_gives_the_same_rounds(tmp_path: Path) -> None:
    whole = only(rounds(tmp_path / "whole", (30, 40)))
    each = only(rounds(tmp_path / "each", (30, 40), apart=True))
    assert each.models == whole.models
    assert [len(turn.logs) for turn in each.rounds] == [3, 3]


def test_linked_sessions_are_one_round(tmp_path: Path) -> None:
    linked_logs(tmp_path, 20, 30)
    samples = only(tmp_path, sizes=(50,), n_draws=5)
    assert [len(turn.logs) for turn in samples.rounds] == [3]
    assert any("questions of their own" in str(note) for note in samples.notes)


def test_the_same_sample_judged_again_is_no_round(tmp_path: Path) -> None:
    for day in (1, 2):
        write(tmp_path / f"{day}.eval", items_of(drawn(20)), day=day)
    assert len(only(tmp_path).rounds) == 1


def test_what_is_expected_of_rounds_is_the_square_of_their_standard_errors(tmp_path: Path) -> None:
    samples = only(rounds(tmp_path, (200, 200, 300)), reference="a")
    spreads = []
    for number in range(3):
        board = star_report(
            tmp_path / f"{number}.eval", reference="a", how=Resampling(draws=100)
        ).boards[0]
        row = next(row for row in board.rows if row.model == "c")
        from scipy.stats import t

        half = math.log(row.relative.upper / row.relative.lower) / 2
        spreads.append((row.relative.value * half / t.ppf(0.975, row.relative.n_items - 1)) ** 2)
    c = next(row for row in samples.models if row.model == "c")
    # An interval is a little wider than its standard error says (`relative_scores`, `pseudo`).
    assert c.expected.value == pytest.approx(np.mean(spreads), rel=0.03)
    assert c.expected.value < np.mean(spreads)


def test_draws_hold_what_they_say(tmp_path: Path) -> None:
    write(tmp_path / "s.eval", items_of(drawn(120)))
    samples = only(tmp_path, sizes=(30, 90, 120, 500), n_draws=400)
    assert [size.size for size in samples.sizes] == [30, 90]
    assert any("No draw of 120 and 500" in str(note) for note in samples.notes)
    assert [(size.n_items, size.n_clusters) for size in samples.sizes] == [(30, 30), (90, 90)]
    c = samples.models[-1]
    for size, one in zip(samples.sizes, c.sizes, strict=True):
        assert one.mean == pytest.approx(c.whole, abs=2)
        assert one.variance == pytest.approx(one.expected, rel=0.25)
        assert one.expected == pytest.approx(one.independent * (1 - size.n_items / 120))
    assert c.sizes[0].independent == pytest.approx(3 * c.sizes[1].independent)
    assert [(pair.above, pair.below) for pair in samples.neighbours] == [("a", "b"), ("b", "c")]
    swapped = [pair.sizes[0] for pair in samples.neighbours]
    assert max(swapped) <= 1 - samples.sizes[0].same_order <= sum(swapped)


def test_siblings_are_drawn_together(tmp_path: Path) -> None:
    copies = [
        one.model_copy(update={"item_id": f"{one.item_id}-{k}"})
        for k in range(3)
        for one in items_of(drawn(30))
    ]
    write(tmp_path / "s.eval", copies)
    [size] = only(tmp_path, sizes=(31,), n_draws=3).sizes
    assert (size.n_items, size.n_clusters) == (30, 10)


def test_a_reference_that_a_round_lacks(tmp_path: Path) -> None:
    write(tmp_path / "1.eval", items_of(drawn(20)), day=1)
    write(tmp_path / "2.eval", items_of(drawn(20, "bc", first=1), 100), day=2)
    samples = only(tmp_path, reference="a")
    assert all(math.isnan(row.rounds[1]) for row in samples.models)
    assert any("without the reference" in str(note) for note in samples.notes)
    with pytest.raises(AnalysisError, match="no answer of 'z'"):
        star_stability(tmp_path, reference="z")


def test_no_stars(tmp_path: Path) -> None:
    write_log(tmp_path / "pairs.eval", [all_pairs("q1", "abc")])
    with pytest.raises(AnalysisError, match="tiebreak/stars"):
        star_stability(tmp_path)


def test_what_is_shown(tmp_path: Path) -> None:
    dates = [ReleaseDate("c", date(2023, 1, 1), "X"), ReleaseDate("a", date(2025, 1, 1))]
    elsewhere = ScoreTable(tuple("cab"), ("C-Eval",), np.array([[0.7], [0.9], [0.5]]))
    causes = CauseLabels("c.csv", (HumanLabel(2, "q0", ("b",), 0),), ("wording",))
    logs = rounds(tmp_path, (40, 60))
    more: dict[str, Any] = {"dates": dates, "against": elsewhere, "causes": causes}
    whole = star_stability(logs, sizes=(20, 50), n_draws=5, **more)
    check(__file__, "star_stability.txt", text(sheets_of(whole)))
    report = star_stability(logs, sizes=(20, 50), n_draws=5)
    assert data_of(report)["format"] == "tiebreak/star-stability"
    rows = rows_of(report)
    assert len(rows) == 3 * (2 + 2 + 1)
    assert {row["sample"] for row in rows} >= {"round 1", "draws of 20", "all"}
