"""Benchmark documents: their tools, tests and ids, in columns that have the usual names.

lm-eval's samples and Inspect's metadata keep the columns of the dataset, and every dataset has its
own. What a question is made of is not told by names: see `question`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tiebreak.candidates.json_text import parse_json

_TOOLS = ("tools", "functions", "function")
_ID = ("id", "task_id", "question_id")


def bare_id(doc: Mapping[str, Any]) -> str | int | None:
    """The document's own id, or None."""
    for name in _ID:
        value = doc.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return value
    return None


def are_places(ids: Sequence[int | str | None], size: int) -> bool:
    """Whether ids are places in a dataset: numbers from 0 or 1 up to its size.

    Args:
        ids: of the items of one log; a text is an id of the user's own.
        size: of the dataset, as far as the log says; the log may hold a part of it.
    """
    size = max(size, len(ids))
    return all(isinstance(id, int) and 0 <= id <= size for id in ids)


def tools_of(doc: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Tool schemas of a function-calling document."""
    return next((tools for name in _TOOLS if (tools := tools_from(doc.get(name)))), ())


def function_names(tools: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names of functions, as their schemas spell them."""
    schemas = [
        tool["function"] if isinstance(tool.get("function"), dict) else tool for tool in tools
    ]
    return {str(schema["name"]) for schema in schemas if "name" in schema}


def without_tools(doc: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns of a function-calling document that are no tool schemas."""
    return {name: doc[name] for name in doc if not (name in _TOOLS and tools_from(doc[name]))}


def tools_from(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Tool schemas out of a list of dicts, one dict, or either as JSON text; else none."""
    if value is None:
        return ()
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            return ()
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return ()
    # BFCL keeps some schemas as a list of JSON texts.
    tools = [parsed for entry in value for parsed in _tool(entry)]
    return tuple(tools) if len(tools) == len(value) else ()


def _tool(entry: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(entry, str):
        return tools_from(entry)
    if isinstance(entry, dict) and ("name" in entry or "function" in entry):
        return (entry,)
    return ()


def judged_by(doc: Mapping[str, Any], target: str) -> str:
    """What an answer is checked against: the tests of a program if it has any, else its target.

    Harnesses disagree on whether the target of a program is a solution or its tests.
    """
    tests = doc.get("test")
    return tests if isinstance(tests, str) and "def check(" in tests else target
