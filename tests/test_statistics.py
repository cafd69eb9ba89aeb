"""Every figure's claim holds in a small simulation; the data file and the pages that show them."""

import ast
import math
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from benchmarks.claims import Claim, figures, mean, measure, modules, share, worlds
from tests.cases import cases
from tests.harness import ROOT
from tiebreak.rankers import pairwise_tests
from tools import statistics

SCALE = 0.05


def promise(claim: Claim) -> tuple[str, str, str]:
    """What is claimed of a figure in a setting, whatever the number of worlds."""
    simulated = claim.figure.endswith("by the true one")  # the truth is, so its error is allowed
    return claim.figure, claim.setting, "" if simulated else claim.claimed


@pytest.mark.slow
@pytest.mark.parametrize("name", modules())
def test_no_claim_is_missed_and_the_last_full_run_has_all(name: str) -> None:
    # With a tenth of the signs p-values are as exact, and 1 in 1,000 is small enough for any claim.
    with patch.object(pairwise_tests, "_FLIPS", 999):
        claims = measure(name, SCALE)
    assert [claim for claim in claims if claim.met is False] == []
    assert set(map(promise, claims)) <= set(map(promise, statistics.read()[name])), (
        f"measured anew? python benchmarks/statistics.py --only {name} --out docs/statistics.csv"
    )


@pytest.mark.parametrize(("hits", "runs", "claimed", "met"), cases(__file__, "share"))
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
def test_a_script_finds_the_statistics_of_python_and_keeps_no_tenth_of_the_worlds(
    tmp_path: Path,
) -> None:
    out = tmp_path / "statistics.csv"
    run = [sys.executable, str(ROOT / "benchmarks" / "statistics.py")]
    done = subprocess.run(
        [*run, "--quick", "--out", str(out)], capture_output=True, text=True, cwd=ROOT.parent
    )
    assert done.returncode == 2
    assert "not allowed with argument --quick" in done.stderr
    assert not out.exists()


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


@pytest.mark.parametrize("name", modules())
def test_every_module_says_where_its_figures_are_shown(name: str) -> None:
    assert figures(name)
    assert all(figure and where for figure, where in figures(name))


def test_the_data_file_has_every_module_in_order() -> None:
    assert list(statistics.read()) == modules()


def test_the_data_file_is_read_and_written_without_loss(tmp_path: Path) -> None:
    copy = tmp_path / "copy.csv"
    statistics.write(statistics.read(), copy)
    assert copy.read_bytes() == statistics.DATA.read_bytes()
    assert statistics.read(tmp_path / "none.csv") == {}


@pytest.mark.parametrize("page", statistics.PAGES, ids=lambda page: page.stem)
def test_pages_say_what_the_last_full_run_measured(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert list(statistics.faults(text, statistics.read())) == []


def test_every_level_that_is_not_held_is_on_its_page() -> None:
    text = statistics.LEVELS_PAGE.read_text(encoding="utf-8")
    assert list(statistics.not_held(text, statistics.read())) == []


@pytest.mark.parametrize(("page", "most"), list(zip(statistics.PAGES, (400, 750), strict=True)))
def test_pages_are_short_and_their_numbers_are_measured_or_claimed(page: Path, most: int) -> None:
    text = page.read_text(encoding="utf-8")
    seen = statistics.NUMBER.sub("", text)
    claims = [claim for claims in statistics.read().values() for claim in claims]
    known = " ".join(f"{claim.figure} {claim.setting} {claim.claimed}" for claim in claims)
    settings = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", known)}
    for number, percent in re.findall(r"(\d*\.\d+|\d+(?=%|–\d+%))(%?)", seen):
        assert float(number) in settings or float(number) / 100 in settings, (number, percent)
    words = statistics.NUMBER.sub(r"\1", text).split()
    assert sum(any(map(str.isalnum, word)) for word in words) <= most


def test_the_page_of_tables_has_every_row() -> None:
    measured = statistics.read()
    page = statistics.tables(measured)
    parts = re.split(r"^## (.*)$", page, flags=re.M)
    rows = {
        name: part.count("\n| ") - 2 for name, part in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert {name: rows[name] for name in measured} == {
        name: len(claims) for name, claims in measured.items()
    }
    assert rows["Which figure is measured where"] == sum(len(figures(name)) for name in measured)
    totals = statistics.totals(measured)
    assert rows["Missed or not held"] == totals["MISSED"] + totals["not held"]


HELD = "A: 95% interval"
SMALL = {
    "boards": [
        share(HELD, "2 models, 20 items", 95, 100, (0.93, 0.97)),
        share(HELD, "8 models, 20 items", 285, 300, (0.93, 0.97)),
        share(HELD, "8 models, 120 items", 60, 100),
        mean("B: width", "2 models", [1.25, 1.25]),
    ]
}


@pytest.mark.parametrize(("what", "like", "shown"), cases(__file__, "numbers of the summary"))
def test_numbers_of_the_summary(what: str, like: str, shown: str) -> None:
    assert statistics.written(statistics.value(SMALL, "boards", what), like) == shown


@pytest.mark.parametrize(
    ("name", "what", "rows"), cases(__file__, "a title that means no single row")
)
def test_a_title_that_means_no_single_row(name: str, what: str, rows: int) -> None:
    with pytest.raises(LookupError, match=f"^{rows} rows of `{name}` are “"):
        statistics.value(SMALL, name, what)


def linked(shown: str, what: str) -> str:
    return f'[{shown}](reference/figures.md#boards "{what}")'


SAID = f"{statistics.NOT_HELD}\n\nIt holds {linked('60%', f'{HELD} · 120 items')}.\n\n## More\n"


def test_totals_and_states() -> None:
    assert statistics.totals(SMALL) == {
        "rows": 4, "claims": 2, "yes": 2, "MISSED": 0, "not held": 1
    }  # fmt: skip
    assert statistics.value(SMALL, "", "claims") == 2
    assert [statistics.state(claim) for claim in SMALL["boards"]] == ["yes", "yes", "not held", ""]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (SAID, None),
        (SAID.replace("60%", "61%"), "61% is 60% by now: “It holds 61%.”"),
        (SAID + linked("1", "C"), "0 rows of `boards` are “C”: 1 in “1”"),
        (
            SAID.replace("boards", "none"),
            f"0 rows of `none` are “{HELD} · 120 items”: 60% in “It holds 60%.”",
        ),
        (
            "",
            f"“{statistics.NOT_HELD}” has nothing of `boards`: {HELD} (8 models, 120 items): 0.600,"
            " not held",
        ),
        (
            SAID.replace("It", linked("1.2", "B: width")),
            f"“{statistics.NOT_HELD}” has what is held in every setting by now, of `boards`: "
            "B: width",
        ),
    ],
)
def test_what_the_summary_says_otherwise(text: str, fault: str | None) -> None:
    faults = chain(statistics.faults(text, SMALL), statistics.not_held(text, SMALL))
    assert next(faults, None) == fault
    renewed = statistics.renewed(text, SMALL)
    assert renewed == text.replace("61%", "60%")


def test_a_missed_claim_has_to_stand_in_the_summary() -> None:
    missed = {"boards": [share("C", "2 models", 20, 40, (0.9, 1.0))]}
    [fault] = statistics.not_held("", missed)
    assert fault.endswith("`boards`: C (2 models): 0.500, MISSED")
