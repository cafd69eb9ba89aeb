"""What `inspect` finds under `tiebreak/`: tasks, solvers, scorers, metrics and model providers."""

from tiebreak.inspect_tasks.generate import bfcl, gsm8k, humaneval, mmlu
from tiebreak.inspect_tasks.judging import judge_items
from tiebreak.inspect_tasks.native import chosen_letter, final_number, function_call
from tiebreak.inspect_tasks.prompting import ask, ask_for_calls
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
from tiebreak.inspect_tasks.score_code import give_answer
from tiebreak.inspect_tasks.unit_tests import confirmed_sandbox, unit_tests
from tiebreak.local.provider import tiebreak_local
from tiebreak.scorers.ranking import least_squares, ranking, spread
from tiebreak.scorers.standing import borda, borda_stderr, place

__all__ = [
    "ask",
    "ask_for_calls",
    "bfcl",
    "borda",
    "borda_stderr",
    "chosen_letter",
    "confirmed_sandbox",
    "final_number",
    "fixed_rubric",
    "flat_bracket",
    "full_pairwise",
    "function_call",
    "give_answer",
    "gsm8k",
    "humaneval",
    "judge_items",
    "least_squares",
    "listwise",
    "mmlu",
    "original",
    "own",
    "peer_review",
    "place",
    "pointwise",
    "ranking",
    "seal",
    "sorted",
    "spread",
    "swiss",
    "tiebreak_local",
    "unit_tests",
]
