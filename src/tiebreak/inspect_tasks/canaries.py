"""A run of canaries only: how often a judge is persuaded by answers that attack it.

inspect eval tiebreak/canary -T candidates=logs/ --model-role judge=openai/gpt-5
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Unpack

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.util import DisplayType

from tiebreak.inspect_tasks.arguments import CommonArguments, of_type
from tiebreak.inspect_tasks.judging import judging_task
from tiebreak.prerequisite import task
from tiebreak.progress import watch
from tiebreak.scorers.attacks import attacks
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import Protocol, find_protocol, settings_of

CANARY: Final[Protocol] = replace(find_protocol("full_pairwise"), name="canary")
"""A match between an ordinary answer and a planted one."""


@task
def canary(
    swap: Swap = "always", checklist: Checklist = "always", **common: Unpack[CommonArguments]
) -> Task:
    """Ask a judge only about planted answers, which -T canaries=N adds to a ranking.

    By default there are as many canaries as attacks.

    Args:
        swap: ask a match in the second order of presentation: always, close, sample or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
    """
    given: CommonArguments = {"canaries": len(attacks()), **common, "settle": False}
    settings = {"swap": swap, "checklist": checklist}
    for setting, wanted in settings_of(CANARY).items():
        of_type(setting, settings[setting], wanted)
    return judging_task(CANARY, settings, only_canaries=True, **given)


def ask(
    candidates: Sequence[str],
    judge: str,
    log_dir: str,
    *,
    display: DisplayType | None = None,
    model_cost_config: str | None = None,
    **arguments: Any,
) -> EvalLog:
    """Run the task like `inspect eval`; raise PrerequisiteError if an argument is invalid."""
    # Inspect shows its own progress.
    with watch(None):
        [log] = inspect_eval(
            "tiebreak/canary",
            # Whether an answer persuades the judge shows without the images of its task, too.
            task_args={"candidates": [*candidates], "media": "mark", **arguments},
            model_roles={"judge": judge},
            model_cost_config=model_cost_config,
            log_dir=log_dir,
            display=display,
        )
    return log
