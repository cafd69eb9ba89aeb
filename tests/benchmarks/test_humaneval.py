"""HumanEval: rows of the original schema, and the two ways to ask."""

from typing import Any

import pytest

from tiebreak.benchmarks import humaneval
from tiebreak.benchmarks.question import Question

ROW = {
    "task_id": "HumanEval/x",
    "prompt": 'import math\n\ndef add(a, b):\n    """Add {a} and b."""\n',
    "canonical_solution": "    return a + b\n",
    "test": "\nMETADATA = {}\n\ndef check(candidate):\n    assert candidate(1, 2) == 3\n",
    "entry_point": "add",
}


def test_a_row_becomes_a_question() -> None:
    assert humaneval.read(ROW, 7) == Question(
        "HumanEval/x",
        ROW["prompt"],
        ROW["canonical_solution"],
        details={"test": ROW["test"], "entry_point": "add"},
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"entry_point": "sub"}, "its prompt does not begin the function sub"),
        ({"test": "assert add(1, 2) == 3"}, r"its test does not define check\(candidate\)"),
    ],
)
def test_rows_that_cannot_be_scored_say_why(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        humaneval.read({**ROW, **change}, 0)


@pytest.mark.parametrize("column", ROW)
def test_missing_columns_are_named(column: str) -> None:
    with pytest.raises(KeyError, match=column):
        humaneval.read({name: text for name, text in ROW.items() if name != column}, 0)


def test_the_prompt_holds_the_program_with_or_without_its_docstring() -> None:
    question = humaneval.read(ROW, 0)
    asked = humaneval.prompt(question, documentation=True)
    assert f"```python\n{ROW['prompt'].rstrip()}\n```" in asked
    bare = humaneval.prompt(question, documentation=False)
    assert "```python\nimport math\n\ndef add(a, b):\n```" in bare
