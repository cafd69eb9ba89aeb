"""Judging as planned, by Inspect's `eval_set`, and the command that does the same alone."""

from typing import Any

from inspect_ai.log import EvalLog

from tiebreak.study.answers import drawn, inspect_command, role_text, run_eval_set
from tiebreak.study.design import ModelChoice, Protocol, Study
from tiebreak.study.folder import Judging, StudyFolder


def rounds_to_join(run: Judging) -> int:
    """How many others a newcomer meets on an item: as many as the others did.

    Of an odd number of models one sits out in each round. A plan may say that it is fewer.
    """
    if run.rounds is not None:
        return run.rounds
    rounds: int = Protocol(label=run.label).variant.settings.get("rounds", 1)
    members = len(run.models) - len(run.newcomers)
    return max(1, round(rounds * (1 - (members % 2) / members)))


def _task(study: Study, run: Judging) -> tuple[str, dict[str, Any]]:
    """The task of a judging, and its arguments."""
    name, _, _ = run.label.rpartition("@")
    variant = Protocol(label=run.label).variant
    protocol, settings = variant.protocol.name, dict(variant.settings)
    if run.newcomers:
        settings |= {"newcomers": list(run.newcomers), "rounds": rounds_to_join(run)}
    common = {"candidates": list(run.candidates), "seed": study.seed, **run.args, **run.limits}
    if name:
        return "tiebreak/own", {**common, "protocol": f"{name}@{protocol}", "settings": settings}
    return f"tiebreak/{protocol}", {**common, **settings}


def _items(study: Study, run: Judging) -> dict[str, Any]:
    """Which items are judged: those that were chosen, or so many, drawn by lot."""
    if run.sample_ids:
        return {"sample_id": list(run.sample_ids)}
    return {} if run.n_items is None else drawn(study, run.n_items)


def judging_command(study: Study, run: Judging, folder: StudyFolder) -> str:
    """What to type for the same judging."""
    task, arguments = _task(study, run)
    arguments["candidates"] = ",".join(run.candidates)
    roles = _roles(study, run).items()
    options = [
        *(("model_role", f"{role}={role_text(*models)}") for role, models in roles),
        *_items(study, run).items(),
        ("log_dir", folder.ranking(run.folder)),
    ]
    return inspect_command("eval", task, arguments, options)


def _roles(study: Study, run: Judging) -> dict[str, tuple[ModelChoice, ...]]:
    protocol = Protocol(label=run.label)
    if protocol.by_peers:
        return {"peers": study.peers}
    roles = {"judge": study.judges} if protocol.by_judge else {}
    return roles | ({"meta_judge": (study.meta_judge,)} if roles and study.meta_judge else {})


def judge(study: Study, run: Judging, folder: StudyFolder) -> EvalLog:
    """Judge, or go on with it; the header of the log.

    Raises:
        StudyError: the answers or the judges do not fit.
    """
    task, arguments = _task(study, run)
    roles: dict[str, Any] = {}
    for role, choices in _roles(study, run).items():
        models = [choice.build() for choice in choices]
        roles[role] = models if role == "peers" or len(models) > 1 else models[0]
    place = folder.ranking(run.folder)
    [log] = run_eval_set(
        task,
        place,
        model=None,
        model_roles=roles or None,
        task_args=arguments,
        **_items(study, run),
    )
    return log
