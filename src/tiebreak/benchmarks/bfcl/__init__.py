"""BFCL: which functions to call, and with which arguments (Patil et al. 2025, PMLR 267).

Questions of one turn in Python's types: `categories.LEFT_OUT` says what is left out. A model may
make its calls through a harness's tool calling (`score_calls`) or write them down (`score`).
"""

from typing import Final

from tiebreak.benchmarks.bfcl.calls import written_calls
from tiebreak.benchmarks.bfcl.categories import CATEGORIES, LEFT_OUT, category_named
from tiebreak.benchmarks.bfcl.check import problem, score, score_calls
from tiebreak.benchmarks.bfcl.notation import Call
from tiebreak.benchmarks.bfcl.questions import read
from tiebreak.benchmarks.bfcl.rows import INSTALL, load_rows
from tiebreak.benchmarks.bfcl.wording import (
    call_schema,
    prompt,
    tool_name,
    tool_schema,
    without_descriptions,
)

__all__ = [
    "CATEGORIES",
    "INSTALL",
    "LEFT_OUT",
    "METRIC",
    "Call",
    "call_schema",
    "category_named",
    "load_rows",
    "problem",
    "prompt",
    "read",
    "score",
    "score_calls",
    "tool_name",
    "tool_schema",
    "without_descriptions",
    "written_calls",
]

METRIC: Final = "function_call"
