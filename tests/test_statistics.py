"""Every figure's claim holds in a small simulation; and the table that shows them."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.claims import mean, measure, modules, share
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


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda p: p.stem)
def test_scripts_find_the_statistics_of_python(script: Path) -> None:
    """The folder of a script comes first when it is run, and there is a statistics.py in it."""
    code = (
        f"import runpy, sys; sys.path[0] = {str(script.parent)!r}; runpy.run_path({str(script)!r});"
        "from statistics import fmean"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
