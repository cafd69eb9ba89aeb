"""Are these the right calls? What BFCL's own checker accepts for Python, and nothing else.

The rules are those of `ast_checker` in `bfcl-eval` 2026.3.23 (Patil et al. 2025, PMLR 267), its
oddities included; a test compares the two on thousands of calls. That checker raises on some
values: here an integer too large for a float is wrong, and what makes no sense among the admitted
values, such as a number for a list, admits nothing.
"""

import contextlib
import re
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tiebreak.benchmarks.bfcl.calls import Call, without_thinking, written_calls
from tiebreak.benchmarks.bfcl.categories import ANY_CALL, NO_CALL
from tiebreak.benchmarks.bfcl.questions import LISTS, TYPES, parameters_of
from tiebreak.benchmarks.question import Question, Verdict

OMITTED: Final = ""
"""Among the admitted values this says that an argument may be omitted."""

_SHORT: Final = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 20
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200
_SKIPPED: Final = re.compile(r"[ ,./\-_*^]")


def score(answer: str, question: Question) -> Verdict:
    """Does a written answer make the right calls?"""
    return score_calls(written_calls(answer), answer, question)


def score_calls(calls: Sequence[Call], answer: str, question: Question) -> Verdict:
    """Are the calls right?

    Args:
        calls: The calls that were made.
        answer: What was written. Where it is right to call nothing, an answer without words is
            wrong all the same: an empty reply is mostly a broken generation, not a refusal.
            (BFCL's own checker lets it pass.)
        question: The question that was answered.
    """
    found = ", ".join(map(_written, calls)) or None
    if not calls and not without_thinking(answer).strip():
        return Verdict(False, None, "the answer is empty")
    why = problem(calls, question)
    return Verdict(why is None, found, why or "")


def problem(calls: Sequence[Call], question: Question) -> str | None:
    """What is wrong with the calls, or None when they are right."""
    category, truth = question.details["category"], question.details["ground_truth"]
    if category in NO_CALL:
        return f"no function fits, and {_shown(calls[0].name)} was called" if calls else None
    if category in ANY_CALL:
        return None if calls else "no function was called"
    if len(calls) != len(truth):
        return f"the right number of calls is {len(truth)}, and {len(calls)} were made"
    # As in BFCL's checker each right call takes the first call that fits: in any order, but
    # without backtracking.
    left = list(calls)
    for right in truth:
        ((name, admitted),) = right.items()
        tool = _tool_named(name, question)
        if tool is None:
            return f"the right function, {name}, is not on offer"
        problems = [_call_problem(call, tool, admitted) for call in left]
        if None not in problems:
            return problems[0] if len(truth) == 1 else f"no call is the right one of {name}"
        del left[problems.index(None)]
    return None


def _tool_named(name: str, question: Question) -> Mapping[str, Any] | None:
    # The data of older releases call an only function by another name in some ground truths.
    if len(question.tools) == 1:
        return question.tools[0]
    return next((tool for tool in question.tools if tool["name"] == name), None)


def _call_problem(
    call: Call, tool: Mapping[str, Any], admitted: Mapping[str, Sequence[Any]]
) -> str | None:
    name, parameters = tool["name"], parameters_of(tool)
    # Many providers allow no dots in names, so functions are also offered without.
    if call.name not in {name, name.replace(".", "_")}:
        return f"the function is {_shown(call.name)}, not {name!r}"
    for parameter in (tool.get("parameters") or {}).get("required") or ():
        if parameter not in call.arguments:
            return f"the argument {parameter!r} is missing"
    for parameter, value in call.arguments.items():
        if parameter not in parameters or parameter not in admitted:
            return f"there is no argument {_shown(parameter)}"
        if not _is_admitted(value, parameters[parameter], admitted[parameter]):
            return f"{parameter} is {_shown(value)}"
    for parameter, values in admitted.items():
        if parameter not in call.arguments and OMITTED not in values:
            return f"the argument {parameter!r} is missing"
    return None


def _is_admitted(value: Any, schema: Mapping[str, Any], admitted: Sequence[Any]) -> bool:
    kind = schema["type"]
    if kind == "tuple" and type(value) is tuple:
        value = list(value)
    if kind == "float" and type(value) is int:
        with contextlib.suppress(OverflowError):  # too large for a float: it stays what it is
            value = float(value)
    given, expected, written = type(value), TYPES[kind], _type_written(admitted)
    items = TYPES[schema["items"]["type"]] if kind in LISTS else None
    if given not in {expected, written}:
        return False
    if given is expected and items and not _items_fit(value, items, admitted):
        return False
    # The ground truth has a type of its own where a variable or an expression stands for a value.
    if written not in {None, expected}:
        return value in admitted
    if expected is dict:
        return any(_object_fits(value, other) for other in admitted)
    if items is dict:
        return any(_objects_fit(value, other) for other in admitted)
    if expected is list:
        return _plain_all(value) in [_plain_all(o) for o in admitted if isinstance(o, list | str)]
    if expected is str:
        return _plain(value) in [_plain(other) for other in admitted if isinstance(other, str)]
    return value in admitted


def _type_written(admitted: Sequence[Any]) -> type | None:
    """The type of the first value in a ground truth, or None without values."""
    return next((type(value) for value in admitted if value != OMITTED), None)


def _items_fit(value: Sequence[Any], inner: type, admitted: Sequence[Any]) -> bool:
    """Do the items have the type of some admitted list? Anything else admits items of any type."""
    return any(
        not isinstance(other, list)
        or {type(item) for item in value} <= {inner, _type_written(other)}
        for other in admitted
    )


def _objects_fit(value: Sequence[Any], other: Any) -> bool:
    return (
        isinstance(other, list | str)
        and len(value) == len(other)
        and all(map(_object_fits, value, other))
    )


def _object_fits(value: Any, other: Any) -> bool:
    """Does an object have the keys of another, and for each key one of the values listed there?"""
    if not (isinstance(value, dict) and isinstance(other, dict)):
        return False
    return all(
        key in other
        and isinstance(other[key], list | str)
        and _plain(item) in [_plain(value) for value in other[key]]
        for key, item in value.items()
    ) and all(
        key in value or (isinstance(values, list | str) and OMITTED in values)
        for key, values in other.items()
    )


def _plain_all(values: Sequence[Any]) -> list[Any]:
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """A text without case, spaces and most punctuation; anything else as it is."""
    if not isinstance(value, str):
        return value
    return _SKIPPED.sub("", value).lower().replace("'", '"')


def _shown(value: Any) -> str:
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of more digits than Python is willing to write
        return "a huge number"


def _written(call: Call) -> str:
    arguments = ", ".join(f"{name}={_shown(value)}" for name, value in call.arguments.items())
    # A log file cannot hold a lone surrogate.
    return f"{call.name}({arguments})".encode("utf-8", "backslashreplace").decode("utf-8")
