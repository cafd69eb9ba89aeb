"""Two ways to write calls down: BFCL's own, which looks like Python, and JSON. Nothing is run."""

import ast
import json
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from tiebreak.benchmarks.program import parse_program

_MOST_BITS: Final = 10_000
"""Of an integer; Python reads no decimal number that is much larger."""

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
    """One call: the function's name as it was written, and its arguments by name."""

    name: str
    arguments: Mapping[str, Any]


class NoCallsError(ValueError):
    """A text does not follow its notation."""


def calls_from_json(text: str) -> list[Call]:
    r"""Calls as JSON: one, or a list of them, in the common shapes.

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
    # With a description it is a function as the prompt shows it, not a call.
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
    """Calls as BFCL writes them, `[f(a=1, b="x"), g.h(c=[1, 2])]`; outer brackets may be missing.

    Values are read as BFCL reads them: a bare word is a text, a call without named arguments is
    the text of it and any other one an object, arithmetic is evaluated. Arguments without a name
    are dropped. Unlike there, `+5` is 5 and not -5, and arithmetic is for numbers.

    Args:
        text: What may be calls.
        only_named: Take no call that has an argument without a name.

    Raises:
        NoCallsError: it is anything else.
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
    # `**more` is not an argument of any function: under this name the call is read, and wrong.
    return Call(_name(node.func), {k.arg or "**": _value(k.value) for k in node.keywords})


def _name(node: ast.expr) -> str:
    """A dotted name."""
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
    # A power of integers is bounded before it is evaluated: it could take hours.
    bits = numbers[0].bit_length() if isinstance(numbers[0], int) else 0
    if isinstance(sign, ast.Pow) and bits * abs(numbers[1]) > _MOST_BITS:
        raise NoCallsError("too large a power")
    return _bounded(_OPERATORS[type(sign)](*numbers))


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise NoCallsError("too large a number")
    return value
