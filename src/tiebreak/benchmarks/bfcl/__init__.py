"""BFCL: which functions to call, and with which arguments (Patil et al. 2025, PMLR 267).

Data: the package `bfcl-eval` (see `rows`). A row of the category simple:

    id            simple_python_0
    question      [[{"role": "user", "content": "Find the area of a triangle with a base of …"}]]
    function      [{"name": "calculate_triangle_area", "parameters": {"type": "dict", …}}]
    ground_truth  [{"calculate_triangle_area": {"base": [10], "height": [5], "unit": […]}}]

Only questions of one turn in Python's types: `categories.LEFT_OUT` says what is left out. A model
may make its calls through a harness's tool calling (`score_calls`) or write them down (`score`).
"""

from typing import Final

from tiebreak.benchmarks.bfcl.calls import written_calls
from tiebreak.benchmarks.bfcl.categories import CATEGORIES, LEFT_OUT, category_named
from tiebreak.benchmarks.bfcl.check import problem, score, score_calls
from tiebreak.benchmarks.bfcl.notation import Call
from tiebreak.benchmarks.bfcl.questions import read
from tiebreak.benchmarks.bfcl.rows import INSTALL, categories_named, load_rows
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
    "categories_named",
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
