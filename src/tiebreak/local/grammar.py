"""JSON schema → a grammar that a small model cannot get lost in.

A small model that may write free text writes it until the token budget ends, and the JSON never
closes. So every open end of a schema is bounded before it becomes a grammar, and the whitespace is
fixed. What is bounded is a subset of the schema: a valid reply stays valid.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

TEXT_BUDGET: Final = 120
"""Characters that all unbounded strings of a schema share, within the two limits below."""
SHORTEST_TEXT: Final = 16
LONGEST_TEXT: Final = 120
MOST_ITEMS: Final = 6
LARGEST_NUMBER: Final = 1_000_000_000
NUMBER_STEP: Final = 0.01

_LAYOUT: Final = {
    "whitespace_flexible": False,
    "item_separator": ",",
    "key_separator": ":",
}
_IRRELEVANT: Final = {"description", "default", "title", "examples"}


def grammar(schema: Mapping[str, Any]) -> str:
    """Grammar in llguidance's format that admits the bounded schema in one layout only."""
    compact = {**bounded(schema), "x-guidance": _LAYOUT}
    return f"%llguidance {{}}\nstart: %json {json.dumps(compact, ensure_ascii=False)}\n"


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with an end to every string, number and array.

    Strings without a bound share `TEXT_BUDGET` characters; numbers get two decimals; an object
    that names its properties has no others. An object that names none stays open.
    """
    free = sum(_is_free_text(part) for part in _parts(schema))
    text = min(LONGEST_TEXT, max(SHORTEST_TEXT, TEXT_BUDGET // max(1, free)))
    return _bounded(schema, text)


def _bounded(schema: Mapping[str, Any], text: int) -> dict[str, Any]:
    result = {key: value for key, value in schema.items() if key not in _IRRELEVANT}
    if "properties" in schema:
        result["properties"] = {
            name: _bounded(part, text) for name, part in schema["properties"].items()
        }
        result.setdefault("additionalProperties", False)
    if isinstance(schema.get("additionalProperties"), Mapping):
        result["additionalProperties"] = _bounded(schema["additionalProperties"], text)
    if isinstance(schema.get("items"), Mapping):
        result["items"] = _bounded(schema["items"], text)
    if "anyOf" in schema:
        result["anyOf"] = [_bounded(part, text) for part in schema["anyOf"]]
    if "enum" in schema or "const" in schema:
        return result
    kinds = _kinds(schema)
    if _is_free_text(schema):
        result["maxLength"] = text
    if "array" in kinds:
        result.setdefault("maxItems", max(MOST_ITEMS, schema.get("minItems", 0)))
    if kinds & {"integer", "number"}:
        result.setdefault("minimum", -LARGEST_NUMBER)
        result.setdefault("maximum", LARGEST_NUMBER)
    if "number" in kinds:
        result.setdefault("multipleOf", NUMBER_STEP)
    return result


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    ends = {"maxLength", "pattern", "format", "enum", "const"}
    return "string" in _kinds(schema) and not ends & set(schema)


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kind = schema.get("type")
    return {kind} if isinstance(kind, str) else set(kind or ())


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and all schemas inside it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for part in (*inner, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, Mapping):
            yield from _parts(part)
