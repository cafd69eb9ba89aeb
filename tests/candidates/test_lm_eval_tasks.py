"""The question of every generative task that lm-eval ships, as a judge reads it."""

from pathlib import Path

import pytest

from tests.candidates.lm_eval_readers import measured, read_prompt, read_question, shares
from tests.candidates.lm_eval_templates import SETTINGS, Run, Skipped, render

COMPLETE = 0.98
CLEAN = 0.9
RENDERED = 0.95


@pytest.mark.slow
def test_a_judge_reads_the_whole_question(tmp_path: Path) -> None:
    """One test, since the rendering takes its time."""
    runs, skipped = render(tmp_path)
    check_that_nearly_all_are_rendered(runs, skipped)
    check_that_the_measure_knows_good_and_bad_readers(runs)
    measures = [measured(run) for run in runs]
    by_setting = shares(measures)
    for share in by_setting.values():
        assert share.complete / share.tasks >= COMPLETE, by_setting
        assert share.clean / share.tasks >= CLEAN, by_setting
    silent = [(m.run.label, m.run.setting, m.lost[0].text) for m in measures if m.is_silent]
    assert not silent


def check_that_nearly_all_are_rendered(runs: list[Run], skipped: list[Skipped]) -> None:
    tasks = sum({run.label: run.tasks for run in runs}.values())
    left_out = sum(entry.tasks for entry in skipped)
    assert tasks / (tasks + left_out) >= RENDERED, skipped
    assert {run.setting for run in runs} == {*SETTINGS}


def check_that_the_measure_knows_good_and_bad_readers(runs: list[Run]) -> None:
    questions = shares([measured(run, read_question) for run in runs])
    assert all(share.complete == share.clean == share.tasks for share in questions.values())
    prompts = shares([measured(run, read_prompt) for run in runs])
    assert all(share.complete == share.tasks for share in prompts.values())
    assert prompts["plain, shots"].clean < prompts["plain, shots"].tasks / 20
    assert prompts["ChatML"].clean == 0
