"""The wording, and functions as JSON schema."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from tests.benchmarks.bfcl.mutations import right_calls
from tests.cases import cases
from tiebreak.benchmarks.bfcl.questions import (
    call_schema,
    load_rows,
    prompt,
    read,
    tool_name,
    tool_schema,
    without_descriptions,
)

DATA: Final = Path(__file__).parent / "data"
QUESTIONS: Final = [read(row, number) for number, row in enumerate(load_rows(DATA))]


def described(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key == "description")
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from described(part)


def test_the_wording_tells_nothing_of_the_category() -> None:
    begun = {prompt(question).partition("Functions:")[0] for question in QUESTIONS}
    assert len(begun) == 1


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_functions_and_request(question: Any) -> None:
    text = prompt(question)
    for tool in question.tools:
        assert json.dumps(tool, ensure_ascii=False) in text
    for message in question.messages:
        assert f"{message['role']}: {message['content']}" in text
    if not question.messages:
        assert text.endswith(f"\n\nRequest: {question.text}")


def test_braces_in_a_request_stay() -> None:
    row = {"id": "irrelevance_0", "question": "What is {x} in {functions}?", "function": []}
    assert prompt(read(row, 0)).endswith("Request: What is {x} in {functions}?")


def test_without_documentation() -> None:
    for question in QUESTIONS:
        text = prompt(question, documentation=False)
        for description in described(list(question.tools)):
            assert json.dumps(description, ensure_ascii=False) not in text


def test_a_parameter_of_the_name_description_stays() -> None:
    tool = {
        "name": "f",
        "description": "Says something.",
        "parameters": {
            "type": "dict",
            "properties": {"description": {"type": "string", "description": "What to say."}},
        },
    }
    before = copy.deepcopy(tool)
    assert without_descriptions(tool) == {
        "name": "f",
        "parameters": {"type": "dict", "properties": {"description": {"type": "string"}}},
    }
    assert tool == before


def test_names_for_providers() -> None:
    assert tool_name({"name": "math.tri.area"}) == "math_tri_area"


@pytest.mark.parametrize("case", cases(__file__, "parameters"))
def test_schema_of_a_parameter(case: dict[str, Any]) -> None:
    tool = {"name": "f", "parameters": {"properties": {"x": case["schema"]}, "required": ["x"]}}
    assert tool_schema(tool) == {
        "type": "object",
        "properties": {"x": case["expected"]},
        "required": ["x"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters() -> None:
    nothing = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert tool_schema({"name": "f"}) == nothing
    assert tool_schema({"name": "f", "parameters": {"type": "dict", "properties": {}}}) == nothing


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_right_calls_fit_the_schemas(question: Any) -> None:
    for call in right_calls(question):
        schema = call_schema(question.tools)
        jsonschema.validate({"name": call.name, "arguments": call.arguments}, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"name": f"{call.name}_", "arguments": call.arguments}, schema)


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in (*schema.get("properties", {}).values(), schema.get("items")):
        if part is not None:
            yield from parts(part)


@pytest.mark.slow
def test_every_schema_of_the_package() -> None:
    """Only keys and types of JSON schema, in the shapes that it has for them.

    jsonschema's own check of all 8,576 functions takes a minute and a half; it passes.
    """
    tools = [tool for row in load_rows() for tool in row["function"]]
    assert len(tools) == 8576
    python = {"string": str, "integer": int, "number": float, "boolean": bool}
    for part in (part for tool in tools for part in parts(tool_schema(tool))):
        known = {"type", "description", "default"}
        if part["type"] == "object" and "properties" in part:
            known |= {"properties", "required", "additionalProperties"}
            assert part["additionalProperties"] is False
            assert set(part["required"]) <= set(part["properties"])
        elif part["type"] == "array":
            known.add("items")
        elif part["type"] in python:
            known.add("enum")
            assert {type(value) for value in part.get("enum", ())} <= {python[part["type"]]}
            assert part.get("enum") != []
        else:
            assert part["type"] == "object"
        assert set(part) <= known
        assert isinstance(part.get("description", ""), str)
