"""Every kind of finding as it is shown, exported and tabled, as `expected/*.txt` has it.

The findings are those of `tests/analysis/test_whole_*`, where their figures are checked.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.analysis import test_whole_peers
from tests.analysis.alignment.panels import people
from tests.analysis.whole import told
from tests.expected import check
from tests.report.showing import printed, round_trip
from tests.report.test_ranges import WHOLE, findings
from tiebreak.analysis.alignment import align
from tiebreak.report import ReportError, csv
from tiebreak.report.sheets import _MODULES, sheets_of


def alignment(folder: Path) -> Any:
    logs = test_whole_peers.write(folder)
    human = people("badx", gsm8k="badx")
    return align(logs, human, methods=("borda", "average"), how=test_whole_peers.HOW)


KINDS = ("board_seal", "comparison", "stability", "pairs", "peers", "stars", "stars_linked")
TABLES = ("diagnosis", "contest", "contest_of_eight", "contest_tiers", "elections")
LABELS = ("calibration_stars", "calibration_pairs")
CASES = {name: WHOLE[name] for name in (*KINDS, *TABLES, *LABELS)} | {"alignment": alignment}


def forms(finding: Any) -> Iterator[str]:
    """On a terminal, every figure of the JSON document, and CSV where there is some."""
    name = _MODULES[type(finding).__name__]
    module = import_module(f"tiebreak.report.sheets.{name.removesuffix('*')}")
    shown = [finding] if name.endswith("*") else finding
    yield printed(sheets_of(finding), 100)
    yield told(round_trip(module.data_of(shown)))
    if hasattr(module, "rows_of"):
        try:
            yield csv.text(module.rows_of(shown))
        except ReportError as error:
            yield str(error)


# Where logs lie must not decide how lines fold.
@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path()


@pytest.mark.parametrize("name", CASES)
def test_every_form_and_no_line_is_too_long(name: str, here: Path) -> None:
    made = list(findings(CASES[name](here)))[:2]
    check(__file__, f"{name}.txt", "\n".join(form for finding in made for form in forms(finding)))
    for width in (80, 99, 110, 200):
        text = printed((sheet for finding in made for sheet in sheets_of(finding)), width)
        assert max(map(cell_len, text.splitlines())) <= width
        assert "…" not in " ".join(text.split()).replace(", … (", "")  # nothing is cut
