"""The public parts of a log's header: an allow list.

A header also contains model arguments, addresses, the task's arguments, git remotes and whatever
people put into metadata. Only fields named here are published, so Inspect's new fields are not.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PureWindowsPath
from typing import Any, Final

import fsspec  # type: ignore[import-untyped]

from tiebreak.candidates import PROMPTS_KEY, SHARD_KEY
from tiebreak.candidates.inspect_files import read_header
from tiebreak.candidates.inspect_types import LogHeader, LogModel
from tiebreak.ranking_logs import RankingLog

# How a model was asked. All of these are numbers or words from a short list.
SETTINGS: Final = (
    *("temperature", "top_p", "top_k", "max_tokens", "seed", "num_choices"),
    *("frequency_penalty", "presence_penalty"),
    *("effort", "reasoning_effort", "reasoning_tokens", "verbosity"),
)

# How a task judged: Tiebreak's own arguments, without those that contain locations.
ARGUMENTS: Final = (
    *("tiers", "swap", "refine", "critique", "rounds", "degree", "method"),
    *("task_type", "rubric", "saturated_only", "merge_identical", "mode", "seed", "repeat"),
    *("settle", "settle_error", "settle_for", "max_calls", "max_cost", "protocol"),
)
# Only the file's name of these is published; "protocol" is FILE.py@NAME.
_FILES: Final = ("rubric", "protocol")
_WORD = re.compile(r"[\w.@+-]{1,80}")

# The folders of an absolute path, wherever it starts in a text.
_FOLDERS = re.compile(
    r"""(?:^|(?<=[/=,:;\s"'(\[{<>|]))       # at the start, or after what cannot be part of a name
        (?:~[^/\\\s]*|[A-Za-z]:|file:)?     # a home, a drive
        [/\\]+(?:[^/\\\s,;"'()<>|]+[/\\]+)* # root and folders""",
    re.VERBOSE,
)
# A text that is only a path in a home folder, on a drive, on a server or from the root. A single
# backslash starts a formula.
_PATH = re.compile(r"(?:~[^/\\]*|[A-Za-z]:|file:)[/\\].+|\\\\[^/\\\s]+\\.+|/+[^/\s][^/]*/.+")
_HOME = re.compile(r"(?:(?<![\w.-])/(?:home|Users)|\b[A-Za-z]:[/\\]+Users)[/\\]+[^/\\\s\"'<>|:;,]+")
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>)\]]+")

# Model names become folder names that are valid on every system.
UNSPECIFIED: Final = "unspecified"
"""Developer of a model whose name does not include one."""

_NOT_PORTABLE = re.compile(r'[<>:"\\|?*\x00-\x1f\x7f-\x9f\ud800-\udfff]')
_RESERVED: Final = {"CON", "PRN", "AUX", "NUL", "DATA", "UNKNOWN"} | {
    f"{name}{number}" for name in ("COM", "LPT") for number in range(1, 10)
}

Scalar = bool | int | float | str


@dataclass(frozen=True, slots=True)
class RoleFacts:
    """A model in a role, with its explicit settings (if empty, the provider's defaults applied)."""

    role: str
    model: str
    settings: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class LogFacts:
    """Public facts about one ranking log.

    `name` is the file's, without folders; `sha256` is the hash of its bytes. `arguments` are those
    of the task about how it judged. `prompts` is the hash of the prompt templates, None if unknown.
    """

    name: str
    sha256: str
    eval_id: str
    created: str
    status: str
    shard: str | None = None
    inspect_version: str | None = None
    tiebreak_version: str | None = None
    prompts: str | None = None
    seed: int | None = None
    arguments: Mapping[str, Scalar] = field(default_factory=dict)
    roles: tuple[RoleFacts, ...] = ()


def facts_of(path: str) -> LogFacts:
    """Read the header of a ranking log, local or remote, and extract the public facts."""
    log = read_header(path)
    metadata = log.eval.metadata or {}
    return LogFacts(
        name=file_name(path),
        sha256=_sha256(path),
        eval_id=log.eval.eval_id,
        created=log.eval.created,
        status=log.status,
        shard=_matching(r"[0-9]+/[0-9]+", metadata.get(SHARD_KEY)),
        inspect_version=_matching(r"[\w.+!-]{1,40}", log.eval.packages.get("inspect_ai")),
        tiebreak_version=_matching(r"[\w.+!-]{1,40}", metadata.get("tiebreak_version")),
        prompts=_matching(r"[0-9a-f]{16,64}", metadata.get(PROMPTS_KEY)),
        seed=seed if isinstance(seed := metadata.get("seed"), int) else None,
        arguments=dict(_arguments(log.eval.task_args)),
        roles=tuple(_roles(log)),
    )


def facts_of_votes(log: RankingLog) -> LogFacts:
    """Public facts about the votes file that a log was read from."""
    return LogFacts(
        name=file_name(log.path),
        sha256=_sha256(log.path),
        **{name: getattr(log, name) for name in ("eval_id", "created", "status")},
    )


def _sha256(path: str) -> str:
    with fsspec.open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def public_name(name: str) -> str:
    """A model's name without the folders of an absolute path: `hf//home/me/llama` → `hf/llama`."""
    return _FOLDERS.sub("", name.rstrip("/\\")) or "model"


def public_names(names: Iterable[str]) -> dict[str, str]:
    """Map unique public names to the given names, for those that contain folders."""
    given = set(names)
    taken = {name for name in given if public_name(name) == name}
    names_given: dict[str, str] = {}
    for name in sorted(given - taken):
        public, number = public_name(name), 1
        while public in taken:
            number += 1
            public = f"{public_name(name)} ({number})"
        taken.add(public)
        names_given[public] = name
    return names_given


def model_id(model: str) -> str:
    """A model's name as a path of portable parts: `openai/gpt-5`, or just `my-run`."""
    parts = []
    for part in (part for part in model.split("/") if part.strip(". ")):
        name = _NOT_PORTABLE.sub("_", " ".join(part.split())).strip(". ")[:100].rstrip(". ")
        reserved = name.split(".", 1)[0].upper() in _RESERVED
        parts.append(f"_{name}" if reserved or not name else name)
    return "/".join(parts) or UNSPECIFIED


def developer_and_name(model: str) -> tuple[str, str]:
    """Developer and model as two folder names: `azure/openai/x` is `azure`, `openai_x`."""
    developer, _, name = model_id(model).partition("/")
    return (developer, name.replace("/", "_")) if name else (UNSPECIFIED, developer)


def public_reason(text: str | None) -> str | None:
    """A reason as one short line, without the addresses and folders in providers' messages."""
    if text is None:
        return None
    line = " ".join(_FOLDERS.sub("", _ADDRESS.sub("(address)", text)).split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def without_folders(value: Any) -> Any:
    """JSON-ready data without locations on a machine.

    A text that is an absolute path becomes the file's name, and a home folder in a longer line
    becomes `~`. Texts of several lines are content, e.g. the code of a test, and stay as they are.
    """
    if isinstance(value, Mapping):
        return {key: without_folders(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_folders(inner) for inner in value]
    if not isinstance(value, str) or "\n" in value:
        return value
    line = _HOME.sub("~", value)
    return file_name(line) if _PATH.fullmatch(line) else line


def file_name(path: str) -> str:
    """The last part of a path of any operating system."""
    return PureWindowsPath(path).name or path


def _matching(pattern: str, value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(pattern, value) else None


def _arguments(given: Mapping[str, Any]) -> Iterator[tuple[str, Scalar]]:
    for name in ARGUMENTS:
        value = given.get(name)
        if isinstance(value, bool | int | float):
            yield name, value
        elif isinstance(value, str):
            value = file_name(value) if name in _FILES else value
            if name in _FILES or _WORD.fullmatch(value):
                yield name, value


def _roles(log: LogHeader) -> Iterator[RoleFacts]:
    roles = log.eval.model_roles or {}
    # Without the role, the task's own model judges.
    if not {"judge", "peers"} & set(roles) and log.eval.model != "none/none":
        config = log.eval.model_generate_config | log.plan.config
        yield RoleFacts("judge", public_name(log.eval.model), settings_of(config))
    for role, bound in sorted(roles.items()):
        # A user-defined role takes no part in judging, and its name could be anything.
        if role in ("judge", "meta_judge", "peers"):
            models: Sequence[LogModel] = bound if isinstance(bound, list) else [bound]
            for model in models:
                # For the task's own model the eval's settings override those of the role.
                judging = role == "judge" and model.model == log.eval.model
                config = model.config | log.plan.config if judging else model.config
                yield RoleFacts(role, public_name(model.model), settings_of(config))


def settings_of(config: Mapping[str, Any]) -> dict[str, Scalar]:
    """The explicit settings that may be published."""
    values = ((name, config.get(name)) for name in SETTINGS)
    return {name: value for name, value in values if isinstance(value, Scalar)}
