"""What every verb hands on.

The functions that do the work do not run here; their results are tested where they are.
`expected/handed.txt` has each command with the calls that it comes to.
"""

from pathlib import Path

import pytest

from tests import expected
from tests.cases import cases
from tests.cli.handed import Enough, Handed, Result

ENDS = cases(__file__, "ends")
"""With these a command ends here."""

BALLOTS = [Result("ballots", scores=None), Result("ballots of scores", scores=Result("scores"))]
TWO = [Path("x.svg"), Path("x-2.svg")]
RESULTS: dict[str, object] = {
    **{target: name and Result(name) for target, name in cases(__file__, "results").items()},
    "tiebreak.analysis.judge.canaries.canary_reports": [
        Result("report", canaries=Result("canaries", n_unscored=0))
    ],
    "tiebreak.study.estimate.cost.estimate_canaries": Result(
        "estimate",
        judges=Result("judges", judge="j"),
        protocols=[
            Result(
                "canaries",
                calls=Result("calls", likely=1200.0),
                tokens_in=Result("tokens", likely=3456.7),
                tokens_out=Result("tokens", likely=89.0),
                cost=Result("dollars", likely=1234.5),
            )
        ],
    ),
    "tiebreak.fair.report.figures.plot_star_stability": TWO,
    "tiebreak.inspect_tasks.canaries.ask": Result("log", location="log.eval"),
    "tiebreak.report.plot.plot_calibration": TWO,
    "tiebreak.report.plot.plot_contest": TWO,
    "tiebreak.tables.read_ballots": BALLOTS,
    "tiebreak.tables.read_scores": Result("table", benchmarks=("x", "y")),
}
"""What the others come to."""


def test_what_verbs_hand_on(
    handed: Handed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INSPECT_EVAL_MODEL_COST_CONFIG", raising=False)
    for name in ("rounds.yaml", "e.csv", "order.txt"):
        Path(name).touch()
    commands = expected.commands(__file__, "handed.txt")
    text = handed.recorded(commands, dict.fromkeys(ENDS, Enough()) | RESULTS)
    expected.check(__file__, "handed.txt", text)
