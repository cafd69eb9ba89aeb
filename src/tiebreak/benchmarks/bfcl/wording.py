"""How BFCL's questions are put in words, and its functions as JSON schema."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tiebreak.benchmarks.bfcl.questions import TYPES, parameters_of
from tiebreak.benchmarks.question import Question

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
