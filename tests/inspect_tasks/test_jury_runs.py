"""Juries in real runs: who is asked and billed, failures, refusals, and going on after a kill."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from tests.harness import kill_once, run, run_here
from tests.inspect_tasks.runs import ballots_of, judge_in_process, write_pool
from tiebreak.analysis.receipt import receipt_of
from tiebreak.prerequisite import PrerequisiteError

pytestmark = pytest.mark.slow

FINE, BOUND, BROKEN = "planted/fine", "planted/bias=9", "planted/fails=1"


@pytest.mark.parametrize(
    ("task", "judges", "arguments", "words"),
    [
        ("round_robin", [FINE, FINE], {}, "planted/fine twice"),
        ("round_robin", [FINE, BOUND], {"quorum": 3}, "quorum is 3: there is 2 judges"),
        ("round_robin", [FINE, BOUND], {"quorum": 1, "jury": "rotate"}, "one judge a match"),
        ("round_robin", [FINE, BOUND], {"jury": "some"}, "one of all, rotate"),
        ("round_robin", [FINE, BOUND], {"quorum": 0}, "at least 1"),
        ("round_robin", [FINE], {"jury": "rotate"}, "jury=rotate is for several judges"),
        ("round_robin", FINE, {"quorum": 2}, "quorum=2 is for several judges"),
        ("listwise", [FINE, BOUND], {}, "tiebreak/peer_review --model-role 'peers=["),
    ],
)
def test_what_does_not_fit_is_explained(
    task: str, judges: Any, arguments: dict[str, Any], words: str, tmp_path: Path
) -> None:
    logs = write_pool(tmp_path / "logs", 2, 1)
    with pytest.raises(PrerequisiteError) as caught:
        judge_in_process(task, logs, tmp_path / "out", judges, **arguments)
    assert words in str(caught.value)


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


def test_killed_and_retried_no_judge_is_paid_twice(tmp_path: Path) -> None:
    """Three judges, one of which has no provider."""
    write_pool(tmp_path / "logs", 4, 12)
    calls = tmp_path / "calls"
    env = {"PLANTED_CALLS": str(calls), "INSPECT_CACHE_DIR": str(tmp_path / "cache")}
    args = ("eval", "tiebreak/round_robin", "-T", "candidates=logs", "-T", "swap=always",
            "--model-role", f"judge=[{FINE}, {BOUND}, {BROKEN}]", "--max-samples", "1")  # fmt: skip
    kill_once(
        lambda: calls.exists() and len(calls.read_text().split()) >= 40,
        *("inspect", *args, "--log-dir", "out"),
        cwd=tmp_path,
        **env,
    )
    [first] = list_eval_logs(str(tmp_path / "out"))
    run("inspect", "eval-retry", first.name, "--log-dir", "out", cwd=tmp_path, code=0, **env)
    log = read_eval_log(max(list_eval_logs(str(tmp_path / "out")), key=lambda i: i.mtime or 0))
    assert log.status == "success"

    made = [line for line in calls.read_text().split() if "fails" not in line]
    # Two judges, two matches, both orders: at most as many were under way when the process died.
    assert len(made) - len(set(made)) <= 8
    matches = [match for item in ballots_of(log).values() for match in item.matches]
    assert len(matches) == 2 * 12
    assert len(set(made)) == 2 * 2 * len(matches)
    for match in matches:
        assert match.result is not None
        for gone in (v for v in match.verdicts if v.judge == BROKEN):
            assert (gone.unscored or "").startswith("error: planted/fails=1: the provider fails")
    run_here("tiebreak", "rank", "out", cwd=tmp_path)
    printed = json.loads(run_here("tiebreak", "rank", "out", "--json", cwd=tmp_path))
    [*_, board] = printed["leaderboards"]  # the killed run has one as well
    replies = {one["model"]: one["unscored_rate"] for one in board["judge"]["replies"]}
    assert replies == {FINE: 0, BOUND: 0, BROKEN: 1}
