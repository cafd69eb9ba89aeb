"""Read files of questions row by row: JSON, JSON lines, Parquet, CSV, and datasets on the Hub.

No file is held in memory as a whole. `question_of` makes a question of a row by the names of its
fields, the types of their values, and inference: the published excerpt of LLMEval-Fair (A.2.2,
figure 8) has the text in `dialog`, in the user's turns, and the key in `hint`: "false", "false. And
why …", or the fill. `Fields` maps other names of fields, and gives values for missing ones.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final, NamedTuple, cast

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.question import BankQuestion, QuestionType, n_blanks
from tiebreak.fair.bank.rows import FIELDS
from tiebreak.paths import MISSING, problem_with
from tiebreak.plain_yaml import packaged
from tiebreak.rows import holds_list, rows_of
from tiebreak.tables.delimited import unsafe

Row = Mapping[str, Any]

EXAMPLE: Final = "example"
"""Name of the example questions in the package."""

_ENDS: Final = (".json", ".jsonl", ".ndjson", ".parquet", ".csv")
_MARK: Final = b"\xef\xbb\xbf"  # byte order mark of UTF-8

_CALLED: Final = packaged(__file__, "fields.yaml")

NAMES: Final[dict[str, list[str]]] = _CALLED["names"]
"""Names that each field of a question may have in a file."""

_TYPES: Final[dict[str, QuestionType]] = {
    name: kind for kind, names in _CALLED["types"].items() for name in names
}

_NAMESPACE = uuid.UUID("5a1d3c5e-6a0b-5c0f-9d0e-7be3a2f1c946")  # another would change all ids

# A verdict, alone or followed by its reason; "false positives" is not one.
_VERDICT = re.compile(
    r"\s*(?:(?P<true>true|yes|t|正确|对|是|√|✓)|(?P<false>false|no|f|不正确|不对|错误|错|否|×|✗))"
    r"\s*(?:$|[.,:;!。，：；！、\n]\s*|(?=because\b|since\b|因为|[(（]))",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"(?:名词解释|解释(?:下列|以下)?(?:名词|术语)|(?:please )?explain the .*term)", re.I
)
# Answers of GSM8K: a solution, followed by the key.
_SOLUTION = re.compile(r"(.*\S.*)####([^#\n]+)", re.DOTALL)
_LETTER = re.compile(r"\s*[(（]?\s*([A-Za-z])\s*[)）]?\s*[.．、:：]?\s*")
_LETTERED = re.compile(r"\s*[(（]?([A-Za-z])[)）.．、:：]\s*")


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields of a question by the `names` in a file, and `values` of fields for all rows.

    Raises:
        BankError: a question has no such field.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.names.values(), *self.values):
            if name not in NAMES:
                known = ", ".join(NAMES)
                raise BankError(f"{name!r} is not a field of a question; they are {known}")

    def of(self, row: Row) -> Row:
        """Rename and set the fields of a row; they come first, so that they take precedence."""
        if not self.names and not self.values:
            return row
        renamed = {self.names[name]: value for name, value in row.items() if name in self.names}
        fixed = {**renamed, **self.values}
        rest = {name: value for name, value in row.items() if name not in {*self.names, *fixed}}
        return {**fixed, **rest}


AS_THEY_ARE: Final = Fields()
"""No renaming: files use the names that a bank knows."""


class Source(NamedTuple):
    """A file of questions; its name is its path, or its address on the Hub."""

    name: str
    path: Path

    def digest(self) -> str:
        """SHA-256 of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def rows(self) -> Iterator[tuple[int, Row | str]]:
        """Yield number and content of rows; the number, from 1, is the line in JSON lines and CSV.

        For a row that cannot be read, the content is a text that says why.

        Raises:
            BankError: the file, or the rest of it, cannot be read.
        """
        try:
            yield from _rows(self.path)
        except (OSError, ValueError) as error:
            raise BankError(f"{self.name}: {error}") from error


def sources_of(paths: tuple[str, ...]) -> list[Source]:
    """The files at paths, at hf://datasets/OWNER/NAME[@REVISION][/FILE], or OWNER/NAME on the Hub.

    A dataset's Parquet files are used, or else those of the next format that it has. "example" is
    the file in the package, unless there is a file of that name.

    Raises:
        BankError: there is no such file or dataset, or it is of another format.
    """
    return [source for path in paths for source in _sources(path)]


def _sources(path: str) -> list[Source]:
    from tiebreak.candidates.hub import is_on_hub

    if is_on_hub(path):
        return _on_hub(path)
    file, problem = Path(path), problem_with(path)
    if path == EXAMPLE and problem:
        return [Source(EXAMPLE, Path(__file__).parent / "example" / "questions.jsonl")]
    if problem == MISSING and path.count("/") == 1 and not file.suffix:
        return _on_hub(f"hf://datasets/{path}")
    if problem:
        raise BankError(f"{path} {problem}")
    if file.is_dir():
        raise BankError(f"{path} is a folder: name the files in it")
    if file.suffix.lower() not in _ENDS:
        raise BankError(f"{path} is none of {', '.join(_ENDS)}")
    return [Source(path, file)]


def _on_hub(text: str) -> list[Source]:
    from tiebreak.candidates import CandidateError
    from tiebreak.candidates.hub import HubAddress, snapshot

    try:
        address = HubAddress.parse(text)
        folder = snapshot(address, [address.file or f"*{suffix}" for suffix in _ENDS])
    except CandidateError as error:
        raise BankError(str(error)) from error
    if address.file:
        if Path(address.file).suffix.lower() not in _ENDS:
            raise BankError(f"{text} is none of {', '.join(_ENDS)}")
        if not (folder / address.file).is_file():
            raise BankError(f"{text}: the dataset has no such file")
        return [Source(text, folder / address.file)]
    for suffixes in ((".parquet",), (".jsonl", ".ndjson"), (".json",), (".csv",)):
        files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in suffixes)
        if files:
            return [Source(f"{text}/{file.relative_to(folder).as_posix()}", file) for file in files]
    raise BankError(f"{text} holds no file of questions ({', '.join(_ENDS)})")


def _rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    """Yield the rows of a file; for one that cannot be read, a text that says why."""
    if path.suffix.lower() == ".json" and holds_list(path):
        yield from _listed(path)
        return
    faults: list[tuple[int, str]] = []
    for place, row in rows_of(path, lambda place, message: faults.append((place.number, message))):
        yield from faults
        faults.clear()
        if isinstance(row, Mapping) and tuple(row) == FIELDS and path.suffix.lower() == ".csv":
            # Only in our own exports: elsewhere an apostrophe may be a quotation mark.
            row = {name: unsafe(cell) for name, cell in row.items()}
        yield place.number, _mapping(row)
    yield from faults


def _listed(path: Path) -> Iterator[tuple[int, Row | str]]:
    """Yield the objects of an array, which may not fit into memory."""
    import ijson

    with path.open("rb") as file:
        if file.read(len(_MARK)) != _MARK:
            file.seek(0)
        number = 0
        try:
            for number, value in enumerate(ijson.items(file, "item", use_float=True), start=1):
                yield number, _mapping(value)
        except ijson.JSONError as error:
            raise BankError(f"is not JSON after row {number} ({error})") from error


def _mapping(value: Any) -> Row | str:
    return value if isinstance(value, Mapping) else "is no object with fields"


def question_of(row: Mapping[str, Any]) -> BankQuestion:
    """Make a question of a row, even one with faults of format (see `question.faults_of`).

    Raises:
        BankError: a field has a value of a wrong type, e.g. a list instead of a text.
    """
    values = {name: row[column] for name, column in _columns(tuple(row)).items()}
    options = _options(values.get("options"))
    if isinstance(turns := values.get("question"), list):
        values["question"] = _dialog(turns)
    fields: dict[str, Any] = {
        name: _text(name, values.get(name)) for name in NAMES if name != "options"
    }
    text = fields["question"]
    fields["type"], fields["answer"], fields["hint"] = _key(values, fields, text, options)
    # A missing id is made of the content, so that it is the same each time the file is read.
    content = (fields["type"], text, options, fields["answer"])
    fields["uuid"] = fields["uuid"] or str(uuid.uuid5(_NAMESPACE, json.dumps(content)))
    fields["raw_uuid"] = fields["raw_uuid"] or fields["uuid"]
    fields["status"] = fields["status"] or "approved"
    return BankQuestion(**{**fields, "options": options})


def has_uuid(row: Mapping[str, Any]) -> bool:
    """Whether a row has an id."""
    column = _columns(tuple(row)).get("uuid")
    return column is not None and row[column] not in (None, "")


def has_category(row: Mapping[str, Any]) -> bool:
    """Whether a row has a field for its category, even an empty one."""
    return "category" in _columns(tuple(row))


@lru_cache
def unread(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that are not used for any field."""
    taken = set(_columns(columns).values())
    return tuple(column for column in columns if column not in taken)


@lru_cache
def _columns(columns: tuple[str, ...]) -> dict[str, str]:
    """The column of each field; if several columns fit, the one whose name is first in `NAMES`."""
    by_name = {column.strip().casefold(): column for column in reversed(columns)}  # the first wins
    return {
        field: by_name[given[0]]
        for field, names in NAMES.items()
        if (given := [name for name in names if name in by_name])
    }


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float | uuid.UUID):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()[:10]
    raise BankError(f"{name} is a {type(value).__name__}, not a text")


def _dialog(turns: Sequence[Any]) -> str:
    """The user's turns in a dialog."""
    if not all(isinstance(turn, Mapping) for turn in turns):
        raise BankError("dialog is a list of something else than turns with role and content")
    return "\n\n".join(
        _text("dialog", turn.get("content")) for turn in turns if turn.get("role") == "user"
    )


def _options(value: Any) -> tuple[str, ...]:
    """Read options given as a list, by letter, as {"text": […]}, as JSON, or separated by |."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BankError(f"options cannot be read as JSON ({error})") from error
    elif isinstance(value, str):
        value = value.split("|") if value.strip() else []
    if isinstance(value, Mapping):
        texts = value.get("text")
        value = texts if isinstance(texts, list) else [value[key] for key in sorted(value)]
    if value is None:
        return ()
    if not isinstance(value, Sequence):
        raise BankError(f"options is a {type(value).__name__}, not a list")
    return _without_letters(tuple(_text("an option", option) for option in value))


def _without_letters(options: tuple[str, ...]) -> tuple[str, ...]:
    """The options without "A." and so on, if each begins with its letter."""
    matches = [_LETTERED.match(option) for option in options]
    letters = "".join(match[1].upper() for match in matches if match)
    if not options or letters != ascii_uppercase[: len(options)]:
        return options
    return tuple(
        option[match.end() :] for option, match in zip(options, matches, strict=True) if match
    )


def _key(
    values: Mapping[str, Any], given: Mapping[str, str], text: str, options: tuple[str, ...]
) -> tuple[QuestionType, str, str]:
    """Type, key and explanation; without a key, the hint is taken for the key."""
    answer, hint = given["answer"], given["hint"]
    if not answer:
        answer, hint = hint, ""
    elif not hint and (solution := _SOLUTION.fullmatch(answer)):
        hint, answer = solution[1].strip(), solution[2].strip()
    verdict = _VERDICT.match(answer)
    kind = _type(given["type"], text, options, is_verdict=verdict is not None)
    if kind == "true_false" and verdict:
        rest = answer[verdict.end() :]
        return kind, verdict.lastgroup or "", "\n".join(part for part in (rest, hint) if part)
    if kind == "multiple_choice":
        return kind, _letter(values, answer, options), hint
    return kind, answer, hint


def _type(given: str, text: str, options: tuple[str, ...], *, is_verdict: bool) -> QuestionType:
    if given:
        plain = re.sub(r"[\s/-]+", "_", given.casefold())
        return _TYPES.get(plain, cast("QuestionType", given))
    if options:
        return "multiple_choice"
    if is_verdict:
        return "true_false"
    if n_blanks(text):
        return "fill_in"
    return "term" if _TERM.match(text) else "short_answer"


def _letter(values: Mapping[str, Any], answer: str, options: tuple[str, ...]) -> str:
    """The key of a choice as a letter, from a letter, an index from 0 or the option's text."""
    number = values.get("answer")
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(options):
        return ascii_uppercase[number] if number < len(ascii_uppercase) else answer
    if letter := _LETTER.fullmatch(answer):
        return letter[1].upper()
    if options.count(answer) == 1 and options.index(answer) < len(ascii_uppercase):
        return ascii_uppercase[options.index(answer)]
    return answer
