"""Loading: from paths to one aligned pool."""

from collections.abc import Iterable, Mapping, Sequence
from os import fspath
from pathlib import Path
from typing import get_args

from tiebreak.candidates.align import align
from tiebreak.candidates.discover import Found, discover
from tiebreak.candidates.errors import CandidateError
from tiebreak.candidates.hub import is_on_hub, read_published
from tiebreak.candidates.identity import benchmark_name
from tiebreak.candidates.linked import align_by_models
from tiebreak.candidates.lm_eval_samples import read_lm_eval_samples
from tiebreak.candidates.parquet import read_pool_file
from tiebreak.candidates.pool import CandidatePool, Mode, Note
from tiebreak.candidates.records import Epochs, LogRecord, Reading, ReadOptions
from tiebreak.paths import Paths, path_list
from tiebreak.progress import tracked


def load_candidates(
    paths: Paths,
    mode: Mode = "strict",
    *,
    epochs: Epochs = "first",
    native: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
    alone: bool = False,
) -> CandidatePool:
    """Read the answers that models gave and align them, item by item.

    Args:
        paths: Files and folders, in any mix: Inspect logs (`.eval`, `.json`), lm-eval output
            folders or `samples_*.jsonl[.gz]`, and pools written by `write_parquet`. Folders are
            searched with their subfolders. Tiebreak's own ranking logs are left out and noted.
            `hf://datasets/OWNER/NAME[@REVISION][/FILE]`: candidates published on the Hub.
        mode: `strict`: an error lists whatever is missing, damaged or contradictory.
            `intersect`: keep the items that all models of a benchmark answered; what was left out
            is in `pool.notes`.
        epochs: `first` keeps epoch 1 (and notes that there were more), `all` makes one candidate
            per item, model and epoch. lm-eval's repeats share one score; the first is kept.
        native: Name of the native score, or several in order of preference. Default: the first
            score of each log. A score of several values has `name.part` for each. Pools keep the
            score they were written with.
        filter: Name of the lm-eval filter whose score is taken. Default: the first in the file.
        rename: Benchmark names to replace, such as `{"gsm8k_cot": "gsm8k"}`.
        alone: Whether a benchmark may have a single model, whose answers can be graded only.

    Returns:
        The pool, in an order that does not depend on the order of paths or rows.

    Raises:
        CandidateError: Something is wrong; the message lists what and where, and `kind` is the
            earliest ("hole": some models did not answer some items, and nothing worse).
        ValueError: An unknown `mode` or `epochs`.
    """
    _check("mode", mode, get_args(Mode))
    read = _read_all(paths, epochs, native, filter, rename)
    return align(read.records, mode, notes=read.notes, problems=read.problems, alone=alone)


def load_by_models(
    paths: Paths,
    *,
    epochs: Epochs = "first",
    native: str | Sequence[str] | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> tuple[CandidatePool, ...]:
    """The same of models that did not answer the same items: a pool for each set of models.

    Each answer is in one pool, beside those of all other models that answered its item; whoever
    answered it alone is alone there. What cannot be read is left out and noted, as in `intersect`.

    Raises:
        CandidateError: nothing to read, two logs of one model, or an item that has two questions.
    """
    return align_by_models(_read_all(paths, epochs, native, filter, rename))


def _read_all(
    paths: Paths,
    epochs: Epochs,
    native: str | Sequence[str] | None,
    filter: str | None,
    rename: Mapping[str, str] | None,
) -> Reading:
    """What all files hold, and what is wrong with them."""
    _check("epochs", epochs, get_args(Epochs))
    wanted = (native,) if isinstance(native, str) else tuple(native or ())
    options = ReadOptions(epochs, wanted, filter, dict(rename or {}))
    given = path_list(paths)
    if not given:
        raise CandidateError.of("empty_folder", "paths", "no path was given")
    names = [fspath(path) for path in given]
    found = discover(Path(name) for name in names if not is_on_hub(name))
    readings = [
        *(_read(file, options) for file in tracked(found.files, "reading answers")),
        *(read_published(name, options) for name in dict.fromkeys(names) if is_on_hub(name)),
    ]
    records = tuple(record for reading in readings for record in reading.records)
    problems = [*found.problems, *(problem for reading in readings for problem in reading.problems)]
    return Reading(
        records,
        notes=(*found.notes, *(note for reading in readings for note in reading.notes)),
        problems=(*problems, *_unused_names(options.rename, records)),
    )


def _check(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


def _read(file: Found, options: ReadOptions) -> Reading:
    try:
        if file.kind == "inspect":
            # Importing Inspect takes seconds, which lm-eval users do not need.
            from tiebreak.candidates.inspect_logs import read_inspect_log

            return read_inspect_log(file.path, options)
        if file.kind == "pool":
            return read_pool_file(file.path, options)
        return read_lm_eval_samples(file.path, options)
    except OSError as error:
        what = f"cannot be opened ({error.strerror or error})"
        return Reading(problems=(Note("unreadable_log", file.path.as_posix(), what),))


def _unused_names(rename: Mapping[str, str], records: Iterable[LogRecord]) -> list[Note]:
    """Keys of `rename` that match no benchmark."""
    tasks = {record.task for record in records}
    known = tasks | {benchmark_name(task) for task in tasks}
    shown = ", ".join(sorted({benchmark_name(task) for task in tasks})) or "none"
    return [
        Note("rename", "rename", f"no benchmark {name!r}; there are: {shown}")
        for name in rename
        if name not in known
    ]
