"""Juries in real runs: who is asked and billed, failures, and refusals."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.harness import run_here
from tests.inspect_tasks.runs import ballots_of, judge_in_process, real_calls, write_pool
from tiebreak.analysis.receipt import receipt_of

pytestmark = pytest.mark.slow

FINE, BOUND, BROKEN = "planted/fine", "planted/bias=9", "planted/fails=1"


def test_each_judge_is_asked_and_billed(tmp_path: Path) -> None:
    logs = write_pool(tmp_path / "logs", 4, 6)
    tasks, judges = ["seal", "pointwise"], ["planted/a", "planted/b", "planted/c"]
    everyone: Any = {"eval_args": {"model_roles": {"judge": judges}}}
    seal, pointwise = judge_in_process(tasks, logs, tmp_path / "all", **everyone)
    alone, _ = judge_in_process(tasks, logs, tmp_path / "one", judges[1])
    usage = {use.reviewer: use for use in receipt_of([*ballots_of(seal).values()]).usage}
    [one, *_] = receipt_of([*ballots_of(alone).values()]).usage
    # Seeding, critique and refinement are asked of the first one.
    assert set(usage) == {"", *judges}
    assert {usage[name].n_calls for name in judges} == {one.n_calls - 6}
    assert {usage[name].model for name in judges[1:]} == {"planted/b", "planted/c"}
    graded = [points for item in ballots_of(pointwise).values() for points in item.scores]
    assert {tuple(p.judge for p in points.parts) for points in graded} == {tuple(judges)}

    turns, points = judge_in_process(
        ["full_pairwise", "pointwise"], logs, tmp_path / "turns", jury="rotate", **everyone
    )
    matches = [match for item in ballots_of(turns).values() for match in item.matches]
    assert len(matches) == 6 * 6
    each = Counter(match.verdicts[0].judge for match in matches)
    assert each == dict.fromkeys(judges, 12)
    assert {len({v.judge for v in match.verdicts}) for match in matches} == {1}
    called = Counter(call.model for item in ballots_of(points).values() for call in item.calls)
    assert called == dict.fromkeys(judges, 8)


def test_a_judge_without_a_provider_is_named_and_the_others_decide(
    tmp_path: Path, calls: Path
) -> None:
    pool = write_pool(tmp_path / "logs", 4, 12)
    args: Any = {"eval_args": {"model_roles": {"judge": [FINE, BOUND, BROKEN]}}}
    [log] = judge_in_process("round_robin", pool, tmp_path / "out", swap="always", **args)
    assert log.status == "success"
    matches = [match for item in ballots_of(log).values() for match in item.matches]
    assert len(matches) == 2 * 12
    made = [line for line in real_calls(calls) if "fails" not in line]
    assert len(made) == len(set(made)) == 2 * 2 * len(matches)
    for match in matches:
        assert match.result is not None
        for gone in (v for v in match.verdicts if v.judge == BROKEN):
            assert (gone.unscored or "").startswith("error: planted/fails=1: the provider fails")
    printed = json.loads(run_here("tiebreak", "rank", "out", "--json", cwd=tmp_path))
    [board] = printed["leaderboards"]
    replies = {one["model"]: one["unscored_rate"]["value"] for one in board["judge"]["replies"]}
    assert replies == {FINE: 0, BOUND: 0, BROKEN: 1}
