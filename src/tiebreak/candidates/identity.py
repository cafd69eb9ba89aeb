"""Decide when two questions, answers, model names or benchmark names are the same."""

import ast
import hashlib
import json
import re
import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from tiebreak.candidates.pool import Candidate

_HASH_LENGTH = 32
_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_LONE_LEADING_SPACE = re.compile(r"\A (?=\S)")
_WHOLE_NUMBER = re.compile(r"[$€£]?\s?([-−]?)0*+(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*?)0*)?")
# Longer texts are no targets, and the expression above takes long on them.
_LONGEST_NUMBER = 1_000
_LETTERS = string.ascii_uppercase
# Texts with spaces, or with letters of Latin, Chinese or Korean, have no such run of marks.
_LONG_RUN = re.compile(r"[^\0-\u02ff\u3000-\ud7ff]{100,}")


def input_hash(
    question: str,
    choices: Sequence[str] = (),
    tools: Iterable[Mapping[str, Any]] = (),
    target: str = "",
    media: Sequence[str] = (),
) -> str:
    """Fingerprint of a question: 32 hex digits of a SHA-256 over its canonical form.

    Canonical form: question and choices are NFC-normalised, runs of whitespace become one space,
    both ends are stripped; choices keep their order. Tools become a sorted list of function name
    and sorted parameter names, so descriptions and the three common schema shapes (OpenAI's
    `{"type": "function", "function": {...}}`, Inspect's ToolInfo, BFCL's bare dict) do not matter.
    The target is in the form of `canonical_target`: two releases of a benchmark that disagree on
    the right answer do not ask the same question. `media` are the digests of images and files.
    """
    canonical: list[Any] = [
        collapse(question),
        [collapse(choice) for choice in choices],
        tool_signatures(tools),
        canonical_target(target, choices),
        *([list(media)] if media else ()),  # so that without media old pools have the same hash
    ]
    return hashlib.sha256(json.dumps(canonical).encode("ascii")).hexdigest()[:_HASH_LENGTH]


def content_hash(
    prompt: str, choices: Sequence[str] = (), target: str = "", media: Sequence[str] = ()
) -> str:
    """Fingerprint of an item's whole content in Inspect or a file: 32 hex digits of a SHA-256."""
    content = json.dumps([collapse(prompt), list(choices), collapse(target), list(media)])
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:_HASH_LENGTH]


def canonical_target(target: str, choices: Sequence[str] = ()) -> str | None:
    """The right answer in a form that does not depend on the harness.

    Harnesses write the same target in several ways: "1,234" or a worked solution that ends in
    "#### 1234"; a choice's letter, its text or its index; function calls as JSON or as a `repr`.

    Args:
        target: the right answer; for a program its tests (they define `check`).
        choices: texts of the choices.

    Returns:
        A choice as its letter, a number without separators, function calls as JSON, tests without
        their layout; None for anything else, because free text has no canonical form.
    """
    target = collapse(target)
    if choices:
        return _choice(target, choices)
    if "def check(" in target:
        return target
    if re.match(r"\[\s*\{", target):
        return _calls(target)
    last = target.rpartition("####")[2].strip()
    number = _WHOLE_NUMBER.fullmatch(last) if len(last) <= _LONGEST_NUMBER else None
    if number is None or not re.search(r"\d", number[0]):
        return None
    digits = number[2].replace(",", "") or "0"
    size = f"{digits}.{number[3]}" if number[3] else digits
    return f"-{size}" if number[1] and size != "0" else size


def _choice(target: str, choices: Sequence[str]) -> str | None:
    letters = _LETTERS[: len(choices)]
    letter = re.fullmatch(r"\(?([A-Z])[).]?", target)
    if letter and letter[1] in letters:
        return letter[1]
    texts = [collapse(choice) for choice in choices]
    if texts.count(target) == 1:
        return letters[texts.index(target)]
    if re.fullmatch("[0-9]{1,2}", target) and int(target) < len(choices):
        return letters[int(target)]
    return None


def _calls(target: str) -> str | None:
    for read in (json.loads, ast.literal_eval):
        try:
            return json.dumps(read(target), sort_keys=True)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def collapse(text: str) -> str:
    """A text in NFC, with one space for each run of whitespace and none at the ends."""
    return " ".join(_nfc(text).split())


def _nfc(text: str) -> str:
    """A text in NFC; combining marks of long runs are sorted first, as Python does it in O(n²)."""

    def in_order(run: re.Match[str]) -> str:
        classes = groupby(run[0], key=lambda char: unicodedata.combining(char) > 0)
        return "".join(
            "".join(sorted(chars, key=unicodedata.combining) if marks else chars)
            for marks, chars in classes
        )

    if text.isascii():  # which is in NFC
        return text
    return unicodedata.normalize("NFC", _LONG_RUN.sub(in_order, text))


def tool_signatures(tools: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """Name and sorted parameter names of each tool, sorted; tools with equal ones are the same."""
    return sorted(_tool_signature(tool) for tool in tools)


def _tool_signature(tool: Mapping[str, Any]) -> tuple[str, list[str]]:
    inner = tool.get("function")
    function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else tool
    schema = function.get("parameters") or function.get("input_schema") or {}
    properties = schema.get("properties", schema) if isinstance(schema, Mapping) else ()
    parameters = properties if isinstance(properties, Mapping | list) else ()
    # Providers refuse dots in function names, so harnesses rewrite `math.gcd` as `math_gcd`.
    name = re.sub(r"\W", "_", str(function.get("name", "")))
    return name, sorted(str(parameter) for parameter in parameters)


def normalise_answer(text: str) -> str:
    r"""Canonical form of an answer's text, used to find identical answers.

    NFC; line ends become `\n`; whitespace at the end of each line, blank lines at the start and all
    whitespace at the end are dropped; so is a single space before the first word, which some
    tokenisers leave. Deeper indentation of the first line stays, because in code it has a meaning.
    """
    lines = _nfc(text).replace("\r\n", "\n").replace("\r", "\n")
    # A regular expression for trailing blanks would take quadratic time on long runs of blanks.
    lines = "\n".join(line.rstrip() for line in lines.split("\n"))
    lines = _LEADING_BLANK_LINES.sub("", lines).rstrip()
    return _LONE_LEADING_SPACE.sub("", lines)


def identical_groups(candidates: Mapping[str, Candidate]) -> tuple[tuple[str, ...], ...]:
    """Partition models by identical answers to one item: same normalised text and same tool calls.

    Groups are sorted by name and ordered by their first member.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for model in sorted(candidates):
        candidate = candidates[model]
        calls = json.dumps(list(candidate.tool_calls), sort_keys=True)
        groups.setdefault((normalise_answer(candidate.text), calls), []).append(model)
    return tuple(tuple(group) for group in groups.values())


def same_answer(first: str, other: str) -> bool:
    """Whether two answers differ only in layout: of identical answers only one is judged."""
    return _lines(first) == _lines(other)


def _lines(answer: str) -> list[str]:
    return [line for line in normalise_answer(answer).split("\n") if line]


def benchmark_name(raw: str) -> str:
    """Benchmark name without package (`inspect_evals/gsm8k`) and harness (`tiebreak_gsm8k`)."""
    return raw.rsplit("/", 1)[-1].removeprefix("tiebreak_")


def namesakes(name: str, names: Iterable[str]) -> list[str]:
    """The names that may mean the same model: `openai/gpt-5` is called `gpt-5` elsewhere.

    If `name` is among `names`, only this one; otherwise all that equal it after the prefix up to a
    slash is removed from either.
    """
    names = list(names)
    if name in names:
        return [name]
    return [other for other in names if name.endswith(f"/{other}") or other.endswith(f"/{name}")]
