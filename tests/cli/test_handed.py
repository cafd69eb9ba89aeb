"""What every verb hands on.

The functions that do the work do not run here; their results are tested where they are.
`expected/handed.txt` has each command with the calls that it comes to.
"""

from pathlib import Path

import pytest

from tests import expected
from tests.cli.handed import Enough, Handed, Result

HOW = "--level 0.9 --draws 150 --seed 3"
LOADING = (
    "--mode intersect --metric acc --filter strict --rename x=y --rename u=v=w --name a.eval=m "
    "--name logs/b=n --same-settings"
)
READING = "--stderr e.csv --metric m --filter strict --rename a=b"
COMMANDS = f"""
align a b --human h.csv
align a --human h.csv --method irv --method irv --method borda --scores mean-rank {HOW}
align a --human h.csv --json --items
align a --human h.csv --plot x.svg
align a --human h.csv --method irv --method borda --plot x.svg
align a --human h.csv --method irv --plot-method SR --plot x.svg
calibrate a b --human h.csv
calibrate a --human h.csv --plot x.svg --width 85mm
calibrate a --human h.csv --level 0.9
calibrate --judge j.csv --judge k.csv --human h.csv --skip-faulty
canary a b
canary a --level 0.9 --json
canary a --judge j
canary a --judge j -n 1 --seed 5 --mode intersect --task-type t --rubric r \
--model-cost-config c --json --log-dir own
canary a --judge j --estimate --json
candidates a b
candidates a --out p
candidates a --out p --json
candidates a {LOADING}
compare a b
compare a --json
compare a --csv
compare a --format markdown
compare a --format latex
compare a --format html
compare a --plot x.svg
compare a --against depth --plot x.svg
compare a --reference seal --price 1,2 --place elimination_tied {HOW}
contamination a b
contamination a --baseline x --baseline y --level 0.9
demo
demo --out x --protocol seal --judge j --limit 1 --judged 2 --seed -3
demo --recorded --out x --protocol seal
diagnose a b
diagnose a --level 0.9 --power 0.7
diagnose a {LOADING}
estimate a b
estimate a --protocol swiss --judge j --meta-judge m --peers p,q --price 1,2 --price j=3,4 \
--model-cost-config c.yaml --reasoning-tokens 5 --from-log l --connections 6 \
--seconds-per-call 7.5 --calls-per-minute 8 --sample 9 --task-type t --rubric r.yaml \
--reviewers v --saturated-only --no-merge-identical --seed 10 --mode union
INSPECT_EVAL_MODEL_COST_CONFIG=prices.json estimate a --judge j
estimate a --judge j --budget 2.5
estimate a --judge j --calls 7
estimate a --judge j --precision 0.05 --from-log l --price 1,2 --model-cost-config c.yaml \
--reasoning-tokens 5 --sample 9 --task-type t --rubric r.yaml --no-merge-identical --seed 10 \
{LOADING}
peers a b
peers a --json --items
peers a --json
peers a --method borda --method irv {HOW}
rank a b
rank a --price 1,2 --price m=3,4 --closure --control style --place points --reference r \
--attempts all {HOW}
rank a b --pair x,y --level 0.9
score-code a b --out new/pool.parquet
score-code a --out pool.parquet --sandbox local --confirm-run-unsafe-code --trust-code --again \
--log-dir runs --json
score-code a --out pool.parquet {LOADING}
serve-local
serve-local --host h --port 0 --path m.gguf --slots 2 --threads 1 --context 256
simulate
simulate --models 4 --spread 0.3 --items 6,7 --repeats 2 --protocol seal \
--protocol swiss:rounds=2 --swap never --ties 0.1 --pass-rate 0.2 --resolution 0.4 --noise 0.6 \
--fresh --position-bias 0.7 --verbosity-bias 0.8 --seeding-noise 0.9 --list-taste 1.1 \
--grading-noise 1.2 --malformed 1 --target -1 --confidence 1 --seed 9 --jobs 1
simulate --models 4 --qualities 0.3,-0.2
stability a b
stability a --subsample 0.25,1 --seeds 1
stability a b --people v.csv
stability a --elo --seeds 4
stability a --elo --plot x.svg
stability a --csv
stability a --sizes 1,20
stability a --sizes 5 --reference m
stability a --against s.csv
stability a --dates d.csv
stability a --causes c.csv
write-back a b --into c --into d
write-back a --into c --rename x=y --rename u=v --dry-run
TIEBREAK_BANK=bank.db bank serve
bank serve --bank x.db --host h --port 65535 --workers 2 --development --balanced \
--token-rate 1/hour --address-rate 2/hour --most-body 1024 --proxy 10.0.0.1
csd s t
csd s t --rounds r
csd s t --order y,x
csd s t --iterations 1 --seed 2 --jobs -1 --missing worst --eliminate 0,1 --spoil a=x \
--spoil b=y --performance-tiers 3 {READING}
csd s --tiers 3 --benchmark b --eliminate 1 --performance-tiers 2 --metric m --json
csd s --also kemeny --json
csd s --plot x.svg
aggregate a b
aggregate a b --time-limit 9 --per-item
aggregate a --time-limit 0 --method irv --method borda
aggregate a --also csd --json
aggregate a --drop-unranked --ties se --weights a=b=2,mmlu=1/2 {READING}
report a b
report a b --pictures pdf,png --width 2in
report a b --columns 2 --titled
report a b -o out --human h --reference r --title t {HOW}
report a b --scores s --scores t
report a b --scores s --rounds rounds.yaml --stderr e.csv
report a b --scores s --order order.txt
report a b --scores s --order x,y
report --scores s --seed 7
publish a b --to me/ranks
publish a b --dry-run
publish a b --dry-run --to me/ranks
publish a b --dry-run --to me/ranks --out x/y
publish a b --every-eval-ever eee
publish a b --to me/ranks --public --with-candidates --candidates c --candidates d --license mit \
--community-evals ce {HOW}
publish a b --to me/ranks --pr
publish --scores s --scores t --dry-run --eliminate 0,1 --missing worst --performance-tiers 3 {HOW}
"""


ENDS = (
    "tiebreak.analysis.anchored.labels_needed",
    "tiebreak.analysis.diagnosis.diagnose",
    "tiebreak.analysis.pair.compare_pair",
    "tiebreak.analysis.ranking.rank_logs",
    "tiebreak.demo.lab.simulate.simulate",
    "tiebreak.demo.local.server.serve_local",
    "tiebreak.demo.run.run_demo",
    "tiebreak.demo.screen.show_recorded",
    "tiebreak.study.estimate.cost.estimate_cost",
    "tiebreak.study.estimate.cost.plan_judging",
    "tiebreak.fair.analysis.contamination.contamination",
    "tiebreak.fair.server.app.run",
    "tiebreak.inspect_tasks.score_code.score_code",
    "tiebreak.publish.dataset.publish_dataset",
    "tiebreak.publish.write_back.write_back_ranks",
    "tiebreak.report.page.build.write_report",
)
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
    text = handed.recorded(COMMANDS, dict.fromkeys(ENDS, Enough()) | RESULTS)
    expected.check(__file__, "handed.txt", text)
