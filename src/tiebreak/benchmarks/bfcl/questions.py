"""Read questions of BFCL, and make prompts and JSON schemas of them.

A question has messages, functions on offer and the right calls. Each category has a file of
questions, and a file with their right answers in a folder beside it:

    BFCL_v4_parallel.json                  {"id": …, "question": …, "function": …}
    possible_answer/BFCL_v4_parallel.json  {"id": …, "ground_truth": …}

The data of BFCL (Patil et al. 2025, PMLR 267) come with its package `bfcl-eval`.
"""

import contextlib
import importlib.metadata
import importlib.util
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tiebreak.benchmarks.question import Question, Row, name_of, text_of, wording
from tiebreak.benchmarks.sources import file_rows
from tiebreak.plain_yaml import packaged
from tiebreak.prerequisite import PrerequisiteError

_CATEGORIES: Final = packaged(__file__, "categories.yaml")
CATEGORIES: Final[tuple[str, ...]] = tuple(_CATEGORIES["asked"])
LEFT_OUT: Final[Mapping[str, str]] = _CATEGORIES["left_out"]
"""Reasons for which categories are left out, by name or by the beginning of the name."""
NO_CALL: Final = frozenset({"irrelevance", "live_irrelevance"})
"""Categories in which the right answer calls no function."""
ANY_CALL: Final = frozenset({"live_relevance"})
"""Categories in which any call is right."""

_OTHER_NAMES: Final = {"simple_python": "simple"}  # of release 4


def category_named(name: str) -> str:
    """The category with a name from any release of BFCL.

    Raises:
        ValueError: there is no such category, or it is left out; the message says which and why.
    """
    category = _OTHER_NAMES.get(name, name)
    if category in CATEGORIES:
        return category
    if reason := left_out(name):
        raise ValueError(f"BFCL's category {name} is left out: {reason}")
    raise ValueError(f"BFCL has no category {name!r}. There are: {', '.join(CATEGORIES)}")


def left_out(name: str) -> str | None:
    """Why a category is left out; None for any other name."""
    for start, reason in LEFT_OUT.items():
        if name == start or name.startswith(f"{start}_"):
            return reason
    return None


def category_in(item_id: str) -> str | None:
    """The category in the name of an item, e.g. of `live_simple_3-2-0`, or None.

    Raises:
        ValueError: the item is of a category that is left out.
    """
    # The first release of the live categories put a version before the name.
    name = re.sub(r"\Av\d+_|_[\d-]+\Z", "", item_id)
    known = _OTHER_NAMES.get(name, name) in CATEGORIES or left_out(name)
    return category_named(name) if known else None


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
"""BFCL's names of types, and the Python type of their values."""
ROLES: Final = ("system", "user", "assistant")
LISTS: Final = frozenset({"array", "tuple"})

_PROMPT: Final = wording("bfcl")

_JSON_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def read(row: Row, number: int) -> Question:
    """Read a row with `id`, `question`, `function`, `ground_truth` and optionally `category`.

    Each column may also be JSON text. A question is a list of messages or of one turn of messages,
    depending on the release of BFCL, or just a text. The category of a row without one is that in
    its id (`live_simple_3-2-0`), or else the one that fits its functions and its right calls.

    Raises:
        KeyError: a column is missing.
        ValueError: a column is invalid, the category is left out, or there are several turns.
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
    """Messages in a text that is JSON; None for any other text."""
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
        # Only parameters must have a type; without one, a part of a parameter may have any.
        _check_type({"type": "any", **part}, f"{where}.{name}")


def _truth(value: Any) -> list[Mapping[str, Any]]:
    """The right calls, each {function: {parameter: admitted values}}."""
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
    """The prompt with request and functions, for calls in text; descriptions if `documentation`.

    The wording is the same for every category, so as not to reveal how many calls are right. A
    conversation is written message by message.
    """
    tools = question.tools if documentation else without_descriptions(question.tools)
    request = f"Request: {question.text}"
    if question.messages:
        lines = (f"{message['role']}: {message['content']}" for message in question.messages)
        request = "\n".join(["Conversation:", *lines])
    return _PROMPT.format(
        functions="\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools), request=request
    )


def without_descriptions(tool: Any) -> Any:
    """Schemas without descriptions; a parameter that is named `description` stays."""
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
    """A function's name with underscores for dots, which providers do not allow."""
    return str(tool["name"]).replace(".", "_")


def tool_schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of a function's parameters.

    An object may have only the properties that the data name, or any if they name none. Enumerated
    values count only if they have the parameter's type, because the data list some booleans as
    text; those of a list apply to its items.
    """
    required = (tool.get("parameters") or {}).get("required")
    return _schema({"type": "dict", "properties": parameters_of(tool), "required": required})


def call_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """JSON schema of a call to one of the functions, in the form that `prompt` asks for."""
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


VERSION: Final = "2026.3.23"
"""Release of `bfcl-eval` that the questions are pinned to."""
# Without its dependencies: it pins numpy 1.26 and requires the clients of all providers, and
# only its data are read.
INSTALL: Final = f"pip install --no-deps bfcl-eval=={VERSION}"

_FILE: Final = re.compile(r"BFCL_v(\d+)_(\w+)\.json")


def load_rows(data: Path | None = None, categories: Sequence[str] = ()) -> list[Row]:
    """Load the rows of `categories` (named as in any release), or of all categories present.

    `data` is a folder with BFCL's files or the folder above it; None is the installed package. If a
    folder has several releases, the newest counts in each category.

    Returns:
        Mappings with id, category, question, function and ground_truth, in the order of
        `CATEGORIES` and then of the files.

    Raises:
        PrerequisiteError: a category is unknown or left out, the data cannot be loaded, or
            questions and answers do not match; the message says what to do.
    """
    wanted = categories_named(categories)
    folder = _package_folder() if data is None else _folder(data)
    files = _newest(folder)
    if missing := [name for name in CATEGORIES if name in wanted and name not in files]:
        raise PrerequisiteError(
            f"{folder} has no questions of {', '.join(missing)}. It has: {', '.join(files)}."
        )
    chosen = {name: path for name, path in files.items() if not wanted or name in wanted}
    return [row for name, path in chosen.items() for row in _category_rows(name, path)]


def categories_named(names: Sequence[str]) -> list[str]:
    """The categories with these names as by `category_named`, but raise PrerequisiteError."""
    try:
        return [category_named(name) for name in names]
    except ValueError as error:
        raise PrerequisiteError(f"{error}.") from error


def _package_folder() -> Path:
    # Not imported, because importing the package needs all of its dependencies.
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or spec.origin is None:
        raise PrerequisiteError(
            f"The questions of BFCL come with its package:\n  {INSTALL}\n"
            "or give the folder of a copy with -T data=… (Inspect) or --metadata '{\"data\": …}' "
            "(lm-eval)."
        )
    folder = Path(spec.origin).parent / "data"
    try:
        actual = importlib.metadata.version("bfcl-eval")
    except importlib.metadata.PackageNotFoundError:
        actual = "of an unknown release"
    if actual != VERSION:
        raise PrerequisiteError(
            f"bfcl-eval {actual} is installed, and its questions may differ from those that others "
            f"get:\n  {INSTALL}\nor take them as they are with -T data={folder} (Inspect)."
        )
    return folder


def _folder(data: Path) -> Path:
    """The folder with the files: `data` itself or a folder inside it."""
    if not data.is_dir():
        raise PrerequisiteError(f"{data} is not a folder with BFCL's files.")
    if _files(data):
        return data
    inside = [folder for folder in sorted(data.iterdir()) if folder.is_dir() and _files(folder)]
    if len(inside) == 1:
        return inside[0]
    advice = f"Take one of {', '.join(map(str, inside))}." if inside else "It does not."
    raise PrerequisiteError(
        f"{data} should hold BFCL's files, such as BFCL_v4_simple_python.json and "
        f"possible_answer/BFCL_v4_simple_python.json. {advice}"
    )


def _files(folder: Path) -> dict[tuple[int, str], Path]:
    """Files of questions by release and by the category's name in that release."""
    matches = {path: _FILE.fullmatch(path.name) for path in sorted(folder.iterdir())}
    return {(int(match[1]), match[2]): path for path, match in matches.items() if match}


def _newest(folder: Path) -> dict[str, Path]:
    """Newest file of each category present, in the order of `CATEGORIES`."""
    newest: dict[str, Path] = {}
    for (_, name), path in sorted(_files(folder).items()):
        with contextlib.suppress(ValueError):  # left out, or a category of a later release
            newest[category_named(name)] = path
    return {name: newest[name] for name in CATEGORIES if name in newest}


def _category_rows(category: str, path: Path) -> list[Row]:
    answered = category not in NO_CALL | ANY_CALL
    questions = _by_id(path, unique=answered)
    answers = _by_id(path.parent / "possible_answer" / path.name) if answered else {}
    if answered:
        _refuse_names(set(questions) - set(answers), path, "has no answer in possible_answer")
        _refuse_names(set(answers) - set(questions), path, "has an answer and no question")
    return [
        {
            "id": name,
            "category": category,
            "question": _column(row, "question", path),
            "function": _column(row, "function", path),
            "ground_truth": _column(answers[name], "ground_truth", path) if answered else [],
        }
        for name, row in questions.items()
    ]


def _by_id(path: Path, unique: bool = True) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    free: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(2))
    for place, row in file_rows(path):
        name = str(_column(row, "id", place))
        if name in rows:
            # BFCL v3 has some ids twice: harmless in categories without answers to join.
            _refuse_names({name} if unique else (), path, "occurs twice")
            name = next(f"{name}_{n}" for n in free[name] if f"{name}_{n}" not in rows)
        rows[name] = row
    return rows


def _column(row: Row, name: str, place: Path | str) -> Any:
    if name not in row:
        raise PrerequisiteError(f"{place}: {row.get('id', 'a row')} lacks {name!r}.")
    return row[name]


def _refuse_names(names: Collection[str], path: Path, problem: str) -> None:
    if names:
        more = f" (and {len(names) - 3} more)" if len(names) > 3 else ""
        raise PrerequisiteError(f"{path}: {', '.join(sorted(names)[:3])}{more} {problem}.")
