"""HumanEval: functions to complete, judged by their tests (Chen et al. 2021, arXiv:2107.03374).

Data: huggingface.co/datasets/openai/openai_humaneval, split test, 164 rows. The first:

    task_id             HumanEval/0
    prompt              from typing import List
                        def has_close_elements(numbers: List[float], threshold: float) -> bool: …
    canonical_solution      for idx, elem in enumerate(numbers): …
    test                def check(candidate):
                            assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3) == True …
    entry_point         has_close_elements

Nothing is scored here, because the tests run the answer's code, which needs a sandbox.
"""

from typing import Final

from tiebreak.benchmarks.program import without_docstrings
from tiebreak.benchmarks.question import Question, Row, text_of, wording

METRIC: Final = "unit_tests"

_GUIDE: Final = wording("humaneval")
_BARE: Final = wording("humaneval.bare")


def read(row: Row, number: int) -> Question:
    """Read a row with `task_id`, `prompt`, `canonical_solution`, `test` and `entry_point`.

    Raises:
        KeyError: a column is missing.
        ValueError: the prompt does not begin the function, or the tests do not define `check`.
    """
    prompt, test, entry_point = (text_of(row, name) for name in ("prompt", "test", "entry_point"))
    if f"def {entry_point}(" not in prompt:
        raise ValueError(f"its prompt does not begin the function {entry_point}")
    if "def check(" not in test:
        raise ValueError("its test does not define check(candidate)")
    return Question(
        id=text_of(row, "task_id"),
        text=prompt,
        target=text_of(row, "canonical_solution"),
        details={"test": test, "entry_point": entry_point},
    )


def prompt(question: Question, documentation: bool = True) -> str:
    """The beginning of a program as a prompt; without `documentation` it has no docstrings."""
    program = question.text.rstrip()
    if documentation:
        return _GUIDE.format(program=program)
    return _BARE.format(program=without_docstrings(program))
