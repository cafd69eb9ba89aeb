"""Finding candidate files, and recognising their kind by their content."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.lm_eval_runs import SAMPLES_ENDS, SAMPLES_NAME
from tiebreak.candidates.pool import Note
from tiebreak.candidates.pool_table import is_pool
from tiebreak.paths import MISSING, problem_with

Kind = Literal["inspect", "lm-eval", "pool"]

# How Inspect names a JSON log, and how one begins, also after a program that sorts its fields.
_INSPECT_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d.*\.json")
_INSPECT_JSON = re.compile(
    r'(?=\s*\{\s*"(version|status|config_updates|error|etag|eval)")'
    r'(?=.*"eval"\s*:\s*\{)(?=.*"created"\s*:)',
    re.DOTALL,
)
_HEAD = 2**16
_LM_EVAL_RESULTS = re.compile(r"(.+_)?results_\d{4}-\d\d-\d\dT[\d.:-]+\.json")


class Found(NamedTuple):
    """A candidate file and its kind."""

    path: Path
    kind: Kind


@dataclass
class Discovery:
    """Candidate files, each once, with notes and problems of the search."""

    files: list[Found] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    problems: list[Note] = field(default_factory=list)


def discover(paths: Iterable[Path]) -> Discovery:
    """Find candidate files below folders and among the files given.

    In a folder, other files (READMEs, manifests, other people's Parquet) are passed over, and so
    is everything whose name starts with a dot. A file that was given by name must be a candidate
    file.

    Raises:
        CandidateError: One or more of the paths do not exist.
    """
    problems = [(path, problem_with(path)) for path in paths]
    if missing := [one for one in problems if one[1].startswith(MISSING)]:
        raise CandidateError([Note("missing_path", str(path), what) for path, what in missing])
    found = Discovery()
    for path, problem in problems:
        if problem:
            found.problems.append(Note("unreadable_log", path.as_posix(), problem))
        elif path.is_dir():
            _look_into(path, found)
        elif kind := _kind(path, named=True):
            found.files.append(Found(path, kind))
        else:
            found.problems.append(Note("unreadable_log", path.as_posix(), _why_not(path)))
    once = {file.path.resolve(): file for file in reversed(found.files)}
    found.files = [file for file in found.files if once[file.path.resolve()] is file]
    return found


def _look_into(folder: Path, found: Discovery) -> None:
    before = len(found.files)
    summaries: list[Path] = []
    for path in visible_files(folder):
        if kind := _kind(path, named=False):
            found.files.append(Found(path, kind))
        elif path.suffix == ".parquet":
            found.notes.append(Note("ignored_file", path.as_posix(), "not a pool of Tiebreak"))
        elif _LM_EVAL_RESULTS.fullmatch(path.name):
            summaries.append(path)
    sampled = {file.path.parent for file in found.files}
    for path in summaries:
        if path.parent not in sampled:
            what = "lm-eval results without samples (run lm-eval with --log_samples)"
            found.notes.append(Note("ignored_file", path.as_posix(), what))
    if len(found.files) == before:
        unsampled = " (lm-eval results without samples)" if summaries else ""
        what = f"no candidate file in this folder{unsampled}"
        found.problems.append(Note("empty_folder", folder.as_posix(), what))


def visible_files(folder: Path) -> Iterator[Path]:
    """Files in a folder and its subfolders, sorted, without those that a dot hides."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file():
            yield path


def _kind(path: Path, *, named: bool) -> Kind | None:
    """Kind of a file, or None; for `named` files the suffix is enough."""
    if path.name.endswith(SAMPLES_ENDS):
        return "lm-eval" if named or SAMPLES_NAME.fullmatch(path.name) else None
    match path.suffix:
        case ".eval" | ".json":
            return "inspect" if is_inspect_log(path) else None
        case ".parquet":
            return "pool" if named or _may_be_pool(path) else None
    return None


def is_inspect_log(path: Path) -> bool:
    """Whether a file is a log of Inspect, or too damaged to say."""
    if path.suffix == ".eval" or _INSPECT_NAME.fullmatch(path.name):
        return True
    if path.suffix != ".json":
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return True
    return _INSPECT_JSON.match(head.decode(json.detect_encoding(head), "replace")) is not None


def _may_be_pool(path: Path) -> bool:
    """Whether a Parquet file is a pool, or too damaged to say."""
    try:
        return is_pool(path)
    except CandidateError:
        return True


def _why_not(path: Path) -> str:
    if _LM_EVAL_RESULTS.fullmatch(path.name):
        return "is lm-eval's summary of a run; give its folder or its samples_*.jsonl"
    if path.suffix == ".json":
        return "is not an Inspect log"
    return "is not a candidate file (.eval, .json, samples_*.jsonl or .jsonl.gz, .parquet)"
