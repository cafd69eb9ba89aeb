"""What `inspect` finds under `tiebreak/`: tasks, solvers, scorers, metrics and model providers."""

from tiebreak.inspect_tasks.generate import bfcl, gsm8k, humaneval, mmlu
from tiebreak.inspect_tasks.judging import judge_items
from tiebreak.inspect_tasks.native import chosen_letter, final_number, function_call, unit_tests
from tiebreak.inspect_tasks.prompting import ask
from tiebreak.inspect_tasks.rerank import (
    fixed_rubric,
    flat_bracket,
    full_pairwise,
    listwise,
    original,
    own,
    peer_review,
    pointwise,
    seal,
    sorted,
    swiss,
)
from tiebreak.local.provider import tiebreak_local
from tiebreak.scorers.ranking import least_squares, ranking, spread

__all__ = [
    "ask",
    "bfcl",
    "chosen_letter",
    "final_number",
    "fixed_rubric",
    "flat_bracket",
    "full_pairwise",
    "function_call",
    "gsm8k",
    "humaneval",
    "judge_items",
    "least_squares",
    "listwise",
    "mmlu",
    "original",
    "own",
    "peer_review",
    "pointwise",
    "ranking",
    "seal",
    "sorted",
    "spread",
    "swiss",
    "tiebreak_local",
    "unit_tests",
]
