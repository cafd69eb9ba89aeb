"""What the tests of peer reviews share: answers of known quality, reviewers with known views."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import Model

from tests.analysis.peers.builders import read_panels
from tests.inspect_tasks.runs import ballots_of, judge_in_process, without_receipt, write_pool
from tiebreak.analysis.peers.panel import Panel

N, ITEMS = 4, 6
MODELS = [f"m{number}" for number in range(N)]
# Reviewers that differ from item to item, but not from call to call.
NOISY = [f"planted/noise=0.3+seed={number}" for number in range(N)]


def quality(model: int, item: int) -> float:
    return (model * 7 + item * 3) % 5 / 5 + model / 4


def answer(model: int, item: int) -> str:
    """A later model is better on most of the items."""
    return f"It is {item}. quality={quality(model, item):.2f} author={model}"


def write_answers(folder: Path) -> Path:
    """Logs of m0 to m3, all answers different."""
    return write_pool(folder / "logs", N, ITEMS, answer)


def review(
    candidates: Path,
    log_dir: Path,
    peers: Sequence[str | Model] = NOISY,
    *,
    eval_args: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> EvalLog:
    """`inspect eval tiebreak/peer_review` in this process; unless told otherwise, by m0, m1, …"""
    options = {"model_roles": {"peers": list(peers)}, **(eval_args or {})}
    arguments = {"reviewers": MODELS, **arguments}
    [log] = judge_in_process("peer_review", candidates, log_dir, eval_args=options, **arguments)
    return log


def only_panel(folder: Path) -> Panel:
    [panel] = read_panels([folder])
    return panel


def said(log: EvalLog) -> dict[str, dict[str, Any]]:
    return {name: without_receipt(item) for name, item in ballots_of(log).items()}
