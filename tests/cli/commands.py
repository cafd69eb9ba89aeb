"""Commands, and what each hands on: with as little as it takes, and with every option given."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiebreak.estimate.estimate import Pace
from tiebreak.estimate.plan import Goal
from tiebreak.rankers.uncertainty import Resampling

FOUND = object()

HOW = "--level 0.9 --draws 150 --seed 3"
USUAL, OWN = Resampling(0.95, 2000, 0), Resampling(0.9, 150, 3)

LOADING = "--mode intersect --metric acc --filter strict --rename x=y --rename u=v=w"
LOADING += " --name a.eval=m --name logs/b=n --same-settings"
LOADED: dict[str, Any] = {"mode": "intersect", "native": "acc", "filter": "strict"}
LOADED |= {"rename": {"x": "y", "u": "v=w"}, "names": {"a.eval": "m", "logs/b": "n"}}
LOADED |= {"same_settings": True}
AS_THEY_ARE: dict[str, Any] = {"mode": "strict", "native": None, "filter": None, "rename": {}}
AS_THEY_ARE |= {"names": {}, "same_settings": False}


@dataclass
class Case:
    """A command, the function that it comes to, and what that is given.

    `before` are functions on the way there, with what they come to.
    """

    command: str
    function: str
    args: tuple[Any, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    before: dict[str, object] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


SIMULATED = {
    "protocols": (
        *("original", "pointwise", "fixed_rubric", "listwise", "flat_bracket", "seal", "swiss"),
        *("swiss:rounds=3", "round_robin", "sorted", "full_pairwise"),
    ),
    **{"spread": 0.2, "ties": 0.0, "pass_rate": 0.97, "repeats": 10, "swap": None},
    **{"target": 0.9, "confidence": 0.9, "seed": 0, "jobs": None},
    **{"resolution": 0.0, "noise": 0.5, "fresh": False, "position_bias": 0.0},
    **{"verbosity_bias": 0.0, "list_taste": 0.0, "reading_noise": 1.0, "grading_noise": 1.0},
    "malformed": 0.0,
}
COSTED = {
    **{"judge": None, "meta_judge": None, "peers": None, "prices": (), "price_file": None},
    **{"reasoning_tokens": None, "from_log": None, "pace": Pace(100, 10.0, None), "sample": 32},
    **{"task_type": None, "rubric": None, "reviewers": None, "saturated_only": False},
    **{"merge_identical": True, "seed": 0, **AS_THEY_ARE},
}
PLANNED = {
    **{"judge": "j", "from_log": None, "prices": (), "price_file": None, "reasoning_tokens": None},
    **{"sample": 32, "task_type": None, "rubric": None, "merge_identical": True, "seed": 0},
    **AS_THEY_ARE,
}
OF_PROGRAMS = {
    **{"confirm_run_unsafe_code": False, "trust_code": False, "again": False, "log_dir": None},
    "display": None,
}
SERVED = {
    **{"bank": "bank.db", "balanced": False, "token_rate": "100/second"},
    **{"address_rate": "2000/second", "most_body": 256 * 1024},
}
SAMPLED = {"balanced": False, "share": "equal"}

CASES = [
    Case(
        "align a b --human h.csv",
        "tiebreak.analysis.alignment.align",
        (("a", "b"), "h.csv"),
        {"methods": None, "scores": "order", "how": USUAL},
    ),
    Case(
        f"align a --human h.csv --method irv --method irv --method borda --scores mean-rank {HOW}",
        "tiebreak.analysis.alignment.align",
        (("a",), "h.csv"),
        {"methods": ("irv", "borda"), "scores": "mean-rank", "how": OWN},
    ),
    Case(
        "calibrate a b --human h.csv",
        "tiebreak.analysis.calibration.calibrate",
        (("a", "b"), "h.csv"),
        {"level": 0.95},
    ),
    Case(
        "calibrate a --human h.csv --level 0.9",
        "tiebreak.analysis.calibration.calibrate",
        (("a",), "h.csv"),
        {"level": 0.9},
    ),
    Case(
        "candidates a b",
        "tiebreak.candidates.load_candidates",
        (("a", "b"),),
        {"alone": True, **AS_THEY_ARE},
    ),
    Case(
        f"candidates a {LOADING}",
        "tiebreak.candidates.load_candidates",
        (("a",),),
        {"alone": True, **LOADED},
    ),
    Case(
        "compare a b",
        "tiebreak.analysis.comparison.compare",
        (("a", "b"),),
        {"reference": "full_pairwise", "how": USUAL, "rule": None, "prices": ()},
    ),
    Case(
        f"compare a --reference seal --price 1,2 --place elimination_tied {HOW}",
        "tiebreak.analysis.comparison.compare",
        (("a",),),
        {"reference": "seal", "how": OWN, "rule": "elimination_tied", "prices": ("1,2",)},
    ),
    Case(
        "contamination a b",
        "tiebreak.fair.analysis.contamination.contamination",
        (("a", "b"),),
        {"baselines": (), "level": 0.95},
    ),
    Case(
        "contamination a --baseline x --baseline y --level 0.9",
        "tiebreak.fair.analysis.contamination.contamination",
        (("a",),),
        {"baselines": ("x", "y"), "level": 0.9},
    ),
    Case(
        "demo",
        "tiebreak.demo.run.run_demo",
        (Path("tiebreak-demo"),),
        {
            **{"protocol": "round_robin", "judge": "tiebreak-local/smollm2-135m"},
            **{"limit": None, "judged": None, "seed": 0},
        },
    ),
    Case(
        "demo --out x --protocol seal --judge j --limit 1 --judged 2 --seed -3",
        "tiebreak.demo.run.run_demo",
        (Path("x"),),
        {"protocol": "seal", "judge": "j", "limit": 1, "judged": 2, "seed": -3},
    ),
    Case(
        "demo --recorded --out x --protocol seal",
        "tiebreak.demo.screen.show_recorded",
        (Path("x"),),
        {"protocol": "seal"},
    ),
    Case(
        "diagnose a b",
        "tiebreak.analysis.diagnosis.diagnose",
        (FOUND,),
        {"level": 0.95, "power": 0.8},
        {"tiebreak.candidates.load_candidates": FOUND},
    ),
    Case(
        "diagnose a --level 0.9 --power 0.7",
        "tiebreak.analysis.diagnosis.diagnose",
        (FOUND,),
        {"level": 0.9, "power": 0.7},
        {"tiebreak.candidates.load_candidates": FOUND},
    ),
    Case(
        f"diagnose a {LOADING}",
        "tiebreak.candidates.load_candidates",
        (("a",),),
        LOADED,
    ),
    Case(
        "estimate a b",
        "tiebreak.estimate.cost.estimate_cost",
        (("a", "b"), "round_robin,seal,full_pairwise"),
        COSTED,
    ),
    Case(
        "estimate a --protocol swiss --judge j --meta-judge m --peers p,q --price 1,2 "
        "--price j=3,4 --model-cost-config c.yaml --reasoning-tokens 5 --from-log l "
        "--connections 6 --seconds-per-call 7.5 --calls-per-minute 8 --sample 9 --task-type t "
        "--rubric r.yaml --reviewers v --saturated-only --no-merge-identical --seed 10 "
        "--mode union",
        "tiebreak.estimate.cost.estimate_cost",
        (("a",), "swiss"),
        {
            **{"judge": "j", "meta_judge": "m", "peers": "p,q", "prices": ("1,2", "j=3,4")},
            **{"price_file": "c.yaml", "reasoning_tokens": 5, "from_log": "l"},
            **{"pace": Pace(6, 7.5, 8.0), "sample": 9, "task_type": "t", "rubric": "r.yaml"},
            **{"reviewers": "v", "saturated_only": True, "merge_identical": False, "seed": 10},
            **{**AS_THEY_ARE, "mode": "union"},
        },
    ),
    Case(
        "estimate a --judge j",
        "tiebreak.estimate.cost.estimate_cost",
        (("a",), "round_robin,seal,full_pairwise"),
        {**COSTED, "judge": "j", "price_file": "prices.json"},
        env={"INSPECT_EVAL_MODEL_COST_CONFIG": "prices.json"},
    ),
    Case(
        "estimate a --judge j --budget 2.5",
        "tiebreak.estimate.cost.plan_judging",
        (("a",), Goal(2.5, None, None)),
        PLANNED,
    ),
    Case(
        "estimate a --judge j --calls 7",
        "tiebreak.estimate.cost.plan_judging",
        (("a",), Goal(None, 7, None)),
        PLANNED,
    ),
    Case(
        "estimate a --judge j --precision 0.05 --from-log l --price 1,2 --model-cost-config c.yaml "
        "--reasoning-tokens 5 --sample 9 --task-type t --rubric r.yaml --no-merge-identical "
        f"--seed 10 {LOADING}",
        "tiebreak.estimate.cost.plan_judging",
        (("a",), Goal(None, None, 0.05)),
        {
            **{"judge": "j", "from_log": "l", "prices": ("1,2",), "price_file": "c.yaml"},
            **{"reasoning_tokens": 5, "sample": 9, "task_type": "t", "rubric": "r.yaml"},
            **{"merge_identical": False, "seed": 10, **LOADED},
        },
    ),
    Case(
        "peers a b",
        "tiebreak.analysis.peers.review.peer_report",
        (("a", "b"),),
        {"methods": ("kemeny_young",), "how": USUAL},
    ),
    Case(
        f"peers a --method borda --method irv {HOW}",
        "tiebreak.analysis.peers.review.peer_report",
        (("a",),),
        {"methods": ("borda", "irv"), "how": OWN},
    ),
    Case(
        "rank a b",
        "tiebreak.analysis.ranking.rank_logs",
        (("a", "b"),),
        {
            **{"how": USUAL, "closure": False, "control": None, "rule": None, "reference": None},
            **{"attempts": "best", "prices": ()},
        },
    ),
    Case(
        "rank a --price 1,2 --price m=3,4 --closure --control style --place points "
        f"--reference r --attempts all {HOW}",
        "tiebreak.analysis.ranking.rank_logs",
        (("a",),),
        {
            **{"how": OWN, "closure": True, "control": "style", "rule": "points"},
            **{"reference": "r", "attempts": "all", "prices": ("1,2", "m=3,4")},
        },
    ),
    Case(
        "rank a b --pair x,y --level 0.9",
        "tiebreak.analysis.pair.compare_pair",
        (("a", "b"), "x", "y"),
        {"level": 0.9},
    ),
    Case(
        "score-code a b --out new/pool.parquet",
        "tiebreak.inspect_tasks.score_code.score_code",
        (FOUND, "docker"),
        OF_PROGRAMS,
        {"tiebreak.candidates.load_candidates": FOUND},
    ),
    Case(
        "score-code a --out pool.parquet --sandbox local --confirm-run-unsafe-code --trust-code "
        "--again --log-dir runs --json",
        "tiebreak.inspect_tasks.score_code.score_code",
        (FOUND, "local"),
        {
            **{"confirm_run_unsafe_code": True, "trust_code": True, "again": True},
            **{"log_dir": Path("runs"), "display": "none"},
        },
        {"tiebreak.candidates.load_candidates": FOUND},
    ),
    Case(
        f"score-code a --out pool.parquet {LOADING}",
        "tiebreak.candidates.load_candidates",
        (("a",),),
        LOADED,
    ),
    Case(
        "serve-local",
        "tiebreak.demo.local.server.serve_local",
        ("127.0.0.1", 8080),
        {"path": None, "slots": 1, "threads": None, "context": 4096},
    ),
    Case(
        "serve-local --host h --port 0 --path m.gguf --slots 2 --threads 1 --context 256",
        "tiebreak.demo.local.server.serve_local",
        ("h", 0),
        {"path": "m.gguf", "slots": 2, "threads": 1, "context": 256},
    ),
    Case("simulate", "tiebreak.demo.lab.simulate.simulate", (8, (50, 100, 200)), SIMULATED),
    Case(
        "simulate --models 4 --spread 0.3 --items 6,7 --repeats 2 --protocol seal --protocol "
        "swiss:rounds=2 --swap never --ties 0.1 --pass-rate 0.2 --resolution 0.4 --noise 0.6 "
        "--fresh --position-bias 0.7 --verbosity-bias 0.8 --seeding-noise 0.9 --list-taste 1.1 "
        "--grading-noise 1.2 --malformed 1 --target -1 --confidence 1 --seed 9 --jobs 1",
        "tiebreak.demo.lab.simulate.simulate",
        (4, (6, 7)),
        {
            **{"spread": 0.3, "ties": 0.1, "pass_rate": 0.2, "repeats": 2, "swap": "never"},
            **{"protocols": ("seal", "swiss:rounds=2"), "target": -1.0, "confidence": 1.0},
            **{"seed": 9, "jobs": 1, "resolution": 0.4, "noise": 0.6},
            **{"fresh": True, "position_bias": 0.7, "verbosity_bias": 0.8, "list_taste": 1.1},
            **{"reading_noise": 0.9, "grading_noise": 1.2, "malformed": 1.0},
        },
    ),
    Case(
        "simulate --models 4 --qualities 0.3,-0.2",
        "tiebreak.demo.lab.simulate.simulate",
        ((0.3, -0.2), (50, 100, 200)),
        SIMULATED,
    ),
    Case(
        "stability a b",
        "tiebreak.analysis.stability.stability",
        (("a", "b"),),
        {"shares": (0.5,), "n_seeds": 30},
    ),
    Case(
        "stability a --subsample 0.25,1 --seeds 1",
        "tiebreak.analysis.stability.stability",
        (("a",),),
        {"shares": (0.25, 1.0), "n_seeds": 1},
    ),
    *(
        Case(
            f"stability a {options}",
            "tiebreak.fair.analysis.star_stability.star_stability",
            (("a",),),
            {
                **{"sizes": None, "reference": None, "orders": False, "against": None},
                **{"dates": (), "causes": None, "n_draws": 30, **given},
            },
            {
                "tiebreak.tables.read_scores": "scores",
                "tiebreak.tables.dates.read_dates": "dates",
                "tiebreak.tables.human.read_causes": "causes",
            },
        )
        for options, given in (
            ("--elo --seeds 4", {"orders": True, "n_draws": 4}),
            ("--sizes 1,20", {"sizes": (1, 20)}),
            ("--sizes 5 --reference m", {"sizes": (5,), "reference": "m"}),
            ("--against s.csv", {"against": "scores"}),
            ("--dates d.csv", {"dates": "dates"}),
            ("--causes c.csv", {"causes": "causes"}),
        )
    ),
    Case(
        "write-back a b --into c --into d",
        "tiebreak.publish.write_back.write_back_ranks",
        (("a", "b"), ("c", "d")),
        {"rename": {}, "dry_run": False},
    ),
    Case(
        "write-back a --into c --rename x=y --rename u=v --dry-run",
        "tiebreak.publish.write_back.write_back_ranks",
        (("a",), ("c",)),
        {"rename": {"x": "y", "u": "v"}, "dry_run": True},
    ),
    Case(
        "bank serve",
        "tiebreak.fair.server.app.run",
        (SERVED,),
        {
            **{"host": "127.0.0.1", "port": 8080, "workers": 1, "development": False},
            "proxy": None,
        },
        env={"TIEBREAK_BANK": "bank.db"},
    ),
    Case(
        "bank serve --bank x.db --host h --port 65535 --workers 2 --development --balanced "
        "--token-rate 1/hour --address-rate 2/hour --most-body 1024 --proxy 10.0.0.1",
        "tiebreak.fair.server.app.run",
        (
            {
                **{"bank": "x.db", "balanced": True, "token_rate": "1/hour"},
                **{"address_rate": "2/hour", "most_body": 1024},
            },
        ),
        {"host": "h", "port": 65535, "workers": 2, "development": True, "proxy": "10.0.0.1"},
    ),
]
