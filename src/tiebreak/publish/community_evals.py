"""Entries for `.eval_results/` of model repositories: the Hub's community evaluations.

One file per model, benchmark, protocol and judge, each to be put into the model's repository (or
proposed to it); a newer run takes the place of an older one. The value is the normalized Borda
score, never a rank, and the notes name the pool: with other models beside it the same model has
another score.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow
from tiebreak.publish.facts import flattened
from tiebreak.publish.runs import Run
from tiebreak.report.figures.canvas import slug
from tiebreak.words import count

FOLDER: Final = ".eval_results"
_T = TypeVar("_T")


class _Dumper(yaml.SafeDumper):
    """Writes a date as text: unquoted, YAML's readers make something else of it."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


_Dumper.add_representer(str, _text)


def entries(runs: Iterable[Run], repo_id: str) -> dict[str, bytes]:
    """The files of some runs, by path: `DEVELOPER/MODEL/.eval_results/NAME.yaml`.

    Args:
        runs: what was judged, the oldest first.
        repo_id: the dataset that holds the leaderboard, as OWNER/NAME. On the Hub its scores are
            shown as a benchmark's once it is registered as one (a file `eval.yaml`).
    """
    found = [
        (run, board, row)
        for run in runs
        for board in run.boards
        for row in board.rows
        if not math.isnan(row.borda)
    ]
    folders = _distinct({row.model: "/".join(flattened(row.model)) for _, _, row in found})
    tasks = _distinct({_task(board): slug(*_task(board)) for _, board, _ in found})
    return {
        f"{folders[row.model]}/{FOLDER}/tiebreak-{tasks[_task(board)]}.yaml": _file(
            run, board, row, repo_id, tasks[_task(board)]
        )
        for run, board, row in found
    }


def _task(board: Leaderboard) -> tuple[str, ...]:
    """Scores of another judge are not to be compared with these: they are another task."""
    return (board.benchmark, board.protocol, *board.judges)


def _distinct(names: Mapping[_T, str]) -> dict[_T, str]:
    """Names for files; those that several have, on any system, end in a hash of what they name."""
    shared = Counter(name.casefold() for name in names.values())
    return {
        what: name if shared[name.casefold()] == 1 else f"{name}-{_hash(what)}"
        for what, name in names.items()
    }


def _hash(what: object) -> str:
    return hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _file(run: Run, board: Leaderboard, row: LeaderboardRow, repo_id: str, task: str) -> bytes:
    entry = EvalResultEntry(
        dataset_id=repo_id,
        task_id=task,
        value=row.borda,
        date=run.created,
        source_url=f"https://huggingface.co/datasets/{repo_id}",
        source_name="Tiebreak",
        notes=_notes(board, row),
    )
    data: list[dict[str, Any]] = eval_result_entries_to_yaml([entry])
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100).encode()


def _notes(board: Leaderboard, row: LeaderboardRow) -> str:
    others = ", ".join(one.model for one in board.rows if one is not row)
    judges = ", ".join(board.judges) or "no judge"
    interval = ""
    if not math.isnan(row.lower):
        interval = f", {board.level * 100:g}% interval {row.lower:.3f} to {row.upper:.3f}"
    return (
        f"Normalized Borda score (0 to 1{interval}) over {count(board.n_items, 'item')} by "
        f"{board.protocol}, judged by {judges}. It is relative to a pool of {len(board.rows)} "
        f"models; the others: {others}"
    )
