"""What `canary` and `score-code` say and end with."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.handed import Handed, tiebreak
from tiebreak.publish.write_back.run import Outcome


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INSPECT_EVAL_MODEL_COST_CONFIG", raising=False)


@pytest.mark.parametrize(("unscored", "code"), [((), 0), ((0, 0), 0), ((0, 1), 1), ((2, 0), 1)])
def test_a_canary_without_a_verdict_is_an_error(
    handed: Handed, unscored: tuple[int, ...], code: int
) -> None:
    reports = [SimpleNamespace(canaries=SimpleNamespace(n_unscored=n)) for n in unscored]
    handed.instead("tiebreak.analysis.judge.canaries.canary_reports", reports)
    handed.instead("tiebreak.cli.canary.show")
    assert tiebreak("canary", "a").exit_code == code


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
