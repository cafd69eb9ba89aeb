"""Find candidate files and recognise their kind by name and content.

Remote logs (`s3://…`, `hf://buckets/…`) are fetched through fsspec, as Inspect does it.
"""

import json
import os
import re
from codecs import getincrementaldecoder
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from filecmp import cmp
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal, NamedTuple

from tiebreak.candidates.answers import holds_answers
from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.lm_eval_runs import (
    SAMPLES_ENDS,
    SAMPLES_NAME,
    SUMMARY_NAME,
    is_summary,
    run_of,
    task_of,
    unsampled,
)
from tiebreak.candidates.native import shortened
from tiebreak.candidates.parquet import is_pool
from tiebreak.candidates.pool import Note
from tiebreak.candidates.records import shown_path
from tiebreak.packed import head_of, place_below, stream, unpack_zip, unpacked_name
from tiebreak.paths import MISSING, AnyPath, address_of, local_path, problem_with

# Name and first field of Inspect's JSON logs; the field is another one if a program sorted them.
_INSPECT_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d.*\.json")
_INSPECT_BEGIN = re.compile(r'\s*\{\s*"(version|status|config_updates|error|etag|eval)"')
_INSPECT_EVAL = re.compile(r'"eval"\s*:\s*\{')
_INSPECT_CREATED = re.compile(r'"created"\s*:')
_BLOCK = 2**16

_LM_EVAL_ROW = re.compile(rb'\s*\[?\s*\{(?=.*"doc_id"\s*:)(?=.*"doc"\s*:\s*\{)', re.DOTALL)

# The name of a candidate file, and a suffix that a person or a program has appended.
_LIKE_LOG = re.compile(r"(.+\.(eval|jsonl?|ndjson|csv|tsv|parquet))(\W.*)?", re.IGNORECASE)
_LIKE_ARCHIVE = re.compile(r".+\.(zip|tar|tgz|tbz2?|txz|7z|rar)(\W.*)?", re.IGNORECASE)
_ADDED = re.compile(
    r"~|.*\W(part|partial|tmp|temp|bak|backup|old|orig|save|copy|download|crdownload|incomplete|"
    r"filepart|aria2|gz|zst|bz2|xz|lz4|br|\d+|\(\d+\))",
    re.IGNORECASE,
)

_HELM = re.compile(rb'.*"(adapter_spec|scenario_spec|train_trial_index)"\s*:', re.DOTALL)
_HELM_NAMES = ("scenario_state.json", "per_instance_stats.json", "run_spec.json")
_OTHERS = {
    # The first line of a file is the specification of the run, all others are events.
    "OpenAI evals": re.compile(
        rb'\s*\{\s*"spec"\s*:\s*\{|(?=[^\n]*"run_id")(?=[^\n]*"event_id")\s*\{[^\n]*"type"'
    ),
    "promptfoo": re.compile(rb'\s*\{.*("evalId"\s*:.*"results"|"promptIdx")\s*:', re.DOTALL),
}


def is_inspect_log(path: Path) -> bool:
    """Whether a file is an Inspect log, also true for one too damaged to tell."""
    name = unpacked_name(path.name)
    if name.endswith(".eval") or _INSPECT_NAME.fullmatch(name):
        return True
    return name.endswith(".json") and _begins_as_inspect_log(path)


def _begins_as_inspect_log(path: Path) -> bool:
    try:
        with stream(path) as file:
            block = bytes(file.read(_BLOCK))
            decode = getincrementaldecoder(json.detect_encoding(block))("replace").decode
            text = decode(block)
            if not _INSPECT_BEGIN.match(text):
                return False
            while block:
                spec = _INSPECT_EVAL.search(text)
                if spec and _INSPECT_CREATED.search(text, spec.end()):
                    return True
                block = bytes(file.read(_BLOCK))
                text = text[-_BLOCK:] + decode(block)  # a match may span two blocks
    except (OSError, ValueError):
        return True  # too damaged to tell: its reader reports what is wrong
    return False


def holds_samples(head: bytes) -> bool:
    """Whether a file that begins with `head` holds lm-eval samples."""
    return _LM_EVAL_ROW.match(head) is not None


def other_output(path: Path, head: bytes) -> str:
    """Message for a file that another harness wrote, naming it; "" for any other file."""
    if not unpacked_name(path.name).endswith((".json", ".jsonl")) or holds_samples(head):
        return ""
    names = [name for name, begin in _OTHERS.items() if begin.match(head)]
    if path.name in _HELM_NAMES and _HELM.match(head):
        names = ["HELM"]
    return (
        f"is output of {names[0]}, which Tiebreak does not read: run the benchmark with Inspect "
        "or lm-eval, or write its answers as rows with prompt, model and answer"
        if names
        else ""
    )


def is_like_candidate(name: str) -> bool:
    """Whether a file is, by its name or path, possibly a candidate file or similar to one."""
    return any(like.fullmatch(name) for like in (_LIKE_LOG, _LIKE_ARCHIVE))


def near_miss(path: Path, head: bytes) -> str:
    """Why a file that resembles a candidate file is not one; "" for other files."""
    if not is_like_candidate(path.name):
        return ""
    if problem := problem_with(path):
        return f"is a link to what {problem}" if path.is_symlink() else problem
    if (match := _LIKE_LOG.fullmatch(path.name)) is None:
        return "is an archive that is not opened: unpack it"
    name, kind, added = match[1], match[2].lower(), _ADDED.fullmatch(match[3] or "")
    zipped = kind == "eval" and (added or head.startswith(b"PK"))
    renamed = not unpacked_name(path.name).endswith(".json")
    if zipped or (kind == "json" and renamed and _begins_as_inspect_log(path)):
        return "looks like an Inspect log, but its name does not end in .eval or .json"
    if kind != "eval" and (holds_samples(head) or (added and SAMPLES_NAME.fullmatch(name))):
        return "looks like lm-eval samples, but is not called samples_<task>_<date>.jsonl"
    return "not a pool of Tiebreak" if kind == "parquet" else ""


Kind = Literal["inspect", "lm-eval", "pool", "answers"]

_UNSAMPLED = "lm-eval results without samples"


class CandidateFile(NamedTuple):
    """A candidate file and its kind."""

    path: Path
    kind: Kind


@dataclass
class Discovery:
    """Candidate files, each once, with notes and problems of the search.

    `roots` maps files and folders that were unpacked or fetched into the folder `scratch` to the
    names that the user knows them by. They exist as long as `scratch` does.
    """

    scratch: Path | None = None
    files: list[CandidateFile] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    problems: list[Note] = field(default_factory=list)
    roots: dict[Path, str] = field(default_factory=dict)

    def ignore(self, path: Path, message: str) -> None:
        """Note a file that is skipped."""
        self.notes.append(Note("ignored_file", shown_path(path, self.roots), message))

    def refuse(self, path: Path, message: str) -> None:
        """Add a problem with a file."""
        self.problems.append(Note("unreadable_log", shown_path(path, self.roots), message))


def discover(paths: Iterable[AnyPath], scratch: Path | None = None) -> Discovery:
    """Find candidate files below folders and among the files given.

    In a folder, files that are clearly no logs (READMEs, manifests) are skipped silently. Files
    that resemble logs are noted: hidden files, other names, Parquet that is no pool, output of
    other harnesses. A file that was given by name must be a candidate file. Archives are unpacked
    and addresses fetched into the folder `scratch`; if it is None, neither is done.

    Raises:
        CandidateError: paths do not exist or cannot be reached; the error lists all of them.
    """
    discovery = Discovery(scratch)
    missing: list[Note] = []
    given: list[Path] = []
    for path in paths:
        try:
            given += _local_path(path, discovery)
        except CandidateError as error:
            missing += error.notes
    if missing:
        raise CandidateError(missing)
    for path in given:
        if problem := problem_with(path):
            discovery.refuse(path, problem)
        elif path.is_dir():
            _scan_folder(path, discovery)
        elif path.suffix == ".zip":
            for folder in _unzipped(path, discovery):
                _scan_folder(folder, discovery)
        elif (kind := _kind(path, named=True)) != "inspect" and (
            other := other_output(path, head_of(path))
        ):
            discovery.refuse(path, other)
        elif kind:
            discovery.files.append(CandidateFile(path, kind))
        else:
            discovery.refuse(path, _rejection(path))
    once: dict[Path, CandidateFile] = {}
    for file in discovery.files:
        once.setdefault(file.path.resolve(), file)
    discovery.files = list(once.values())
    if discovery.roots:
        _leave_out_copies(discovery)
    return discovery


def _leave_out_copies(discovery: Discovery) -> None:
    """Drop copies of a file (same folder name, name and content); local files are kept first."""
    known: dict[tuple[str, str], list[CandidateFile]] = defaultdict(list)
    discovery.files.sort(key=lambda file: any(map(file.path.is_relative_to, discovery.roots)))
    for file in discovery.files:
        same = known[file.path.parent.name, file.path.name]
        twins = [other for other in same if cmp(file.path, other.path, shallow=False)]
        if twins:
            discovery.ignore(
                file.path, f"is the same as {shown_path(twins[0].path, discovery.roots)}"
            )
        else:
            same.append(file)
    discovery.files = [file for files in known.values() for file in files]


def _local_path(given: AnyPath, discovery: Discovery) -> list[Path]:
    """Local paths of a path or address; none if it is in an archive that cannot be opened.

    Raises:
        CandidateError: nothing exists there, or it cannot be reached.
    """
    if not (address := address_of(given)):
        path = local_path(given)
        if (problem := problem_with(path)).startswith(MISSING):
            raise CandidateError.of("missing_path", str(given), problem)
        return [path]
    if discovery.scratch is None:
        raise CandidateError.of("remote_path", address, "is not on this machine: copy it first")
    inner, chained, archive = address.removeprefix("zip://").partition("::")
    if address.startswith("zip://") and chained:
        zips = _local_path(archive, discovery)
        inside = [
            unzipped / inner.strip("/*") for path in zips for unzipped in _unzipped(path, discovery)
        ]
        if not all(path.exists() for path in inside):
            raise CandidateError.of("missing_path", address, MISSING)
        return inside
    path = fetch(address, Path(mkdtemp(dir=discovery.scratch)), is_like_candidate)
    discovery.roots[path] = address.rstrip("/")
    return [path]


def _unzipped(path: Path, discovery: Discovery) -> list[Path]:
    """Folder with the unpacked archive, as a list; empty, with a note, if it is not unpacked."""
    if discovery.scratch is None or ".zip/" in shown_path(path, discovery.roots):
        discovery.ignore(path, "is an archive that is not opened here: unpack it")
        return []
    folder = Path(mkdtemp(dir=discovery.scratch)) / path.stem
    folder.mkdir()
    try:
        unpack_zip(path, folder, is_like_candidate)
    except (OSError, ValueError) as error:
        discovery.refuse(path, getattr(error, "strerror", None) or str(error))
        return []
    if (folder / "header.json").is_file() or (folder / "_journal/start.json").is_file():
        discovery.refuse(path, "is an Inspect log: let its name end in .eval")
        return []
    discovery.roots[folder] = shown_path(path, discovery.roots)
    return [folder]


def _scan_folder(folder: Path, discovery: Discovery) -> None:
    files, notes = len(discovery.files), len(discovery.notes)
    _search(folder, discovery)
    if len(discovery.files) == files:
        unsampled = any(note.what.startswith(_UNSAMPLED) for note in discovery.notes[notes:])
        message = "no candidate file in this folder" + (f" ({_UNSAMPLED})" if unsampled else "")
        discovery.problems.append(
            Note("empty_folder", shown_path(folder, discovery.roots), message)
        )


def _search(folder: Path, discovery: Discovery) -> None:
    foreign: dict[str, list[Path]] = defaultdict(list)
    for path in _files(folder):
        is_file = path.is_file()
        kind = _kind(path, named=False) if is_file else None
        head = b"" if kind or not is_like_candidate(path.name) else head_of(path)
        message = "" if kind else near_miss(path, head)
        if _is_hidden(path, folder):
            if kind or message:
                discovery.ignore(path, "is left out: a dot hides it, or a folder that it is in")
        elif kind:
            discovery.files.append(CandidateFile(path, kind))
        elif not is_file and path.is_dir():
            discovery.refuse(path, "is a folder that cannot be opened")
        elif is_file and path.suffix == ".zip":
            for inside in _unzipped(path, discovery):
                _search(inside, discovery)
        elif other := other_output(path, head):
            foreign[other].append(path)
        elif tasks := unsampled(path):
            message = f"{_UNSAMPLED} of {shortened(tasks)} (run lm-eval with --log_samples)"
            discovery.ignore(path, message)
        elif message:
            discovery.ignore(path, message)
    for message, (first, *more) in foreign.items():
        where = shown_path(first, discovery.roots) + (f" and {len(more):,} more" if more else "")
        discovery.notes.append(Note("ignored_file", where, message))


def visible_files(folder: Path) -> Iterator[Path]:
    """Files in a folder and its subfolders, sorted, without hidden ones (dot names)."""
    return (path for path in _files(folder) if path.is_file() and not _is_hidden(path, folder))


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _files(folder: Path) -> list[Path]:
    """Files in a folder, its subfolders and linked folders, sorted; each folder is read once.

    Linked folders are read last, so a folder that is inside keeps its own path instead of that of a
    link to it. For a folder that cannot be opened, the list has the folder itself.
    """
    files: list[Path] = []

    def unopened(error: OSError) -> None:
        files.append(Path(error.filename))

    known: set[Path] = set()
    left = [folder]
    while left:
        links: list[Path] = []
        steps = (step for start in left for step in os.walk(start, onerror=unopened))
        for where, names, inside in steps:
            place = Path(where)
            if place.resolve() in known:
                names.clear()
                continue
            known.add(place.resolve())
            # macOS puts "._NAME" beside a file NAME: it holds only attributes.
            files += [place / name for name in inside if not name.startswith("._")]
            links += [place / name for name in sorted(names) if (place / name).is_symlink()]
        left = links
    return sorted(files)


def _kind(path: Path, *, named: bool) -> Kind | None:
    """Kind of a file, or None; the suffix is enough for files that the user `named`."""
    samples = path.name.endswith(SAMPLES_ENDS)
    if samples and (SAMPLES_NAME.fullmatch(path.name) or _is_of_undated_run(path)):
        return "lm-eval"
    if path.suffix != ".parquet" and holds_answers(path, named=named):
        return "answers"
    if samples:
        return "lm-eval" if named else None
    if unpacked_name(path.name).endswith((".eval", ".json")):
        return "inspect" if is_inspect_log(path) else None
    if path.suffix == ".parquet":
        try:
            if not is_pool(path) and holds_answers(path, named=named):
                return "answers"
            return "pool" if named or is_pool(path) else None
        except CandidateError:
            return "pool"  # too damaged to tell: its reader reports what is wrong
    return None


def _is_of_undated_run(path: Path) -> bool:
    """Whether a file is from lm-eval 0.4.2, whose names have model arguments before the task."""
    summary = path.with_name("results.json")
    known = summary.is_file() and task_of(path) in run_of(summary).answered
    return known and holds_samples(head_of(path))


def _rejection(path: Path) -> str:
    if is_summary(path):
        return "is lm-eval's summary of a run; give its folder or its samples_*.jsonl"
    if unpacked_name(path.name).endswith(".json"):
        return "is not an Inspect log"
    known = (
        ".eval, .json, samples_*.jsonl, these with .gz or .zst, .parquet, a .zip of them, or rows "
        "with prompt, model and answer"
    )
    return near_miss(path, head_of(path)) or f"is not a candidate file ({known})"


def fetch(address: str, folder: Path, wanted: Callable[[str], bool]) -> Path:
    """Fetch a file, or the files below a remote folder whose paths satisfy `wanted`.

    Returns:
        The file or the folder, below `folder`.

    Raises:
        CandidateError: the driver for this kind of address is not installed, nothing exists there,
            or it cannot be reached.
    """
    # Importing fsspec takes a while, and its drivers more.
    import fsspec  # type: ignore[import-untyped]

    try:
        system, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
        if system.info(root)["type"] == "directory":
            base, name = root.rstrip("/"), ""
            names = list(filter(wanted, system.find(root)))
        else:
            base, _, name = root.rpartition("/")
            names = [root]
        if name.endswith(SAMPLES_ENDS):  # the model's name is in the summary beside it
            siblings = system.ls(base, detail=False)
            names += [path for path in siblings if SUMMARY_NAME.fullmatch(path.rpartition("/")[2])]
        # Models without a name of their own are named after their folder.
        target = place_below(folder, base.rpartition("/")[2])
        places = [place_below(target, path[len(base) :].lstrip("/")) for path in names]
        for place in (target / "_", *places):  # "_", so that `target` exists even without files
            place.parent.mkdir(parents=True, exist_ok=True)
        system.get(names, list(map(str, places)))
        return target / name
    except FileNotFoundError as error:
        raise CandidateError.of("missing_path", address, MISSING) from error
    except Exception as error:  # each driver has errors of its own
        reason = (str(error).strip() or type(error).__name__).partition("\n")[0][:200]
        message = f"cannot be reached ({reason})"
        if isinstance(error, ImportError) and (package := getattr(error.__cause__, "name", None)):
            message = f"needs a package that is not installed: pip install {package}"
        raise CandidateError.of("remote_path", address, message) from error
