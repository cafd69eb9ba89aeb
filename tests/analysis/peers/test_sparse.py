"""Sparse peer review beside the full one: planted data, prices by hand, what is not compared."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from tests.analysis.peers.builders import LETTERS, by_scores, identical, read_panels, reviews
from tests.ranking_logs.builders import sample, write_log
from tiebreak.analysis.entries import entries_of
from tiebreak.analysis.peers.review import SparseAgreement, _compared, sparse_agreements
from tiebreak.rankers import Resampling, aggregate_items, mean_rank
from tiebreak.rankers.expander import review_graph
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(draws=300)


def compared(folder: Path, **logs: tuple[list[Any], dict[str, Any]]) -> list[SparseAgreement]:
    """What is said of some logs, given as items and task arguments, the oldest first."""
    for number, (name, (items, task_args)) in enumerate(logs.items()):
        created = f"2026-01-01T00:00:0{number}+00:00"
        ids: dict[str, Any] = {"task_id": name, "eval_id": name, "created": created}
        write_log(folder / f"{name}.eval", items, task_args=task_args, **ids)
    return sparse_agreements(read_ranking_logs([folder]), read_panels([folder]), HOW)


def opinions(n_items: int, n: int, apart: float, seed: int) -> NDArray[np.float64]:
    """What each of n models thinks of each answer; the earlier the better on average."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(-apart * np.arange(n), 1, size=(n_items, 1, n))
    return quality + rng.normal(0, 0.7, size=(n_items, n, n))


def thinned(scores: NDArray[np.float64], degree: int) -> list[ItemBallots]:
    """Each reviewer ranks `degree` answers of others, by the graph of the sparse mode."""
    n, rng = scores.shape[2], random.Random(1)
    items = []
    for number, answers in enumerate(scores):
        graph = review_graph(n, degree, range(n), rng)
        ballots = {
            LETTERS[k]: "".join(LETTERS[m] for m in sorted(chosen, key=lambda m: -own[m]))
            for k, (own, chosen) in enumerate(zip(answers, graph, strict=True))
        }
        items.append(reviews(f"q{number}", ballots, shown=ballots))
    return items


@pytest.mark.slow
def test_planted_data(tmp_path: Path) -> None:
    scores = opinions(60, 6, 0.6, seed=2)
    full, sparse = by_scores(scores), thinned(scores, 3)
    [found] = compared(tmp_path, full=(full, {}), sparse=(sparse, {"degree": 3}))
    assert (found.degree, found.n_items, found.n_models) == (3, 60, 6)
    assert found.full.endswith("full.eval")
    assert found.log.endswith("sparse.eval")
    # With so much between them the order is that of the plan, in both.
    assert found.macro.kendall.value == 1
    assert found.macro.top1.value == 1
    # The oracle: SciPy item by item.
    panels = {panel.degree: panel for panel in read_panels([tmp_path])}
    mine, theirs = (aggregate_items(panels[degree].ranks) for degree in (3, None))
    assert mean_rank(mine).argsort().tolist() == list(range(6))
    taus = [kendalltau(a, b).statistic for a, b in zip(mine, theirs, strict=True)]
    assert found.per_item.value == pytest.approx(np.mean(taus))
    assert 0.4 < found.per_item.lower < found.per_item.value < found.per_item.upper < 1


@pytest.mark.slow
def test_prices_and_items_by_hand(tmp_path: Path) -> None:
    full = [ALL.model_copy(update={"item_id": f"q{k}"}) for k in range(3)]
    # q0 and q1 in common; of q1 the sparse log has the order c b a. 2 of 3 calls per item.
    turned = {"a": "cb", "b": "ca", "c": "ba"}
    sparse = [SOME, reviews("q1", turned), reviews("q7", turned)]
    sparse = [item.model_copy(update={"calls": item.calls[:2]}) for item in sparse]
    [found] = compared(tmp_path, full=(full, {}), sparse=(sparse, {"degree": 2}))
    assert (found.n_items, found.per_item.n_items, found.per_item.value) == (2, 2, 0)
    relative = (found.price.relative_calls, found.price.relative_tokens)
    assert relative == pytest.approx((2 / 3, 2 / 3))
    # The sparse leaderboard is all level: there is no order to agree with.
    assert np.isnan(found.macro.kendall.value)


@pytest.mark.slow
def test_epochs_are_compared_one_by_one(tmp_path: Path) -> None:
    logs = {
        name: [
            sample(reviews("q0", dict.fromkeys("abc", order)), f"q0 epoch {n}")
            for n, order in enumerate(orders)
        ]
        for name, orders in {"full": ("abc", "cba"), "turned": ("abc", "abc")}.items()
    }
    [found] = compared(tmp_path, full=(logs["full"], {}), turned=(logs["turned"], {"degree": 2}))
    # τ is 1 in the first epoch and −1 in the second, of one item.
    assert (found.per_item.value, found.per_item.n_items) == (0, 1)


ALL = reviews("q0", {"a": "abc", "b": "abc", "c": "abc"})
SOME = reviews("q0", {"a": "bc", "b": "ac", "c": "ab"})


@pytest.mark.parametrize(
    ("full", "degree"),
    [
        (ALL, 3),
        (reviews("q0", {"a": "abd", "b": "abd", "d": "abd"}), None),
        (ALL.model_copy(update={"benchmark": "mmlu"}), None),
        (ALL.model_copy(update={"aggregator": "borda"}), None),
        (ALL.model_copy(update={"item_id": "q9"}), None),
    ],
    ids=["no full one", "other models", "other benchmark", "other method", "no item"],
)
def test_what_is_not_compared(tmp_path: Path, full: ItemBallots, degree: int | None) -> None:
    logs = {"full": ([full], {"degree": degree}), "sparse": ([SOME], {"degree": 2})}
    assert compared(tmp_path, **logs) == []  # type: ignore[arg-type]


@pytest.mark.slow
def test_items_without_reviews_tell_nothing(tmp_path: Path) -> None:
    same = identical("q1", "abc")
    [found] = compared(tmp_path, full=([ALL, same], {}), sparse=([SOME, same], {"degree": 2}))
    assert (found.n_items, found.per_item.n_items) == (2, 1)
    assert found.per_item.value == pytest.approx(1)


@pytest.mark.parametrize("lacking", ["sparse", "full"])
def test_a_log_that_another_attempt_replaces_is_compared_with_nothing(
    tmp_path: Path, lacking: str
) -> None:
    scores = opinions(6, 4, 1.0, seed=0)
    sparse, full = (thinned(scores, degree) for degree in (2, 3))
    compared(tmp_path, sparse=(sparse, {"degree": 2}), full=(full, {}))
    panels = {Path(panel.log).stem: panel for panel in read_panels([tmp_path])}
    entries, _ = entries_of(read_ranking_logs([tmp_path]), how=HOW)
    boards = {(one.board.log, one.board.benchmark): one for one in entries}
    known = {key: one for key, one in boards.items() if Path(key[0]).stem != lacking}
    assert len(known) == 1
    assert _compared(panels["sparse"], panels["full"], known, HOW) is None
