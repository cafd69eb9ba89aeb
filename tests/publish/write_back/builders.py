"""Models' logs, and a ranking log of the answers in them, planted: nobody is asked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from tests.candidates.builders import make_rows, write_inspect_log
from tests.ranking_logs.builders import bracket, sample, write_log
from tiebreak.candidates import CONTEST_KEY, PROTOCOL_KEY, RUN_KEY, load_candidates
from tiebreak.inspect_tasks.contests import contest_samples
from tiebreak.scorers.ballots import ItemBallots

MODELS = ("a", "b", "c")

# Best first. Mean ranks: a (1 + 2)/2, b (2 + 1)/2, c 3; the margins put a before b.
ORDERS = {"q0": "abc", "q1": "bac"}


def answer_of(model: str) -> str:
    return f"{{i}} says {model}."


def write_logs(
    folder: Path, *, n_items: int = 2, models: Sequence[str] = MODELS, suffix: str = ".eval"
) -> Path:
    """One log per model; all answers differ, and all are right."""
    for model in models:
        rows = make_rows(n_items, answer=answer_of(model))
        write_inspect_log(folder / f"{model}{suffix}", model, rows)
    return folder


def brackets(orders: Mapping[str, str] = ORDERS, **fields: Any) -> list[ItemBallots]:
    """A bracket of three for each item: the first waits, the second beats the third and loses."""
    return [bracket(item_id, *order, **fields) for item_id, order in orders.items()]


def write_ranking(
    path: Path, candidates: Path, ballots: Sequence[ItemBallots], **fields: Any
) -> Path:
    """A ranking log that judged the answers in a folder; ballots get the hashes of their items.

    Another `eval_id` is another run.
    """
    eval_id = fields.get("eval_id", "E1")
    metadata = {
        PROTOCOL_KEY: ballots[0].protocol if ballots else "seal",
        RUN_KEY: {"E1": "f00d"}.get(eval_id, eval_id),
    }
    return write_log(
        path, judged(candidates, ballots), **{"metadata": metadata, "eval_id": eval_id} | fields
    )


def judged(candidates: Path, ballots: Sequence[ItemBallots]) -> list[EvalSample]:
    """Samples as judging tasks leave them: the contest in the metadata, ballots in the store."""
    pool = load_candidates(candidates, mode="intersect")
    contests = {
        (contest["benchmark"], contest["item_id"]): one
        for one in contest_samples(pool)
        for contest in [(one.metadata or {})[CONTEST_KEY]]
    }
    samples = []
    for one in ballots:
        metadata = contests[one.benchmark, one.item_id].metadata or {}
        own = one.model_copy(update={"input_hash": metadata[CONTEST_KEY]["input_hash"]})
        samples.append(sample(own).model_copy(update={"metadata": metadata}))
    return samples


def scores(path: Path, name: str = "tiebreak_seal") -> dict[str, dict[str, Any]]:
    """Value of a score by sample; samples without it are left out."""
    held = {str(one.id): one.scores or {} for one in read_eval_log(str(path)).samples or []}
    return {item_id: own[name].value for item_id, own in held.items() if name in own}  # type: ignore[misc]


def metrics(log: EvalLog | Path, name: str = "tiebreak_seal") -> dict[str, float]:
    """Metrics of a score of a log."""
    header = read_eval_log(str(log), header_only=True) if isinstance(log, Path) else log
    assert header.results is not None
    [own] = [score for score in header.results.scores if score.scorer == name]
    return {key: metric.value for key, metric in own.metrics.items()}
