"""What `canary` and `score-code` say and end with."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import expected
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


def score(handed: Handed, scores: Scores, *asked: str) -> Any:
    handed.instead("tiebreak.candidates.load_candidates", "pool")
    handed.instead("tiebreak.candidates.write_parquet")
    handed.instead("tiebreak.inspect_tasks.score_code.score_code", scores)
    handed.instead("tiebreak.publish.write_back.lm_eval_results.write_lm_eval_results", WRITTEN)
    return tiebreak("score-code", "a", "--out", "p.parquet", *asked)


RUNS = [("", 1, 0), ("", 2, 1), ("", 1000, 10), ("", 0, 12), ("--json", 7, 1)]


def test_what_is_said_of_programs(handed: Handed) -> None:
    texts = []
    for asked, n_runs, n_unscored in [*RUNS, ("--log-dir runs --no-results", 1, 0)]:
        done = score(handed, Scores(n_runs, n_unscored), *asked.split())
        assert (done.exit_code, done.stderr) == (int(n_unscored > 0), "")
        texts.append(f"$ tiebreak score-code {asked}\n{done.stdout}")
        pool, *results = handed.made[2:]
        assert pool == ("write_parquet", ("scored pool", Path("p.parquet")), {})
        scored: object = ("write_lm_eval_results", ("scored pool", "unit_tests"), {})
        assert results == ([] if "--no-results" in asked else [scored])
        handed.made.clear()
    expected.check(__file__, "programs.txt", "\n".join(texts))
