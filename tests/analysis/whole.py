"""Findings as text: to the last digit to tell two apart, and as lines kept beside the tests."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.reason import Reason

# Ballots and whole logs, which are what a finding is made of and no figures; how long it took.
_INPUT = {"panel", "items_judged", "ballots", "seconds"}


def whole(findings: Iterable[Any]) -> str:
    """With their own repr, which is not short; NaN, which differs from itself, as a word."""
    return repr([asdict(one) for one in findings])


def told(finding: Any, *folders: Path) -> str:
    """Every figure of a finding, a line each, to six digits; paths without their folders."""
    text = "".join(f"{line}\n" for line in _lines(finding, ""))
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return text


def _lines(value: Any, at: str) -> Iterator[str]:
    parts: Iterable[tuple[Any, Any]]
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type | Reason):
        parts = [(f.name, getattr(value, f.name)) for f in fields(value) if f.name not in _INPUT]
    elif isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(enumerate(sorted(value) if isinstance(value, set | frozenset) else value))
        if not any(_nested(part) for _, part in parts):
            yield f"{at}: [{', '.join(_word(part) for _, part in parts)}]"
            return
    else:
        yield f"{at}: {_word(value)}"
        return
    # What is no more than a few figures is a line, and so are those of the rest that have no parts.
    parts = list(parts)
    plain = [f"{name}={_word(part)}" for name, part in parts if not _nested(part)]
    if plain:
        yield f"{at}: {'  '.join(plain)}"
    parts = [(name, part) for name, part in parts if _nested(part)]
    for name, part in parts:
        yield from _lines(part, f"{at}.{name}" if at else str(name))


def _nested(value: Any) -> bool:
    parted = is_dataclass(value) or isinstance(value, np.ndarray | Mapping | list | tuple | set)
    return parted and not isinstance(value, Reason)


def _word(value: Any) -> str:
    if isinstance(value, float):
        return "0" if abs(value) < 1e-9 else f"{value:.6g}"
    return str(value)
