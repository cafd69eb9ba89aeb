"""A question of BFCL: out of a row its messages, the functions on offer and the right calls.

And how it is put in words, and its functions as JSON schema.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tiebreak.benchmarks.bfcl.categories import ANY_CALL, NO_CALL, category_in, category_named
from tiebreak.benchmarks.question import Question, Row, name_of, text_of

TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
"""BFCL's names of types, and the type that a value must have in Python."""
ROLES: Final = ("system", "user", "assistant")
LISTS: Final = frozenset({"array", "tuple"})

_PROMPT: Final = """\
Call the function that answers the request. Reply with JSON: {{"name": ..., "arguments": {{...}}}}
For several calls reply with a list of them. If no function fits, say so in words.

Functions:
{functions}

{request}"""

_JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def read(row: Row, number: int) -> Question:
    """A row with `id`, `question`, `function` and `ground_truth`, and perhaps its `category`.

    Each column may also be JSON text. A question is a list of messages or of one turn of messages,
    as the releases of BFCL have it, or just a text. A row without a category has that of its id
    (`live_simple_3-2-0`), else the one that fits its functions and its right calls.

    Raises:
        KeyError: a column is missing.
        ValueError: a column is not what it should be, the question has several turns, or its
            category is left out.
    """
    name = name_of(row, f"bfcl_{number}")
    messages = _messages(row["question"])
    tools = _tools(row["function"])
    category = category_named(row["category"]) if row.get("category") else category_in(name)
    truth = [] if category in NO_CALL | ANY_CALL else _truth(row["ground_truth"])
    if category is None:
        category = _fitting(tools, truth)
    elif not truth and category not in NO_CALL | ANY_CALL:
        raise ValueError("its ground truth holds no call")
    return Question(
        id=name,
        text="\n".join(part["content"] for part in messages if part["role"] != "system"),
        target=json.dumps(truth, ensure_ascii=False),
        tools=tuple(tools),
        messages=tuple(messages) if len(messages) > 1 else (),
        details={"category": category, "ground_truth": truth},
    )


def parameters_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of a function by name, each with its own schema."""
    return (tool.get("parameters") or {}).get("properties") or {}


def _fitting(tools: Sequence[Any], truth: Sequence[Any]) -> str:
    if not truth:
        return "irrelevance"
    if len(truth) > 1:
        return "parallel" if len(tools) == 1 else "parallel_multiple"
    return "simple" if len(tools) == 1 else "multiple"


def _messages(value: Any) -> list[Mapping[str, str]]:
    if isinstance(value, str):
        value = _conversation(value) or [{"role": "user", "content": value}]
    if value and all(isinstance(turn, list) for turn in value):
        if len(value) > 1:
            raise ValueError(f"its question has {len(value)} turns; only one is supported")
        value = value[0]
    messages: list[Mapping[str, str]] = [
        {"role": text_of(m, "role"), "content": text_of(m, "content")} for m in value
    ]
    if unknown := sorted({message["role"] for message in messages} - set(ROLES)):
        raise ValueError(f"its question has messages of {', '.join(unknown)}")
    if not any(message["role"] == "user" for message in messages):
        raise ValueError("its question holds no message of a user")
    return messages


def _conversation(text: str) -> list[Any] | None:
    """Messages that are given as JSON text; None for any other text."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    holds = isinstance(parsed, list) and all(isinstance(part, dict | list) for part in parsed)
    return parsed if holds else None


def _tools(value: Any) -> list[Mapping[str, Any]]:
    value = _from_json(value)
    tools = [_from_json(tool) for tool in (value if isinstance(value, list) else [value])]
    if not all(isinstance(tool, dict) and "name" in tool for tool in tools):
        raise ValueError("its function is not a list of functions with names")
    for tool in tools:
        for name, schema in parameters_of(tool).items():
            _check_type(schema, f"{tool['name']}({name})")
    return tools


def _check_type(schema: Mapping[str, Any], where: str) -> None:
    kind = schema.get("type")
    if kind not in TYPES:
        raise ValueError(f"{where} has the type {kind!r}; BFCL's are {', '.join(TYPES)}")
    items = schema.get("items") or {}
    if kind in LISTS and items.get("type") not in TYPES:
        raise ValueError(f"{where} does not say the type of its items")
    inner = {"[]": items} if kind in LISTS else {}
    for name, part in {**inner, **(schema.get("properties") or {})}.items():
        # Inside of a parameter a type may be missing; then it is any.
        _check_type({"type": "any", **part}, f"{where}.{name}")


def _truth(value: Any) -> list[Mapping[str, Any]]:
    """The right calls: function → parameter → admitted values."""
    calls = _from_json(value)
    if not isinstance(calls, list):
        raise ValueError("its ground truth is not a list of calls")
    for call in calls:
        if not (isinstance(call, dict) and len(call) == 1):
            raise ValueError(
                f"its ground truth holds {call!r}, which is not a call of one function"
            )
        (arguments,) = call.values()
        if not isinstance(arguments, dict):
            raise ValueError(f"its ground truth holds {call!r}, which has no arguments by name")
        if not all(isinstance(values, list) for values in arguments.values()):
            raise ValueError(f"its ground truth holds {call!r}, which lists no admitted values")
    return calls


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def prompt(question: Question, documentation: bool = True) -> str:
    """The request and the functions on offer, for a reply in words.

    The wording is the same for every category: it must not give away how many calls are right.

    Args:
        question: The question. A conversation is written message by message.
        documentation: Whether the functions and their parameters are described.
    """
    tools = question.tools if documentation else without_descriptions(question.tools)
    request = f"Request: {question.text}"
    if question.messages:
        lines = (f"{message['role']}: {message['content']}" for message in question.messages)
        request = "\n".join(["Conversation:", *lines])
    return _PROMPT.format(
        functions="\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools),
        request=request,
    )


def without_descriptions(tool: Any) -> Any:
    """A function's schema, or several, without descriptions; a parameter of that name stays."""
    if isinstance(tool, list | tuple):
        return [without_descriptions(part) for part in tool]
    if not isinstance(tool, Mapping):
        return tool
    return {
        key: without_descriptions(value)
        for key, value in tool.items()
        if not (key == "description" and isinstance(value, str))
    }


def tool_name(tool: Mapping[str, Any]) -> str:
    """A function's name as providers allow it: without dots."""
    return str(tool["name"]).replace(".", "_")


def tool_schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of a function's parameters.

    An object whose properties the data do not name may have any; no other has further ones. Of the
    admitted values those count that are of the parameter's own type: the data have some booleans
    that are listed as texts. Those of a list are those of its items.
    """
    required = (tool.get("parameters") or {}).get("required")
    return _schema({"type": "dict", "properties": parameters_of(tool), "required": required})


def call_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """JSON schema of one call to one of the functions, in the form that `prompt` requests."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [tool["name"]]},
                "arguments": tool_schema(tool),
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    expected = TYPES[schema.get("type", "any")]
    result: dict[str, Any] = {"type": _JSON_TYPES[expected]}
    for key in ("description", "default"):
        if schema.get(key) is not None:
            result[key] = schema[key]
    values = schema.get("enum") or ()
    if expected is dict and schema.get("properties") is not None:
        properties = schema["properties"]
        result["properties"] = {name: _schema(part) for name, part in properties.items()}
        result["required"] = [name for name in schema.get("required") or () if name in properties]
        result["additionalProperties"] = False
    if expected is list:
        items = schema.get("items") or {}
        result["items"] = _schema({"enum": values, **items})
    elif admitted := [value for value in values if type(value) is expected]:
        result["enum"] = admitted
    return result
