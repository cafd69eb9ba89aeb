"""Entry point of `tiebreak/` names: tasks, solvers, scorers, metrics, models and a sandbox.

Importing a module registers the objects that its decorators mark.
"""

from importlib import import_module

for _module in (
    "demo.local.provider",
    "fair.tasks.fair",
    "fair.tasks.replay",
    "inspect_tasks.answering",
    "inspect_tasks.arena",
    "inspect_tasks.canaries",
    "inspect_tasks.generate",
    "inspect_tasks.judging",
    "inspect_tasks.rerank",
    "inspect_tasks.score_code",
    "inspect_tasks.unit_tests",
    "sandbox.box",
    "scorers.ranking",
):
    import_module(f"tiebreak.{_module}")
