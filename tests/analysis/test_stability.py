"""Stability of leaderboards: tables 2 and 3 of SEAL in small, by hand and by brute force."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from rich.cells import cell_len
from scipy.stats import spearmanr

from tests.analysis.test_comparison import Folder, full, lists
from tests.ranking_logs.builders import all_pairs, call, listed
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.stability import stability
from tiebreak.rankers import RankingError, Resampling
from tiebreak.reason import Reason
from tiebreak.report.sheets.stability import data_of, sheets_of


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.slow
def test_subsamples_by_brute_force(folder: Folder, tmp_path: Path) -> None:
    # Seed k draws as NumPy does; each half is written as a log of its own and ranked.
    random = Random(1)
    orders = ["".join(random.sample("abcde", 5)) for _ in range(8)]
    items = [all_pairs(f"q{k}", order) for k, order in enumerate(orders)]
    path = folder.add(*items)
    [found] = stability([path], shares=[0.5], n_seeds=4).subsampled
    expected = []
    for seed in range(4):
        drawn = np.random.default_rng(seed).choice(8, 4, replace=False)
        part = Folder(tmp_path / str(seed)).add(*(items[k] for k in drawn))
        expected.append(spearmanr(ranks_of(part), ranks_of(path)).statistic)
    assert found.stability.rhos == pytest.approx(expected)
    ends = (found.stability.mean, found.stability.minimum)
    assert ends == pytest.approx((np.mean(expected), min(expected)))
    assert (found.stability.n_drawn, found.stability.n_items, found.n_models) == (4, 8, 5)


def ranks_of(path: Path) -> list[float]:
    [board] = leaderboards([path], how=Resampling(draws=1))
    return [float(row.rank or 0) for row in sorted(board.rows, key=lambda row: row.model)]


@pytest.mark.slow
def test_runs_against_each_other(folder: Folder) -> None:
    # Table 3 in small. abcd and abdc: 0.8; abcd and bacd: 0.8; abdc and bacd: 1 - 6·4/60 = 0.6.
    for repeat, order in enumerate(["abcd", "abdc", "bacd"], start=1):
        folder.add(*full(2, order), repeat=repeat)
    folder.add(*lists(2, "abcd"))
    [runs] = stability([folder.path]).repeated
    assert (runs.label, runs.n_items, runs.n_models) == ("full_pairwise", 2, 4)
    assert runs.stability.rhos == pytest.approx([0.8, 0.8, 0.6])
    assert (runs.stability.mean, runs.stability.minimum) == pytest.approx((2.2 / 3, 0.6))
    # a, a, b: one of three pairs agrees.
    assert (runs.stability.top1_matches, runs.stability.n_pairs) == (1, 3)


@pytest.mark.slow
def test_other_settings_and_other_pools_are_no_runs(folder: Folder) -> None:
    folder.add(*full(2), swap="never")
    folder.add(*full(2), swap="always")
    folder.add(*full(2, "abce"), swap="always")
    folder.add(*full(2, benchmark="mmlu"), swap="always")
    assert stability([folder.path]).repeated == ()


def test_runs_are_compared_on_what_all_ranked(folder: Folder) -> None:
    folder.add(*full(3))
    folder.add(*full(2), repeat=2)
    report = stability([folder.path])
    assert report.repeated[0].n_items == 2
    [note] = map(str, report.notes)
    assert "are compared on 2 items (ranked: 3 by full_pairwise, 2 by " in note
    folder.add(all_pairs("q9", "abcd"), repeat=3)
    report = stability([folder.path], shares=[0.5])
    assert report.repeated == ()
    run = {"label": "full_pairwise", "benchmark": "gsm8k"}
    assert Reason("nothing_in_common", n=3, **run) in report.notes


def test_a_share_that_takes_all_items_is_pointed_out(folder: Folder) -> None:
    folder.add(*full(3))
    notes = stability([folder.path], shares=[0.5, 0.9]).notes
    assert notes == (Reason("part_of_all", name="full_pairwise", benchmark="gsm8k", share=0.9),)
    for options in ({"shares": [0.0]}, {"shares": [1.5]}, {"n_seeds": 0}):
        with pytest.raises(RankingError, match="share"):
            stability([folder.path], **options)


def test_what_ranks_nothing_is_named(folder: Folder) -> None:
    folder.add(listed("q0", None, groups=[["a"], ["b"], ["c"]]))
    report = stability([folder.path])
    assert report.subsampled == ()
    assert report.notes == (Reason("no_item_ranked_on", name="listwise", benchmark="gsm8k"),)


def test_all_tied_has_no_correlation(folder: Folder) -> None:
    groups = [[model] for model in "abc"]
    for repeat in (1, 2):
        folder.add(*(listed(f"q{k}", ["abc"], groups=groups) for k in range(4)), repeat=repeat)
    report = stability([folder.path], n_seeds=5)
    [runs] = report.repeated
    assert np.isnan([runs.stability.mean, report.subsampled[0].stability.mean]).all()
    said = [*map(str, report.notes)]
    assert "listwise on gsm8k at 0.5: undefined in 5 of 5 subsamples, which are left out" in said
    assert said[-1] == f"Runs of listwise on gsm8k: {runs.stability.reason}"
    assert str(report) == "2 subsampled logs, 1 repeated run"


def test_the_tables_and_json(folder: Folder) -> None:
    folder.add(*full(4))
    folder.add(*full(4, "bacd"), repeat=2)
    report = stability([folder.path], shares=[0.25, 0.5], n_seeds=3)
    for width in (80, 120):
        text = show(sheets_of(report), width)
        assert max(cell_len(row) for row in text.splitlines()) <= width
    rows = [row.split() for row in text.splitlines() if row.startswith("gsm8k")]
    assert " ".join(rows[0]) == "gsm8k full_pairwise 1 of 4 1.000 1.000 100%"
    assert " ".join(rows[-1]) == "gsm8k full_pairwise 2 4 0.800 0.800 0/1 (0%)"
    data = round_trip(data_of(report))
    assert (data["format"], data["n_seeds"]) == ("tiebreak/stability", 3)
    assert [row["stability"]["rhos"] for row in data["repeated"]] == [pytest.approx([0.8])]


@pytest.mark.parametrize("cached", [0, 1])
def test_a_single_reply_from_the_cache_is_told(folder: Folder, cached: int) -> None:
    for run in range(2):
        calls = [call(cached=k < run * cached) for k in range(3)]
        folder.add(all_pairs("q1", "abc", calls=calls))
    notes = [*map(str, stability([folder.path], n_seeds=1).notes)]
    assert ["1 of its 3 calls are from the cache" in note for note in notes if "cache" in note] == [
        True
    ] * cached
