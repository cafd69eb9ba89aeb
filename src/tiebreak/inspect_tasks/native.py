"""Native scores: the benchmarks' own metrics, as Inspect scorers over the whole written answer."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio.to_thread
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState

from tiebreak.inspect_tasks.prompting import LETTERS
from tiebreak.inspect_tasks.run_code import run_tests

_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_MARKED: Final = re.compile(r"####\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_SAID: Final = re.compile(r"answer\s*(?:is|:)?\s*\(?([A-J])\b", re.IGNORECASE)
_LEADING: Final = re.compile(r"\W*([A-J])(?=[).:,\s]|\Z)")


@scorer(metrics=[accuracy(), stderr()])
def final_number() -> Scorer:
    """GSM8K: is the number after `####`, else the last number, the target's?"""

    async def score(state: TaskState, target: Target) -> Score:
        found = last_number(state.output.completion)
        wanted = last_number(target.text)
        right = found is not None and wanted is not None and math.isclose(found, wanted)
        return _score(right, None if found is None else f"{found:g}")

    return score


@scorer(metrics=[accuracy(), stderr()])
def chosen_letter() -> Scorer:
    """MMLU: is the chosen letter the target's?"""

    async def score(state: TaskState, target: Target) -> Score:
        found = letter(state.output.completion, [choice.value for choice in state.choices])
        return _score(found == target.text, found)

    return score


@scorer(metrics=[accuracy(), stderr()])
def function_call() -> Scorer:
    """BFCL: is the call one of those that the ground truth admits?"""

    async def score(state: TaskState, target: Target) -> Score:
        problem = call_problem(state.output.completion, state.metadata["ground_truth"])
        return _score(problem is None, state.output.completion, problem)

    return score


@scorer(metrics=[accuracy(), stderr()])
def unit_tests() -> Scorer:
    """HumanEval: do the tests pass? The code is run as `run_code` describes."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = await anyio.to_thread.run_sync(
            lambda: run_tests(
                state.output.completion,
                prompt=state.input_text,
                test=state.metadata["test"],
                entry_point=state.metadata["entry_point"],
            )
        )
        return _score(outcome.passed, state.output.completion, outcome.why)

    return score


def last_number(text: str) -> float | None:
    """The number after the last `####`, else the last number of a text, else None."""
    found = _MARKED.findall(text) or _NUMBER.findall(text)
    return float(found[-1].replace(",", "")) if found else None


def letter(answer: str, choices: Sequence[str]) -> str | None:
    """The letter that an answer chooses: said, at its beginning, or by the text of one choice."""
    letters = LETTERS[: len(choices)]
    for pattern in (_LEADING.match, _SAID.search):
        if (match := pattern(answer)) and match[1].upper() in letters:
            return match[1].upper()
    named = [
        mark
        for mark, choice in zip(letters, choices, strict=True)
        if re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", answer, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else None


def call_problem(answer: str, ground_truth: Sequence[Mapping[str, Any]]) -> str | None:
    """What is wrong with a written function call, or None when the ground truth admits it.

    Args:
        answer: JSON of the form `{"name": ..., "arguments": {...}}`.
        ground_truth: One entry per expected call: function → parameter → admitted values. The
            empty string among them means that the parameter may be left out.
    """
    try:
        call = json.loads(answer)
        name, arguments = call["name"], call["arguments"]
    except (json.JSONDecodeError, RecursionError, KeyError, TypeError):
        return "no function call in JSON"
    if not isinstance(arguments, dict):
        return "the arguments are no JSON object"
    if len(ground_truth) != 1:
        return f"{len(ground_truth)} calls were expected, and one was made"
    (expected, parameters), *_ = ground_truth[0].items()
    if name != expected:
        return f"the function is {name}, not {expected}"
    if unknown := sorted(set(arguments) - set(parameters)):
        return f"there is no argument {', '.join(unknown)}"
    for parameter, admitted in parameters.items():
        if parameter not in arguments:
            if "" not in admitted:
                return f"the argument {parameter} is missing"
        elif not any(_same(arguments[parameter], value) for value in admitted):
            return f"{parameter} is {arguments[parameter]!r}"
    return None


def _same(given: Any, admitted: Any) -> bool:
    """Equality of JSON values: numbers by value, texts without case and outer spaces."""
    if isinstance(given, bool) or isinstance(admitted, bool):
        return given is admitted
    if isinstance(given, int | float) and isinstance(admitted, int | float):
        return math.isclose(given, admitted)
    if isinstance(given, str) and isinstance(admitted, str):
        return given.strip().casefold() == admitted.strip().casefold()
    if isinstance(given, list) and isinstance(admitted, list):
        return len(given) == len(admitted) and all(map(_same, given, admitted))
    if isinstance(given, dict) and isinstance(admitted, dict):
        # Inside a nested object BFCL lists the admitted values of each key.
        return given.keys() == admitted.keys() and all(
            any(_same(given[key], value) for value in values)
            if isinstance(values := admitted[key], list)
            else _same(given[key], values)
            for key in given
        )
    return bool(given == admitted)


def _score(right: bool, answer: str | None, why: str | None = None) -> Score:
    return Score(value=CORRECT if right else INCORRECT, answer=answer, explanation=why or None)
