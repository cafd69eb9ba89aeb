"""What `canary` and `score-code` hand on, say and end with."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.handed import Handed, tiebreak
from tiebreak.publish.write_back.run import Outcome
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.scorers.attacks import attacks

CANARIES = {"task_type": None, "rubric": None, "seed": 0, "mode": "strict"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INSPECT_EVAL_MODEL_COST_CONFIG", raising=False)


def cost(money: float | None) -> SimpleNamespace:
    likely = {"calls": 1200.0, "tokens_in": 3456.7, "tokens_out": 89.0}
    row = SimpleNamespace(**{name: SimpleNamespace(likely=one) for name, one in likely.items()})
    row.cost = None if money is None else SimpleNamespace(likely=money)
    return SimpleNamespace(protocols=[row], judges=SimpleNamespace(judge="j"))


def boards(*unscored: int) -> list[SimpleNamespace]:
    return [SimpleNamespace(canaries=SimpleNamespace(n_unscored=n)) for n in unscored]


@pytest.fixture
def canaries(handed: Handed) -> Handed:
    """Nobody is asked."""
    handed.instead("tiebreak.estimate.cost.estimate_canaries", cost(None))
    handed.instead("tiebreak.inspect_tasks.canaries.ask", SimpleNamespace(location="log.eval"))
    handed.instead("tiebreak.analysis.judge.canaries.canary_reports", boards(0))
    handed.instead("tiebreak.cli.canary.show")
    return handed


@pytest.mark.parametrize(
    ("asked", "found", "code"),
    [
        ("", boards(0, 0), 0),
        ("--level 0.9", boards(0, 1), 1),
        ("", boards(2, 0), 1),
        ("", boards(), 0),
    ],
)
def test_canaries_that_are_there(
    canaries: Handed, asked: str, found: list[SimpleNamespace], code: int
) -> None:
    canaries.instead("tiebreak.analysis.judge.canaries.canary_reports", found)
    done = tiebreak("canary", "a", "b", *asked.split())
    assert (done.exit_code, done.output) == (code, "")
    level = 0.9 if asked else 0.95
    assert canaries.made[0] == ("canary_reports", (("a", "b"),), {"how": Resampling(level)})
    assert canaries.made[1][1][::2] == (None, found)
    assert len(canaries.made) == 2


PRICE = "Asking j: 1,200 calls, about 3,457 tokens in and 89 out, "


@pytest.mark.parametrize(
    ("asked", "n", "price", "given", "ask"),
    [
        (
            "",
            len(attacks()),
            None,
            {**CANARIES, "price_file": None},
            {"display": None, "model_cost_config": None, "seed": 0, "mode": "strict"},
        ),
        (
            "-n 1 --seed 5 --mode intersect --task-type t --rubric r --model-cost-config c --json "
            "--log-dir own",
            1,
            1234.5,
            {
                **{"price_file": "c", "task_type": "t", "rubric": "r", "seed": 5},
                "mode": "intersect",
            },
            {
                **{"display": "none", "model_cost_config": "c", "task_type": "t", "rubric": "r"},
                **{"seed": 5, "mode": "intersect"},
            },
        ),
    ],
)
def test_a_judge_is_asked(
    canaries: Handed,
    asked: str,
    n: int,
    price: float | None,
    given: dict[str, Any],
    ask: dict[str, Any],
) -> None:
    canaries.instead("tiebreak.estimate.cost.estimate_canaries", cost(price))
    done = tiebreak("canary", "a", "--judge", "j", *asked.split())
    told = "price unknown" if price is None else "about $1,234.50"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"{PRICE}{told}\n")
    folder = "own" if "own" in asked else "canaries"
    assert canaries.made[:3] == [
        ("estimate_canaries", (("a",), n, "j"), given),
        ("ask", (("a",), "j", folder), {**ask, "canaries": n}),
        ("canary_reports", (("log.eval",),), {"how": Resampling(0.95)}),
    ]


def test_an_estimate_asks_nobody(canaries: Handed) -> None:
    found = cost(1.0)
    canaries.instead("tiebreak.estimate.cost.estimate_canaries", found)
    done = tiebreak("canary", "a", "--judge", "j", "--estimate", "--json")
    assert (done.exit_code, done.output) == (0, "")
    assert canaries.names == ["estimate_canaries", "show"]
    assert canaries.made[1][1][::2] == ("json", found)


def item(name: str) -> SimpleNamespace:
    return SimpleNamespace(item_id=name, key=SimpleNamespace(epoch=2))


class Scores:
    """As much of what came of the runs as the verb looks at."""

    pool = "scored pool"
    not_there = ((item("T/8"), "b", "import numpy is refused here"),)

    def __init__(self, n_runs: int, n_unscored: int) -> None:
        self.n_runs = n_runs
        self.unscored = [(item(f"T/{k}"), "a", f"why {k}") for k in range(n_unscored)]

    def passed(self) -> dict[str, tuple[int, int, int]]:
        return {"a": (3, 4, 9), "b": (0, 0, 3)}


WRITTEN = [
    Outcome("r/a.json", "written", "a", n_scored=4, n_items=9),
    Outcome("r/b.json", "unchanged", "b", n_scored=0, n_items=1),
    Outcome("", "left_alone", "c", why="no samples"),
    Outcome("", "left_alone", "d", why="a pool"),
    Outcome("", "left_alone", "e", why="no samples"),
]
RESULTS = [
    "Results: r/a.json: 4 of 9 answers",
    "Results: r/b.json: 0 of 1 answer (as before)",
    "No results written for c, e: no samples; the pool has the scores.",
    "No results written for d: a pool; the pool has the scores.",
    "Pool: p.parquet",
]
KEPT = "Inspect's log of the runs is gone; --log-dir keeps it."


def score(handed: Handed, scores: Scores, *asked: str) -> Any:
    handed.instead("tiebreak.candidates.load_candidates", "pool")
    handed.instead("tiebreak.candidates.write_parquet")
    handed.instead("tiebreak.inspect_tasks.score_code.score_code", scores)
    handed.instead("tiebreak.publish.write_back.lm_eval_results.write_lm_eval_results", WRITTEN)
    return tiebreak("score-code", "a", "--out", "p.parquet", *asked)


@pytest.mark.parametrize(
    ("n_runs", "n_unscored", "run", "more"),
    [
        (1, 0, "1 different program was run.", []),
        (2, 1, "2 different programs were run.", []),
        (1000, 10, "1,000 different programs were run.", []),
        (0, 12, "0 different programs were run.", ["… and 2 more."]),
    ],
)
def test_programs(handed: Handed, n_runs: int, n_unscored: int, run: str, more: list[str]) -> None:
    done = score(handed, Scores(n_runs, n_unscored))
    assert (done.exit_code, done.stderr) == (int(n_unscored > 0), "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Programs that passed their tests"
    assert [line.split() for line in lines[2:6] if "─" not in line] == [
        ["Model", "Passed", "Of", "Unscored", "Share"],
        ["a", "3", "4", "5", "75.0%"],
        ["b", "0", "0", "3", "–"],
    ]
    named = [f"Unscored: T/{k}, a: why {k}" for k in range(min(n_unscored, 10))]
    start = lines.index(run)
    assert lines[start + 1 :] == [
        *named,
        *more,
        "1 answer stopped at what the sandbox does not have: counted as wrong.",
        "Not there: T/8, b: import numpy is refused here",
        *RESULTS,
        *([KEPT] if n_runs else []),
    ]
    assert handed.made[-2:] == [
        ("write_parquet", ("scored pool", Path("p.parquet")), {}),
        ("write_lm_eval_results", ("scored pool", "unit_tests"), {}),
    ]


def test_a_log_that_is_kept_is_not_gone(handed: Handed) -> None:
    done = score(handed, Scores(1, 0), "--log-dir", "runs", "--no-results")
    assert done.stdout.splitlines()[-1] == "Pool: p.parquet"
    assert handed.names[-1] == "write_parquet"
    assert "Results" not in done.stdout


def test_programs_as_json(handed: Handed) -> None:
    done = score(handed, Scores(7, 1), "--json")
    assert (done.exit_code, done.stderr) == (1, "")
    data = json.loads(done.stdout)
    assert data == {
        **{"pool": "p.parquet", "runs": 7},
        "models": {
            "a": {"passed": 3, "scored": 4, "answers": 9},
            "b": {"passed": 0, "scored": 0, "answers": 3},
        },
        "unscored": [{"item": "T/0", "epoch": 2, "model": "a", "why": "why 0"}],
        "not_there": [
            {"item": "T/8", "epoch": 2, "model": "b", "why": "import numpy is refused here"}
        ],
        "results": [
            {
                **{"model": one.model, "state": one.state, "path": one.path},
                **{"scored": one.n_scored, "answers": one.n_items, "why": one.why or None},
            }
            for one in WRITTEN
        ],
    }
