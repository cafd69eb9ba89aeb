"""Every figure's claim holds in a small simulation; and the table that shows them."""

import ast
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.claims import mean, measure, modules, share, worlds
from tests.harness import ROOT

SCALE = 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", modules())
def test_no_claim_is_missed(name: str) -> None:
    missed = [claim for claim in measure(name, SCALE) if claim.met is False]
    assert missed == []


@pytest.mark.parametrize(
    ("hits", "runs", "claimed", "met"),
    [
        (40, 40, (0.93, 0.97), True),  # .97 gives 40 of 40 in 30% of the runs
        (400, 400, (0.93, 0.97), False),
        (32, 40, (0.93, 0.97), False),
        (2, 40, (0, 0.01), True),
        (3, 40, (0, 0.01), False),
        (0, 40, (0, 0.01), True),
        (15, 40, (0.5, 1), True),
        (12, 40, (0.5, 1), False),
        (3, 40, None, None),
    ],
)
def test_share(hits: int, runs: int, claimed: tuple[float, float] | None, met: bool | None) -> None:
    claim = share("f", "s", hits, runs, claimed)
    assert claim.met is met
    assert claim.measured == hits / runs
    assert claim.error > 0


def test_mean_leaves_out_what_is_undefined() -> None:
    claim = mean("f", "s", [1.0, 2.0, 3.0, math.nan], (-math.inf, 1.0))
    assert (claim.measured, claim.runs, claim.met) == (2.0, 3, True)
    assert claim.error == pytest.approx(1 / math.sqrt(3))
    assert mean("f", "s", np.tile([1.0, 2.0, 3.0], 100), (-math.inf, 1.0)).met is False


@pytest.mark.parametrize(
    ("claimed", "text"),
    [((0, 0.05), "≤ 0.05"), ((0.8, 1), "≥ 0.8"), ((0.93, 0.97), "0.93 to 0.97"), ((0, 0), "0")],
)
def test_claims_in_words(claimed: tuple[float, float], text: str) -> None:
    assert share("f", "s", 0, 40, claimed).claimed == text


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda p: p.stem)
def test_scripts_leave_their_folder_first(script: Path) -> None:
    """It comes first on the path, and there is a statistics.py in it that is not Python's."""
    body = ast.parse(script.read_text(encoding="utf-8")).body
    first = [ast.unparse(statement) for statement in body[1:5]]
    assert first[:3] == ["import sys", "from pathlib import Path", "sys.path.pop(0)"]
    assert first[3].startswith("sys.path.insert(0, ")


@pytest.mark.slow
def test_a_script_finds_the_statistics_of_python() -> None:
    run = [sys.executable, str(ROOT / "benchmarks" / "rankers.py"), "--help"]
    subprocess.run(run, check=True, capture_output=True, cwd=ROOT.parent)


@pytest.mark.parametrize("ties", [0.0, 0.8])
def test_worlds_know_their_truth(ties: float) -> None:
    rng, theta = np.random.default_rng(0), worlds.near_ties(8, 0.5)
    errors = worlds.board(rng, theta, 5000, ties=ties).mean(axis=0) - worlds.true_borda(
        theta, ties=ties
    )
    assert np.abs(errors).max() < 4 * 0.5 / math.sqrt(5000)
    passed = worlds.passes(rng, theta, 5000).mean(axis=0) - worlds.pass_rates(theta)
    assert np.abs(passed).max() < 4 * 0.2 / math.sqrt(5000)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["seal", "full_pairwise"])
def test_planted_ballots(protocol: str) -> None:
    rng = np.random.default_rng(0)
    bound = worlds.position_bound(0.6)
    items = worlds.judged(rng, np.zeros(8), 200, bound, protocol=protocol, ties=0.3)
    assert len(worlds.ranking_log(items).ranked) == 200
    pairs = [len(item.groups) for item in items]
    played = [len(item.matches) for item in items]
    assert played == [n - 1 if protocol == "seal" else n * (n - 1) // 2 for n in pairs]
    margins = [match.verdicts[0].margin or 0 for item in items for match in item.matches]
    assert np.mean(np.array(margins) > 0) == pytest.approx(0.6, abs=0.05)


def test_reviewers_err_together_as_planted() -> None:
    answers = np.zeros((4000, 6))
    ranks = worlds.panel(np.random.default_rng(0), answers, np.ones(4), together=2, correlation=0.8)
    found = [np.corrcoef(ranks[:, 0].ravel(), ranks[:, other].ravel())[0, 1] for other in (1, 2)]
    # Spearman's ρ to be expected of 6 pairs of normal variables (Moran 1948).
    expected = 6 / (7 * math.pi) * (math.asin(0.8) + 4 * math.asin(0.4))
    assert found == pytest.approx([expected, 0.0], abs=0.03)


def test_every_module_is_in_the_list_of_figures() -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    figures = page.split("## Which figure is measured where")[1].split("## Measured")[0]
    missing = [name for name in modules() if f"`{name}`" not in figures]
    assert missing == []
