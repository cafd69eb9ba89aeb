"""What `inspect` finds under `tiebreak/`: tasks, solvers, scorers, metrics, models and a sandbox.

Importing a module registers what its decorators mark.
"""

from tiebreak.demo.local import provider
from tiebreak.fair.tasks import fair, replay
from tiebreak.inspect_tasks import (
    answering,
    arena,
    canaries,
    generate,
    judging,
    rerank,
    score_code,
    unit_tests,
)
from tiebreak.sandbox import box
from tiebreak.scorers import ranking

__all__ = [
    "answering",
    "arena",
    "box",
    "canaries",
    "fair",
    "generate",
    "judging",
    "provider",
    "ranking",
    "replay",
    "rerank",
    "score_code",
    "unit_tests",
]
