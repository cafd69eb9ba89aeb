"""Answers that are hard to score, each with its question: the same for every harness.

A case is a row in the benchmark's original schema, an answer to it, and whether that is right. The
questions are numbered, so that each case is an item of its own.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Case(NamedTuple):
    row: Mapping[str, Any]
    answer: str
    right: bool


def _gsm8k() -> Iterable[Case]:
    answers = [
        ("So she has 1234.\n#### 1234", True),
        ("#### 1,234", True),
        (r"Hence $\boxed{1,234}$.", True),
        (r"\boxed{1{,}234\text{ dollars}}", True),
        ("The answer is $1,234.00.", True),
        ("**Answer:** 1234 clips\n\nLet me know if you need 2 more examples... or not.", True),
        ("#### 1234 clips in 7 boxes", True),
        ("```\n#### 1234\n```", True),
        ("617 + 617 = 1,234", True),
        ("#### 1234\nI was wrong.\n#### 1235", False),
        (r"\boxed{1.234}", False),
        ("#### 12,34", False),
        ("About 1234, so 1200", False),
        ("twelve hundred and thirty-four", False),
        ("#### 1234" + "9" * 5000, False),
        ("", False),
    ]
    for number, (answer, right) in enumerate(answers):
        row = {"question": f"{number}: how many clips?", "answer": "617 * 2 = 1234\n#### 1,234"}
        yield Case(row, answer, right)


def _mmlu() -> Iterable[Case]:
    answers = [
        ("Sharks swim.\nAnswer: B", True),
        ("**Answer: (B) A shark**", True),
        (r"$\boxed{\text{B}}$", True),
        ("```\nB\n```", True),
        ("The correct option is B, not A.", True),
        ("A shark, of course.", True),
        ("answer: b.\n\nHope that helps!", True),
        ("A horse cannot swim, but a shark can.\nAnswer: B", True),
        ("Answer: B\nWait.\nAnswer: C", False),
        ("A or B", False),
        ("Answer: E", False),
        ("A", False),
        ("", False),
    ]
    for number, (answer, right) in enumerate(answers):
        row = {
            "question": f"{number}: which of these swims?",
            "subject": "zoology",
            "choices": ["A horse", "A shark", "Iron", "Dogs"],
            "answer": 1,
        }
        yield Case(row, answer, right)


def _bfcl() -> Iterable[Case]:
    properties = {
        "minutes": {"type": "integer", "description": "How long."},
        "loud": {"type": "boolean", "description": "Whether it rings."},
        "label": {"type": "string", "description": "What it is for."},
    }
    function = {
        "name": "kitchen.set_timer",
        "description": "Start a timer.",
        "parameters": {"type": "dict", "properties": properties, "required": ["minutes"]},
    }
    truth = [{"kitchen.set_timer": {"minutes": [5], "loud": ["", True], "label": ["", "tea"]}}]

    def call(**arguments: Any) -> str:
        return json.dumps({"name": "kitchen.set_timer", "arguments": arguments})

    answers = [
        (call(minutes=5), True),
        (call(minutes=5, loud=True, label="Tea"), True),
        (f"[{call(minutes=5)}]", True),
        (f"I set the timer.\n```json\n{call(minutes=5)}\n```\nDone.", True),
        ("[kitchen.set_timer(minutes=5)]", True),
        ('kitchen.set_timer(minutes=5, label="tea")', True),
        (call(minutes=5).replace("kitchen.", "kitchen_"), True),
        (call(minutes=5, loud=1), False),
        (call(minutes=True), False),
        (call(minutes="5"), False),
        (call(minutes=5, volume=3), False),
        (call(loud=True), False),
        (f"[{call(minutes=5)}, {call(minutes=5)}]", False),
        ("I cannot set timers.", False),
        ("", False),
    ]
    for number, (answer, right) in enumerate(answers):
        row = {
            "id": f"simple_{number}",
            "question": [[{"role": "user", "content": f"{number}: a timer of 5 minutes, please."}]],
            "function": [function],
            "ground_truth": truth,
        }
        yield Case(row, answer, right)


def _humaneval() -> Iterable[Case]:
    prompt = 'def double(x: int) -> int:\n    """Return x twice."""\n'
    whole = "def double(x: int) -> int:\n    return 2 * x\n"
    wrong = whole.replace("2 * x", "x")
    test = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n"
    answers = [
        ("    return 2 * x\n", True),
        (f"```python\n{whole}```", True),
        (f"First try:\n```python\n{wrong}```\nBetter:\n```\n{whole}```", True),
        (f"```py\n{whole}```\nUse it so:\n```py\nprint(double(2))\n```", True),
        (f"```python\n{wrong}```", False),
        ("class Same:\n    def __eq__(self, other):\n        return True\n\n"
         "def double(x):\n    return Same()\n", False),
        ("import sys\n\ndef double(x):\n    sys.exit(0)\n", False),
        ("Just double it.", False),
        ("", False),
    ]  # fmt: skip
    for number, (answer, right) in enumerate(answers):
        row = {
            "task_id": f"Double/{number}",
            "prompt": f"# {number}\n{prompt}",
            "canonical_solution": "    return 2 * x\n",
            "test": test,
            "entry_point": "double",
        }
        yield Case(row, answer, right)


CASES: Mapping[str, tuple[Case, ...]] = {
    "gsm8k": tuple(_gsm8k()),
    "mmlu": tuple(_mmlu()),
    "bfcl": tuple(_bfcl()),
    "humaneval": tuple(_humaneval()),
}


def write_cases(folder: Path, benchmark: str) -> Path:
    """The rows of a benchmark's cases as a JSON lines file."""
    path = folder / f"{benchmark}.jsonl"
    lines = (json.dumps(case.row, ensure_ascii=False) for case in CASES[benchmark])
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
