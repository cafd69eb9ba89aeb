"""Answers, then their judging in shards, as runs of Inspect Flow; `rank` joins the shards.

flow run examples/flow_study.py --arg step=answer
XDG_DATA_HOME=$PWD/study/flow-1 flow run examples/flow_study.py --arg step=judge --arg shard=1/2 &
XDG_DATA_HOME=$PWD/study/flow-2 flow run examples/flow_study.py --arg step=judge --arg shard=2/2 &
wait
tiebreak rank study/judged

Each run goes on where it stopped when it is given again. A folder is one run's, so shards have
folders of their own, and so have Flow's notes of its last run: two processes that start at once
would write them over each other.
"""

from collections.abc import Sequence
from pathlib import Path

from inspect_flow import FlowSpec, FlowTask, tasks_matrix


def study(
    step: str,
    shard: str = "1/1",
    prompts: str = "prompts.jsonl",
    models: Sequence[str] = ("openai/gpt-5-mini", "anthropic/claude-haiku-4-5"),
    judge: str = "openai/gpt-5",
    folder: str = "study",
) -> FlowSpec:
    """What a run does: the models answer prompts (answer), or a judge compares them (judge)."""
    # Flow reads paths from the folder of this file.
    out = Path.cwd() / folder
    if step == "answer":
        return FlowSpec(
            log_dir=str(out / "answers"),
            tasks=tasks_matrix(
                task=FlowTask(name="tiebreak/prompts", args={"prompts": str(Path.cwd() / prompts)}),
                model=[*models],
            ),
        )
    return FlowSpec(
        log_dir=str(out / "judged" / shard.replace("/", "-of-")),
        tasks=[
            FlowTask(
                name="tiebreak/round_robin",
                args={"candidates": str(out / "answers"), "shard": shard},
                # Flow builds a task before its roles are there, and after its model is.
                model=judge,
            )
        ],
    )
