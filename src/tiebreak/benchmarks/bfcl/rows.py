"""BFCL's files: the questions of each category, and their right answers in a folder beside them.

    BFCL_v4_parallel.json                  {"id": …, "question": …, "function": …}
    possible_answer/BFCL_v4_parallel.json  {"id": …, "ground_truth": …}

The data of BFCL (Patil et al. 2025, PMLR 267) come with its package `bfcl-eval`.
"""

import contextlib
import importlib.metadata
import importlib.util
import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tiebreak.benchmarks.bfcl.categories import ANY_CALL, CATEGORIES, NO_CALL, category_named
from tiebreak.benchmarks.question import Row
from tiebreak.benchmarks.sources import file_rows
from tiebreak.prerequisite import PrerequisiteError

VERSION: Final = "2026.3.23"
"""Release of `bfcl-eval` that the questions are pinned to."""
# Without its dependencies: it pins numpy 1.26 and requires the clients of all providers, and
# only its data are read.
INSTALL: Final = f"pip install --no-deps bfcl-eval=={VERSION}"

_FILE: Final = re.compile(r"BFCL_v(\d+)_(\w+)\.json")


def load_rows(data: Path | None = None, categories: Sequence[str] = ()) -> list[Row]:
    """Rows of the categories, each with its right answer.

    Args:
        data: A folder with BFCL's files, or the folder above it; None takes those of the installed
            package. Of several releases in one folder the newest counts, category by category.
        categories: Some of `CATEGORIES`, under the names of any release; empty takes all that are
            there.

    Returns:
        Mappings with id, category, question, function and ground_truth, in the order of
        `CATEGORIES` and then of the files.

    Raises:
        PrerequisiteError: a category is unknown or left out, the data cannot be loaded, or
            questions and answers do not belong together; the message says what to do.
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
    """The categories of these names, of any release.

    Raises:
        PrerequisiteError: there is no such category, or it is left out.
    """
    try:
        return [category_named(name) for name in names]
    except ValueError as error:
        raise PrerequisiteError(f"{error}.") from error


def _package_folder() -> Path:
    # Looked up without an import: importing the package needs all of its dependencies.
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or spec.origin is None:
        raise PrerequisiteError(
            f"The questions of BFCL come with its package:\n  {INSTALL}\n"
            "or give the folder of a copy with -T data=… (Inspect) or --metadata '{\"data\": …}' "
            "(lm-eval)."
        )
    folder = Path(spec.origin).parent / "data"
    try:
        found = importlib.metadata.version("bfcl-eval")
    except importlib.metadata.PackageNotFoundError:
        found = "of an unknown release"
    if found != VERSION:
        raise PrerequisiteError(
            f"bfcl-eval {found} is installed, and its questions may differ from those that others "
            f"get:\n  {INSTALL}\nor take them as they are with -T data={folder} (Inspect)."
        )
    return folder


def _folder(data: Path) -> Path:
    """The folder that holds the files: `data` itself or one inside it."""
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
    """Files of questions by release and by the name that their category has there."""
    found = {path: _FILE.fullmatch(path.name) for path in sorted(folder.iterdir())}
    return {(int(match[1]), match[2]): path for path, match in found.items() if match}


def _newest(folder: Path) -> dict[str, Path]:
    """The file of each category that is there, in the order of `CATEGORIES`."""
    newest: dict[str, Path] = {}
    for (_, name), path in sorted(_files(folder).items()):
        with contextlib.suppress(ValueError):  # left out, or of a release that is not known yet
            newest[category_named(name)] = path
    return {name: newest[name] for name in CATEGORIES if name in newest}


def _category_rows(category: str, path: Path) -> list[Row]:
    answered = category not in NO_CALL | ANY_CALL
    questions = _by_id(path, unique=answered)
    answers = _by_id(path.parent / "possible_answer" / path.name) if answered else {}
    if answered:
        _must_be_none(set(questions) - set(answers), path, "has no answer in possible_answer")
        _must_be_none(set(answers) - set(questions), path, "has an answer and no question")
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
            # Without answers to join, a name that is given twice (as BFCL v3 does) does no harm.
            _must_be_none({name} if unique else (), path, "occurs twice")
            name = next(f"{name}_{n}" for n in free[name] if f"{name}_{n}" not in rows)
        rows[name] = row
    return rows


def _column(row: Row, name: str, place: Path | str) -> Any:
    if name not in row:
        raise PrerequisiteError(f"{place}: {row.get('id', 'a row')} lacks {name!r}.")
    return row[name]


def _must_be_none(names: Collection[str], path: Path, problem: str) -> None:
    if names:
        more = f" (and {len(names) - 3} more)" if len(names) > 3 else ""
        raise PrerequisiteError(f"{path}: {', '.join(sorted(names)[:3])}{more} {problem}.")
