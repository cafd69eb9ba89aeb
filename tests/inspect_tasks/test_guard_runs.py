"""Runs whose judge prefers answers that failed: the correctness guard, from logs to the board."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import EvalLog

from tests.candidates.builders import write_inspect_log
from tests.inspect_tasks.runs import ballots_of, judge_in_process, real_calls
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.rankers import Resampling
from tiebreak.scorers.ranking import exact_values, ranking


def scores_of(log: EvalLog) -> list[dict[str, float]]:
    return [exact_values((one.scores or {})["ranking"]) for one in log.samples or []]


@pytest.mark.slow
def test_what_failed_is_not_placed_before_what_passed(tmp_path: Path, calls: Path) -> None:
    natives: list[list[int | None]] = [[1, 1], [1, 0], [0, 0], [None, 1]]
    # m0 is right and reads worst; m2 is wrong and reads best; nobody knows of m3's first answer.
    for model, native in enumerate(natives):
        rows = [
            {"id": f"q{i}", "question": "?", "answer": f"quality={model}", "native": score}
            for i, score in enumerate(native)
        ]
        write_inspect_log(tmp_path / "logs" / f"{model}.eval", f"m{model}", rows)
    # Answers without a native score are judged as well.
    both: dict[str, Any] = {"mode": "intersect"}
    [on] = judge_in_process("full_pairwise", tmp_path / "logs", tmp_path / "on", **both)
    asked = len(real_calls(calls))
    [off] = judge_in_process(
        "full_pairwise", tmp_path / "logs", tmp_path / "off", stratify=False, **both
    )
    # The same questions, out of the cache.
    assert len(real_calls(calls)) == asked
    third = 1 / 3
    assert scores_of(off) == [pytest.approx({"m0": 0, "m1": third, "m2": 2 * third, "m3": 1})] * 2
    assert scores_of(on) == [
        pytest.approx({"m3": 1, "m1": 2 * third, "m0": third, "m2": 0}),
        pytest.approx({"m3": 1, "m0": 2 * third, "m2": third, "m1": 0}),
    ]
    again = score(on, ranking(), action="overwrite", display="none")
    assert scores_of(again) == scores_of(on)
    assert len(real_calls(calls)) == asked
    first = ballots_of(on)["q0"]
    assert first.passed == {"m0": True, "m1": True, "m2": False}
    assert first.stratified
    assert not ballots_of(off)["q0"].stratified
    [guarded] = leaderboards(tmp_path / "on", how=Resampling(draws=100))
    [judged] = leaderboards(tmp_path / "off", how=Resampling(draws=100))
    assert [row.model for row in guarded.rows] == ["m3", "m0", "m1", "m2"]
    assert [row.model for row in judged.rows] == ["m3", "m2", "m1", "m0"]
