"""Benchmark documents: where their question, choices, tools and id are.

lm-eval's samples and Inspect's metadata keep the columns of the dataset, and every dataset has its
own; these functions look for the usual names, in a fixed order.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tiebreak.candidates.json_text import parse_json

_QUESTION = ("question", "prompt", "problem", "query", "input", "goal", "instruction", "text")
_CHOICES = ("choices", "options")
_TOOLS = ("tools", "functions", "function")
_ID = ("id", "task_id", "question_id")


def bare_id(doc: Mapping[str, Any]) -> str | None:
    """The document's own id, or None."""
    for name in _ID:
        value = doc.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def question_of(doc: Mapping[str, Any]) -> str | None:
    """Text of the question, or None.

    A question may be a string, a message list (nested by turns, as BFCL has it), or such a list as
    JSON text; system messages are left out.
    """
    for name in _QUESTION:
        if name in doc and (text := _text(doc[name])).strip():
            return text
    return None


def prompt_of(arguments: Any) -> str:
    """The prompt as it was sent: the fallback for a document without a question column."""
    try:
        first = arguments["gen_args_0"]["arg_0"]
    except (KeyError, TypeError):
        return ""
    return _text(first)


def choices_of(doc: Mapping[str, Any]) -> tuple[str, ...]:
    """Choices of a multiple-choice document: a list, or ARC's `{"text": [...], "label": [...]}`."""
    for name in _CHOICES:
        value = doc.get(name)
        if isinstance(value, dict):
            value = value.get("text")
        if isinstance(value, list) and value:
            return tuple(str(choice) for choice in value)
    return ()


def tools_of(doc: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Tool schemas of a function-calling document."""
    return next((tools for name in _TOOLS if (tools := tools_from(doc.get(name)))), ())


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


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return "\n".join(_contents(value, bare=True))
    if not value.lstrip().startswith("["):
        return value
    try:
        # Bare strings do not count here: a question may well be a JSON list of strings.
        contents = list(_contents(parse_json(value), bare=False))
    except ValueError:
        return value
    return "\n".join(contents) if contents else value


def _contents(value: Any, *, bare: bool) -> Iterator[str]:
    """Texts of the non-system messages in a message list of any nesting.

    `bare` also takes strings that are not messages; they may hold a conversation as JSON text.
    """
    if isinstance(value, str):
        if bare:
            yield _text(value)
    elif isinstance(value, list):
        for entry in value:
            yield from _contents(entry, bare=bare)
    elif isinstance(value, dict) and value.get("role", "system") != "system":
        content = value.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        for part in parts:
            if isinstance(part, dict) and isinstance(text := part.get("text"), str):
                yield text
