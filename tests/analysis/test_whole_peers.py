"""Whole peer reviews and their alignment with people, figure by figure; see `test_whole_stars`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.alignment.panels import people
from tests.analysis.peers.builders import identical, reviews
from tests.analysis.whole import told
from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import sample, write_log
from tiebreak.analysis.alignment import align
from tiebreak.analysis.peers.review import PeerReport, peer_report
from tiebreak.rankers import Resampling
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(level=0.9, draws=20, seed=2)

# What a, b, c, d and X said of each question, best first; "" is no usable review.
SAID = cases(__file__, "reviews")


def said(item_id: str, orders: tuple[str, ...], **fields: Any) -> ItemBallots:
    ballots = {name: order or None for name, order in zip("abcdX", orders, strict=True)}
    return reviews(item_id, ballots, models="abcd", **fields)


def full(n: int = len(SAID)) -> list[ItemBallots]:
    native = {"a": 1.0, "b": 1.0, "c": 0.0, "d": None}
    items = [said(f"q{k}", orders) for k, orders in enumerate(SAID[:n])]
    other = items[1].model_copy(update={"native": native | {"d": 0.0}})
    return [items[0].model_copy(update={"native": native}), other, *items[2:]]


def thinned() -> list[ItemBallots]:
    """Each reviewer ranks two answers of others, as it does in the full review."""
    pairs = ("bc", "cd", "ad", "ab", "bd")
    items = []
    for number, orders in enumerate(SAID):
        kept = [
            "".join(m for m in order if m in own) for own, order in zip(pairs, orders, strict=True)
        ]
        shown = dict(zip("abcdX", pairs, strict=True))
        items.append(said(f"q{number}", tuple(kept), shown=shown))
    return items


def write(folder: Path) -> Path:
    """A full review with two epochs of an item, and a younger sparse one; of mmlu nothing."""
    epoch = sample(said("q2", ("bacd", "bacd", "abcd", "dbac", "bacd")))
    rest = [identical("same", "abcd"), said("bad", ("", "", "", "", "a"))]
    silent = identical("m1", "abcd", benchmark="mmlu")
    second = epoch.model_copy(update={"epoch": 2})
    write_log(folder / "1.eval", [*full(), *rest, silent, second])
    later: dict[str, Any] = {
        "task_id": "T2",
        "eval_id": "E2",
        "created": "2026-01-02T00:00:00+00:00",
    }
    write_log(folder / "2.eval", thinned(), task_args={"degree": 2}, **later)
    return folder


def report(folder: Path, *methods: str) -> PeerReport:
    return peer_report(write(folder), methods=methods or ("kemeny_young",), how=HOW)


def aligned(folder: Path, order: str, **options: Any) -> Any:
    return align(write(folder), people(order, gsm8k=order), how=HOW, **options)


CASES: dict[str, Callable[[Path], Any]] = {
    "peers": report,
    "peers_borda": lambda folder: report(folder, "borda", "kendall", "copeland").reviews[0],
    "align": lambda folder: aligned(folder, "abcd", methods=("borda", "average")).benchmarks[0],
    "align_mean_rank": lambda folder: aligned(
        folder, "badx", methods=("average",), scores="mean-rank"
    ).benchmarks[-1],
}


@pytest.mark.parametrize("name", CASES)
def test_every_figure(name: str, tmp_path: Path) -> None:
    check(__file__, f"{name}.txt", told(CASES[name](tmp_path), tmp_path))
