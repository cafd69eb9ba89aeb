"""What `inspect` finds under `tiebreak/`: tasks, scorers, metrics and model providers."""

from tiebreak.inspect_tasks.judging import judge_items
from tiebreak.inspect_tasks.rerank import seal
from tiebreak.scorers.ranking import ranking, spread

__all__ = ["judge_items", "ranking", "seal", "spread"]
