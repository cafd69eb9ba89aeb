"""Read the function calls of an answer and check them.

Models write calls in BFCL's form, `[f(a=1, b="x"), g.h(c=[1])]`, which looks like Python, or as
JSON, `{"name": "f", "arguments": {"a": 1}}`; bare, in a fence or after some prose. Nothing is run.

Calls are right if and only if BFCL's own checker for Python accepts them. The rules are those of
`ast_checker` in `bfcl-eval` 2026.3.23 (Patil et al. 2025, PMLR 267), including its oddities; a test
compares the two on thousands of calls. Where that checker raises an error, there are rules here: an
integer too large for a float is wrong, and an admitted value of an impossible type, e.g. a number
for a list, admits nothing.
"""

import ast
import contextlib
import json
import operator
import re
import reprlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tiebreak.benchmarks.bfcl.questions import ANY_CALL, LISTS, NO_CALL, TYPES, parameters_of
from tiebreak.benchmarks.program import parse_program
from tiebreak.benchmarks.question import Question, Verdict

METRIC: Final = "function_call"

LONGEST_ANSWER: Final = 20_000
"""Number of characters at the end of an answer that are read, which bounds the time."""
_DEEPEST: Final = 4
"""Depth of nested brackets down to which calls are searched for, to bound the time."""

_BRACKET: Final = re.compile(r"[\[\](){}]")
_INSIDE: Final = re.compile(r"\\.|[\[\](){}\"'\n]", re.DOTALL)
_EMPTY_LINE: Final = re.compile(r"[^\S\n]*\n")
_PAIRS: Final = {"]": "[", ")": "(", "}": "{"}
# Fences and tags around tool calls; a letter outside them is prose.
_MARKUP: Final = re.compile(r"`{3,}\w*|</?[\w|]+>")
_LETTER: Final = re.compile(r"[^\W\d_]")
_BULLET: Final = re.compile(r"[\s`*•>\-–—\d.)]*")

_MOST_BITS: Final = 10_000
"""Maximum size of an integer in bits; Python parses no decimal number that is much larger."""

_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., Any]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


class Call(NamedTuple):
    """A call: the function's name as written, and its arguments by name."""

    name: str
    arguments: Mapping[str, Any]


class NoCallsError(ValueError):
    """A text is not in the notation of calls that it is read as."""


def written_calls(text: str) -> list[Call]:
    """Read the calls of an answer, in order; empty if it calls nothing.

    An answer that has only calls is read like in BFCL. In any other answer the last group of calls
    counts, so that drafts and reasoning before it are ignored: JSON or calls in square brackets
    anywhere, a bare `f(a=1)` only on lines of its own, because a refusal may mention a function.
    There, calls with unnamed arguments are code and do not count. Thinking (`<think>…</think>`) is
    not part of an answer.
    """
    text = without_thinking(text)[-LONGEST_ANSWER:]
    stripped = text.strip().strip("`\n ")
    for read in (calls_from_json, calls_from_python):
        try:
            return read(stripped)
        except NoCallsError:
            continue
    return _last_group(text)


def without_thinking(text: str) -> str:
    """An answer without its thinking; after an unclosed `<think>` there is no answer."""
    return text.rpartition("</think>")[2].partition("<think>")[0]


def _last_group(text: str) -> list[Call]:
    """The last calls of a text that have no prose between them."""
    group: list[Call] = []
    begin = len(text)
    for start, end, bare in _spans_backwards(text):
        if end > begin:
            continue
        if group and _LETTER.search(_MARKUP.sub("", text[end:begin])):
            break
        if calls := _calls_in(text[start:end], bare):
            group = calls + group
            begin = start
    return group


def _calls_in(text: str, bare: bool) -> list[Call]:
    if not bare:
        try:
            return calls_from_json(text)
        except NoCallsError:
            pass
    if "(" not in text:
        return []
    try:
        calls = calls_from_python(text, only_named=True)
    except NoCallsError:
        return []
    # A bare `main()` on a line of its own is part of a program, not a call of a function on offer.
    return [] if bare and not all(call.arguments for call in calls) else calls


def _spans_backwards(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of possible calls, the last first, and whether they are bare.

    They are brackets, outer ones first; if bare, their lines without bullets, numbers and fences.
    """
    tried = len(text)
    for begin, end in reversed(_brackets(text)):
        if text[begin] != "(":
            yield begin, end, False
        elif begin < tried:
            tried = text.rfind("\n", 0, begin) + 1
            if bullet := _BULLET.match(text, tried, begin):
                tried = bullet.end()
            last = text.find("\n", end)
            line = text[tried : last if last >= 0 else None]
            yield tried, tried + len(line.rstrip("`*,;. \t\r")), True


def _brackets(text: str) -> list[tuple[int, int]]:
    """Start and end of pairs of brackets, in the order in which they close.

    Brackets in quotes do not count. A quote ends with its line, so that an apostrophe hides at most
    the rest of it, and an empty line closes all brackets.
    """
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    quote, position = "", 0
    while mark := (_INSIDE if opened else _BRACKET).search(text, position):
        sign, position = mark[0], mark.end()
        if sign == "\n":
            quote = ""
            if _EMPTY_LINE.match(text, position):
                opened.clear()
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in {'"', "'"}:
            quote = sign
        elif sign in _PAIRS.values():
            opened.append(mark.start())
        elif sign in _PAIRS:
            if not opened or text[opened[-1]] != _PAIRS[sign]:
                opened.clear()
            elif len(opened) <= _DEEPEST:
                spans.append((opened.pop(), position))
            else:
                opened.pop()
    return spans


def calls_from_json(text: str) -> list[Call]:
    r"""Read calls as JSON: one, or a list of them, in the common shapes.

        {"name": "f", "arguments": {"a": 1}}       also with "parameters", or as JSON text
        {"function": "f", "parameters": {"a": 1}}
        {"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}

    Raises:
        NoCallsError: the text is not JSON, or not a call.
    """
    try:
        value = json.loads(text)
        return [_call_from(entry) for entry in (value if isinstance(value, list) else [value])]
    except (ValueError, RecursionError) as error:
        raise NoCallsError(str(error)) from error


def _call_from(entry: Any) -> Call:
    inner = entry.get("function") if isinstance(entry, dict) else None
    call = inner if isinstance(inner, dict) else entry
    # An object with a description is a function quoted from the prompt, not a call.
    if not isinstance(call, dict) or "description" in call:
        raise NoCallsError("no call")
    name = call.get("name", call.get("function"))
    arguments = call.get("arguments", call.get("parameters"))
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    if not (isinstance(name, str) and isinstance(arguments, dict)):
        raise NoCallsError("no name or no arguments")
    return Call(name, arguments)


def calls_from_python(text: str, *, only_named: bool = False) -> list[Call]:
    """Read calls in BFCL's form, `[f(a=1, b="x"), g.h(c=[1, 2])]`; outer brackets may be missing.

    Values are read like in BFCL: a bare word is a text, a call without named arguments is its
    source text, any other call an object, and arithmetic is evaluated. Unnamed arguments are
    dropped. Unlike in BFCL, `+5` is 5 and not -5, and arithmetic is for numbers only.

    With `only_named`, a call that has unnamed arguments is not a call.

    Raises:
        NoCallsError: the text has any other form.
    """
    source = text if text.startswith("[") else f"[{text}"
    source = source if source.endswith("]") else f"{source}]"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes, such as "\d"
            body = parse_program(source).body
        if len(body) != 1 or not isinstance(body[0], ast.Expr):
            raise NoCallsError("no expression")
        nodes = body[0].value.elts if isinstance(body[0].value, ast.List) else [body[0].value]
        return [_call(node, only_named) for node in nodes]
    except (SyntaxError, ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise NoCallsError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise NoCallsError("nested too deeply") from error


def _call(node: ast.expr, only_named: bool = False) -> Call:
    if not isinstance(node, ast.Call) or (only_named and node.args):
        raise NoCallsError("no call, or one with unnamed arguments")
    # `**more` gets the name "**", which no parameter has, so that the call is read, but wrong.
    return Call(_name(node.func), {k.arg or "**": _value(k.value) for k in node.keywords})


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant(value=value):
            return "..." if value is Ellipsis else _bounded(value)
        case ast.Name(id=name):
            return name
        case ast.List(elts=items):
            return [_value(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=sign, operand=operand):
            return _evaluated(sign, _value(operand))
        case ast.BinOp(left=left, op=sign, right=right):
            return _evaluated(sign, _value(left), _value(right))
        case ast.Call(keywords=[]) | ast.Subscript():
            return ast.unparse(node)
        case ast.Call():
            return dict([_call(node)])
    raise NoCallsError("not a value")


def _evaluated(sign: ast.operator | ast.unaryop, *numbers: Any) -> Any:
    if not all(isinstance(number, int | float) for number in numbers):
        raise NoCallsError("arithmetic with something other than numbers")
    # A power of integers is checked before it is evaluated, because that could take hours.
    bits = numbers[0].bit_length() if isinstance(numbers[0], int) else 0
    if isinstance(sign, ast.Pow) and bits * abs(numbers[1]) > _MOST_BITS:
        raise NoCallsError("too large a power")
    return _bounded(_OPERATORS[type(sign)](*numbers))


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise NoCallsError("too large a number")
    return value


OMITTED: Final = ""
"""Admitted value of an argument that may be omitted."""

_SHORT: Final = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 20
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200
_SKIPPED: Final = re.compile(r"[ ,./\-_*^]")


def score(answer: str, question: Question) -> Verdict:
    """Check the calls written in an answer."""
    return score_calls(written_calls(answer), answer, question)


def score_calls(calls: Sequence[Call], answer: str, question: Question) -> Verdict:
    """Check the calls of a reply with the text `answer`.

    An empty answer without calls is always wrong, even if it is right to call nothing: it is mostly
    a broken generation, not a refusal. (BFCL's own checker accepts it.)
    """
    written = ", ".join(map(_written, calls)) or None
    if not calls and not without_thinking(answer).strip():
        return Verdict(False, None, "the answer is empty")
    why = problem(calls, question)
    return Verdict(why is None, written, why or "")


def problem(calls: Sequence[Call], question: Question) -> str | None:
    """What is wrong with the calls, or None if they are right."""
    category, truth = question.details["category"], question.details["ground_truth"]
    if category in NO_CALL:
        return f"no function fits, and {_shown(calls[0].name)} was called" if calls else None
    if category in ANY_CALL:
        return None if calls else "no function was called"
    if len(calls) != len(truth):
        return f"the right number of calls is {len(truth)}, and {len(calls)} were made"
    # As in BFCL's checker, each right call is matched to the first call that fits, in any order,
    # but without backtracking.
    left = list(calls)
    for right in truth:
        ((name, admitted),) = right.items()
        # In older releases, some ground truths have another name for the only function on offer.
        tools = [
            tool for tool in question.tools if tool["name"] == name or len(question.tools) == 1
        ]
        if not tools:
            return f"the right function, {name}, is not on offer"
        problems = [_call_problem(call, tools[0], admitted) for call in left]
        if None not in problems:
            return problems[0] if len(truth) == 1 else f"no call is the right one of {name}"
        del left[problems.index(None)]
    return None


def _call_problem(
    call: Call, tool: Mapping[str, Any], admitted: Mapping[str, Sequence[Any]]
) -> str | None:
    name, parameters = tool["name"], parameters_of(tool)
    # Many providers allow no dots in names, so functions are also offered with underscores.
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
        with contextlib.suppress(OverflowError):  # too large for a float: it stays an int
            value = float(value)
    given, expected, written = type(value), TYPES[kind], _type_written(admitted)
    items = TYPES[schema["items"]["type"]] if kind in LISTS else None
    if given not in {expected, written}:
        return False
    if given is expected and items and not _items_fit(value, items, admitted):
        return False
    # A ground truth of another type has a variable or an expression in place of the value.
    if written not in {None, expected}:
        return value in admitted
    if expected is dict:
        return any(_object_fits(value, other) for other in admitted)
    if items is dict:
        lists = [other for other in admitted if isinstance(other, list | str)]
        return any(
            len(value) == len(other) and all(map(_object_fits, value, other)) for other in lists
        )
    if expected is list:
        lists = [list(map(_plain, o)) for o in admitted if isinstance(o, list | str)]
        return list(map(_plain, value)) in lists
    if expected is str:
        return _plain(value) in [_plain(other) for other in admitted if isinstance(other, str)]
    return value in admitted


def _type_written(admitted: Sequence[Any]) -> type | None:
    """Type of the first value in a ground truth, or None if it has no value."""
    return next((type(value) for value in admitted if value != OMITTED), None)


def _items_fit(value: Sequence[Any], inner: type, admitted: Sequence[Any]) -> bool:
    """Whether all items have the type of some admitted list; other values admit any items."""
    return any(
        not isinstance(other, list)
        or {type(item) for item in value} <= {inner, _type_written(other)}
        for other in admitted
    )


def _object_fits(value: Any, other: Any) -> bool:
    """Whether each value of an object is listed in `other`; only `OMITTED` keys may be missing."""
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


def _plain(value: Any) -> Any:
    """A text without case, spaces and most punctuation; other values unchanged."""
    if not isinstance(value, str):
        return value
    return _SKIPPED.sub("", value).lower().replace("'", '"')


def _shown(value: Any) -> str:
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer with more digits than Python converts to text
        return "a huge number"


def _written(call: Call) -> str:
    arguments = ", ".join(f"{name}={_shown(value)}" for name, value in call.arguments.items())
    # A log file cannot hold a lone surrogate.
    return f"{call.name}({arguments})".encode("utf-8", "backslashreplace").decode("utf-8")
