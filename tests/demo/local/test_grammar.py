"""No open end is left in a schema, and nothing else changes."""

from typing import Any

import pytest

from tests.cases import cases
from tiebreak.demo.local.provider import bounded, grammar

CASES: list[tuple[dict[str, Any], dict[str, Any]]] = cases(__file__, "cases")


@pytest.mark.parametrize(("schema", "expected"), CASES)
def test_bounds(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert bounded(schema) == expected


@pytest.mark.parametrize(("strings", "length"), [(1, 120), (2, 60), (4, 30), (6, 20), (30, 16)])
def test_strings_share_a_budget(strings: int, length: int) -> None:
    schema = {"type": "object", "properties": {str(i): {"type": "string"} for i in range(strings)}}
    found = bounded(schema)["properties"].values()
    assert {part["maxLength"] for part in found} == {length}


def test_the_grammar_has_one_layout() -> None:
    text = grammar({"type": "boolean"})
    assert text.startswith("%llguidance {}\nstart: %json {")
    assert '"whitespace_flexible": false' in text
