"""Turn findings into sheets, into data for JSON, and some into rows for CSV: one module per kind.

Each module has `sheets_of(finding)` for readers, `data_of(finding)` for the documented JSON, and,
if the finding has a CSV form, `rows_of(finding)`.
"""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from tiebreak.report.sheet import Sheet

# The module of each class of findings; a star marks modules whose functions take several findings.
_MODULES = {
    "Alignment": "alignment",
    "AnchoredBoard": "anchored*",
    "Audit": "audit",
    "Calibration": "calibration",
    "CanaryReport": "canaries*",
    "CandidatePool": "audit",
    "Comparison": "comparison",
    "Contamination": "tiebreak.fair.report.contamination",
    "ContestReport": "contest",
    "Diagnosis": "diagnosis*",
    "Election": "consensus*",
    "LabelsNeeded": "labels_needed*",
    "Leaderboard": "leaderboard*",
    "PairComparison": "pairs*",
    "PeerReport": "peers",
    "Ranking": "ranking",
    "Simulation": "tiebreak.demo.lab.sheet",
    "StabilityReport": "stability",
    "StarReport": "stars",
    "StarStability": "tiebreak.fair.report.star_stability",
    "VoteBoard": "votes*",
}


def sheets_of(finding: object) -> list[Sheet]:
    """The sheets of any finding, or of a sequence of findings of one kind.

    Raises:
        TypeError: the object is not a finding.
    """
    findings = list(finding) if isinstance(finding, Sequence) else [finding]
    if not findings:
        return []
    module = module_of(findings[0])
    if _kind(findings[0]).endswith("*"):
        return list(module.sheets_of(findings))
    return [sheet for part in findings for sheet in module.sheets_of(part)]


def module_of(finding: object) -> ModuleType:
    """The module that makes the sheets, the data and the rows of a finding.

    Raises:
        TypeError: the object is not a finding.
    """
    name = _kind(finding).removesuffix("*")
    return import_module(name if "." in name else f"{__name__}.{name}")


def _kind(finding: object) -> str:
    name = type(finding).__name__
    if name not in _MODULES:
        raise TypeError(f"{name} is not a finding; there are: {', '.join(_MODULES)}")
    return _MODULES[name]


def html_of(finding: object) -> str:
    """A finding as HTML for a notebook."""
    from tiebreak.report import html

    return html.fragment(sheets_of(finding))


def show(finding: object) -> None:
    """Print a finding, or a sequence of findings of one kind, as the command line does."""
    from tiebreak.report import terminal

    terminal.show(sheets_of(finding))
