"""What the tests of judging runs share: pools to be judged, and ways to look at the logs."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import eval
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log, resolve_sample_attachments
from inspect_ai.util import store_from_events

from tests.candidates.builders import write_inspect_log
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import STORE_KEY, ItemBallots, restore_ballots


def write_pool(
    folder: Path,
    n_models: int,
    n_items: int,
    answer: Callable[[int, int], str] = lambda model, item: f"It is {item}. quality={model + 1}",
    task: str = "gsm8k",
) -> Path:
    """Logs of models m0, m1, …; unless told otherwise a later model is better on every item."""
    for model in range(n_models):
        rows = [
            {"id": f"q{i}", "question": f"What is {i}?", "answer": answer(model, i), "native": 1.0}
            for i in range(n_items)
        ]
        write_inspect_log(folder / f"{task}-m{model}.eval", f"m{model}", rows, task=task)
    return folder


def judge_in_process(
    tasks: str | Sequence[str],
    candidates: Path,
    log_dir: Path,
    judge: str = "planted/x",
    *,
    eval_args: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> list[EvalLog]:
    """`inspect eval` in this process, one task after the other; `eval_args` are its own options."""
    options: dict[str, Any] = {
        "model_roles": {"judge": judge},
        "log_level": "warning",
        "log_realtime": False,  # nobody looks on, and it takes a tenth of the time
        "max_tasks": 1,
        **(eval_args or {}),
    }
    return eval(
        [f"tiebreak/{task}" for task in ([tasks] if isinstance(tasks, str) else tasks)],
        task_args={"candidates": str(candidates), **arguments},
        log_dir=str(log_dir),
        **options,
    )


def logs_in(folder: Path) -> list[EvalLog]:
    """All logs of a folder, the oldest first."""
    logs = [read_eval_log(info) for info in list_eval_logs(str(folder))]
    return sorted(logs, key=lambda log: log.eval.created)


def ballots_of(log: EvalLog) -> dict[str, ItemBallots]:
    """The ballots of every item, in the order in which the items were to be judged."""
    # Inspect leaves the store empty of a sample that it put together from events after a kill, and
    # those hold long texts as attachments.
    samples = [
        one if one.store else resolve_sample_attachments(one, "full") for one in log.samples or []
    ]
    stores = {
        str(sample.id): sample.store or dict(store_from_events(sample.events).items())
        for sample in samples
    }
    found = {name: restore_ballots(store[STORE_KEY]) for name, store in stores.items()}
    return {str(name): found[str(name)] for name in log.eval.dataset.sample_ids or []}


def metrics_of(log: EvalLog) -> dict[str, dict[str, float]]:
    """The metrics of every score."""
    assert log.results is not None
    return {
        score.name: {name: metric.value for name, metric in score.metrics.items()}
        for score in log.results.scores
    }


def without_receipt(item: ItemBallots) -> dict[str, Any]:
    """An item's ballots but for what was cached."""
    return item.model_dump(exclude={"calls": {"__all__": {"cached"}}})


def boards_by_protocol(*folders: Path) -> dict[str, Leaderboard]:
    """The only leaderboard of every protocol."""
    boards = leaderboards(folders, how=Resampling(draws=100))
    found = {board.protocol: board for board in boards}
    assert len(found) == len(boards)
    return found


def real_calls(file: str | os.PathLike[str]) -> list[str]:
    """What the planted judge noted for every call that really happened."""
    return Path(file).read_text().split() if Path(file).exists() else []
