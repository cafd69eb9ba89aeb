"""Read files of the user's own prompts, on which models are compared without a benchmark.

A row has `prompt`, a text, or `messages`, a conversation that ends with a message by the user, and
optionally `system`, `id`, `target` and `category`. Other columns are ignored.

    {"prompt": "Write to a customer whose parcel is late.", "category": "mail"}
    {"messages": [{"role": "user", "content": "Name a cheese."}, …], "id": "cheese-2"}

The id of a prompt without one is a hash of its content, and so does not depend on file or order.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tiebreak.candidates.errors import CandidateError, raise_problems
from tiebreak.candidates.hub import HubAddress, is_on_hub, snapshot
from tiebreak.candidates.pool import Note
from tiebreak.candidates.question import Turn, conversation, parsed
from tiebreak.paths import local_path
from tiebreak.rows import ENDS, Place, rows_of

BENCHMARK: Final = "prompts"
"""Default name of the benchmark of own prompts."""

_HUB_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One of the user's own prompts: `messages` end with one by the user, `category` may be ""."""

    id: str
    messages: tuple[Turn, ...]
    target: str = ""
    category: str = ""

    @property
    def text(self) -> str:
        """The conversation as one text."""
        return conversation(self.messages)


def read_prompts(source: str | Path) -> list[Prompt]:
    """Read the prompts of a file, in its order.

    Args:
        source: JSON lines, CSV or Parquet by its name, JSON lines and CSV also as `.gz` or `.zst`;
            or a dataset on the Hub, `hf://datasets/OWNER/NAME[@REVISION][/FILE]`, or
            `OWNER/NAME[@REVISION]` if no file has this name.

    Raises:
        CandidateError: the file cannot be read, is empty, or has rows that are no prompts (the
            message lists all of them); or the Hub cannot be reached, or has no such dataset.
    """
    path, name = _local_file(str(source))
    prompts: dict[str, Prompt] = {}
    places: dict[str, Place] = {}
    problems: list[Note] = []

    def fault(place: Place, message: str) -> None:
        problems.append(Note("prompts", f"{name}, {place}", message))

    try:
        for place, row in rows_of(path, fault):
            try:
                prompt = prompt_of(row)
                if first := places.get(prompt.id):
                    same = f"its id {prompt.id!r:.80} is that of {first}, too"
                    raise ValueError(f"{same} (without an id, of the same prompt)")
            except ValueError as error:
                fault(place, str(error))
            else:
                prompts[prompt.id], places[prompt.id] = prompt, place
    except ValueError as error:
        problems.append(Note("prompts", name, str(error)))
    if not (prompts or problems):
        problems.append(Note("prompts", name, "holds no row"))
    raise_problems(problems)
    return list(prompts.values())


def prompt_of(row: Any) -> Prompt:
    """Make a prompt of a row.

    Raises:
        ValueError: the row is no prompt; the message is meant to follow the place of the row.
    """
    if not isinstance(row, Mapping):
        raise ValueError("it is not an object with named columns")
    messages = _messages(row)
    id, category = (text_in(row, name).strip() for name in ("id", "category"))
    if not id:  # 12 hex digits of the SHA-256 of its messages as JSON
        content = json.dumps([list(turn) for turn in messages], separators=(",", ":"))
        id = hashlib.sha256(content.encode("ascii")).hexdigest()[:12]
    return Prompt(id, messages, text_in(row, "target"), category)


def text_in(row: Mapping[str, Any], column: str) -> str:
    """Value of a column as text, "" if it is missing or None; numbers are converted.

    Raises:
        ValueError: the value is neither a text nor a number.
    """
    value = row.get(column)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"its {column} is {value!r:.80}, neither a text nor a number")
    return str(value)


def _messages(row: Mapping[str, Any]) -> tuple[Turn, ...]:
    given = [name for name in ("prompt", "messages") if row.get(name) not in (None, "")]
    if len(given) == 2:
        raise ValueError("it has both a prompt and messages; keep one of the two")
    if not given and row.keys().isdisjoint(("prompt", "messages")):
        raise ValueError(
            f"it has no column prompt or messages, but {', '.join(row) or 'none':.200}"
        )
    messages: Any = [{"role": "user", "content": row.get("prompt")}]
    if given == ["messages"]:
        messages = row["messages"]
        messages = parsed(messages) if isinstance(messages, str) else messages
    if not (isinstance(messages, list) and messages):
        raise ValueError("its messages are not a list of objects with role and content")
    if (system := text_in(row, "system")).strip():
        messages = [{"role": "system", "content": system}, *messages]
    turns = tuple(_turn(message, number) for number, message in enumerate(messages, start=1))
    if turns[-1].role != "user":
        role = turns[-1].role
        raise ValueError(f"its last message is by the {role}: models answer one by the user")
    return turns


def _turn(message: Any, number: int) -> Turn:
    message = message if isinstance(message, Mapping) else {}
    role, content = message.get("role"), message.get("content")
    if role not in ("system", "user", "assistant"):
        raise ValueError(f"message {number} has the role {role!r:.40}, not system, user, assistant")
    if role == "system" and number > 1:
        raise ValueError(f"message {number} is by the system, which speaks once, and first")
    if not (isinstance(content, str) and content.strip()):
        raise ValueError(
            f"its prompt, or message {number}, is empty or not a text: {content!r:.40}"
        )
    return Turn(role, content)


def _local_file(source: str) -> tuple[Path, str]:
    """Local path of the file (downloaded if on the Hub), and its name for messages."""
    path = local_path(source)
    is_name = _HUB_NAME.fullmatch(source) and path.suffix not in (*ENDS, ".json", ".gz", ".zst")
    if not is_on_hub(source) and (path.exists() or not is_name):
        return path, source
    address = HubAddress.parse(source if is_on_hub(source) else f"hf://datasets/{source}")
    folder = snapshot(address, [address.file] if address.file else [f"*{end}" for end in ENDS])
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*"))}
    names = [n for n in files if (n == address.file if address.file else n.endswith(ENDS))]
    if len(names) != 1:
        held = ", ".join(names[:20]) or "none"
        message = f"must be one file of JSON lines, CSV or Parquet: add /FILE (there are: {held})"
        raise CandidateError.of("prompts", str(address), message)
    return files[names[0]], str(address._replace(file=names[0]))
