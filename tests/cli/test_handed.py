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
    "tiebreak.analysis.alignment.align": Result("alignment"),
    "tiebreak.analysis.calibration.calibrate": Result("calibration"),
    "tiebreak.analysis.comparison.compare": Result("comparison"),
    "tiebreak.analysis.consensus.elect": Result("election"),
    "tiebreak.analysis.contests.contest_report": Result("contest"),
    "tiebreak.analysis.contests.tier_report": Result("contest of tiers"),
    "tiebreak.analysis.contests.with_csd": Result("election and contest"),
    "tiebreak.analysis.contests.with_kemeny": Result("contest and election"),
    "tiebreak.analysis.judge.canaries.canary_reports": [
        Result("report", canaries=Result("canaries", n_unscored=0))
    ],
    "tiebreak.analysis.peers.review.peer_report": Result("peers"),
    "tiebreak.analysis.stability.stability": Result("stability"),
    "tiebreak.candidates.audit": Result("audit"),
    "tiebreak.candidates.load_candidates": Result("pool"),
    "tiebreak.candidates.write_parquet": None,
    **{
        f"tiebreak.cli.{verb}.show": None
        for verb in (
            *("aggregate", "align", "calibrate", "canary", "candidates", "compare", "csd"),
            *("peers", "stability"),
        )
    },
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
    "tiebreak.fair.analysis.star_stability.star_stability": Result("star stability"),
    "tiebreak.fair.report.figures.plot_star_stability": TWO,
    "tiebreak.inspect_tasks.canaries.ask": Result("log", location="log.eval"),
    "tiebreak.report.page.build.check_folder": None,
    "tiebreak.report.plot.check_plot": None,
    "tiebreak.report.plot.plot_alignment": None,
    "tiebreak.report.plot.plot_calibration": TWO,
    "tiebreak.report.plot.plot_comparison": None,
    "tiebreak.report.plot.plot_contest": TWO,
    "tiebreak.tables.dates.read_dates": Result("dates"),
    "tiebreak.tables.human.read_causes": Result("causes"),
    "tiebreak.tables.pool_scores.read_item_scores": Result("items"),
    "tiebreak.tables.read_ballots": BALLOTS,
    "tiebreak.tables.read_human_ranking": Result("people"),
    "tiebreak.tables.read_order": Result("order"),
    "tiebreak.tables.read_rounds": Result("rounds"),
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
