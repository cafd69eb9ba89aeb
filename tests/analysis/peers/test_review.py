"""The report of a peer review: what it counts, warns of, notes and refuses."""

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.peers.builders import by_scores, identical, reviews
from tests.analysis.peers.test_sparse import opinions
from tests.ranking_logs.builders import write_log
from tests.report.showing import printed
from tiebreak.analysis.alignment import align
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.peers.panel import NoPeerReviewError
from tiebreak.analysis.peers.review import PeerReport, PeerReview, peer_report
from tiebreak.rankers import RankingError, Resampling
from tiebreak.rankers.errors import UnprovenOrderError
from tiebreak.reason import Reason
from tiebreak.report.sheets.alignment import data_of, sheets_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.tables.human import HumanRanking


def report_of(folder: Path, *items: ItemBallots, **options: object) -> PeerReport:
    write_log(folder / "peers.eval", items)
    return peer_report([folder], **{"how": Resampling(draws=100)} | options)  # type: ignore[arg-type]


def review_of(folder: Path, *items: ItemBallots, **options: object) -> PeerReview:
    [only] = report_of(folder, *items, **options).reviews
    return only


def fair(n: int, orders: str = "abc", **fields: object) -> list[ItemBallots]:
    """Items in which all agree."""
    return [reviews(f"q{k}", dict.fromkeys(orders, orders), **fields) for k in range(n)]  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_parts_are_about_the_same_ballots(tmp_path: Path) -> None:
    scores = opinions(30, 4, 0.5, seed=1)
    review = review_of(tmp_path, *by_scores(scores), methods=("borda", "copeland"))
    ranks = {row.model: row.mean_rank for row in review.ranking.rows}
    # SIA is the macro ranking by the first method.
    assert {row.model: row.sia for row in review.views} == ranks
    consensuses = review.ranking.by_method.consensuses
    assert list(consensuses) == ["borda", "copeland"]
    of_borda = [ranks[model] for model in review.panel.models]
    assert consensuses["borda"].scores.tolist() == pytest.approx(of_borda)
    assert (review.n_rows, review.n_reviewed, len(review.worth.reviewers)) == (30, 30, 4)
    # One call each, of 100 and 10 tokens and a cent.
    receipt = review.receipt
    assert (receipt.n_calls, receipt.input_tokens) == (120, 12_000)
    assert [use.reviewer for use in receipt.usage] == ["a", "b", "c", "d"]
    assert receipt.cost == pytest.approx(1.2)
    assert review.warnings == ()
    assert review.notes == (Reason("other_aggregator", aggregator="kemeny_young", method="borda"),)


@pytest.mark.slow
def test_who_is_no_candidate_and_who_is_no_reviewer(tmp_path: Path) -> None:
    ballots = {"a": "abc", "X1": "abc", "X2": "abc"}
    review = review_of(tmp_path, *(reviews(f"q{k}", ballots) for k in range(10)))
    assert review.notes == (
        Reason("outside_reviewers", reviewers=["X1", "X2"]),
        Reason("not_reviewers", models=["b", "c"]),
    )


@pytest.mark.parametrize(
    ("items", "warning"),
    [
        (fair(1), Reason("one_item_no_verdicts")),
        (fair(9), Reason("few_items_tell_apart", n=9)),
        (fair(10), None),
        ([reviews("t", dict.fromkeys("abc", "a=b=c"))] * 2, Reason("no_item_tells_apart")),
    ],
    ids=["one", "nine", "ten", "none"],
)
def test_few_items(tmp_path: Path, items: list[ItemBallots], warning: Reason | None) -> None:
    items = [one.model_copy(update={"item_id": f"q{k}"}) for k, one in enumerate(items)]
    found = review_of(tmp_path, *items, how=Resampling(draws=5), methods=("borda",))
    assert found.warnings == ((warning,) if warning else ())


@pytest.mark.slow
def test_a_benchmark_in_which_nobody_was_asked_is_left_out(tmp_path: Path) -> None:
    silent = [identical("q1", "abc", benchmark="mmlu"), identical("q2", "abc", benchmark="mmlu")]
    report = report_of(tmp_path, *fair(3), *silent)
    assert [one.panel.benchmark for one in report.reviews] == ["gsm8k"]
    [note] = report.notes
    assert (note.kind, note["benchmark"]) == ("all_identical", "mmlu")
    write_log(tmp_path / "peers.eval", silent)
    with pytest.raises(NoPeerReviewError, match="mmlu is left out"):
        peer_report([tmp_path])


def test_a_panel_without_any_usable_review(tmp_path: Path) -> None:
    items = [reviews(f"q{k}", {"a": None, "b": None}, models="ab") for k in range(3)]
    review = review_of(tmp_path, *items)
    assert (review.n_reviewed, review.n_unusable) == (0, 3)
    assert {(row.rank, row.at_once) for row in review.ranking.rows} == {(None, None)}
    assert (review.ranking.kemeny, review.ranking.orders.n_items) == (None, 0)
    assert [warning.split(" ")[0] for warning in map(str, review.warnings)] == ["a", "b", "No"]


@pytest.mark.slow
def test_kendall_on_partial_ballots_has_no_ranking_but_a_report(tmp_path: Path) -> None:
    items = [reviews(f"q{k}", {"a": "bc", "b": "ac", "c": "ab"}) for k in range(12)]
    review = review_of(tmp_path, *items, methods=("kendall",))
    assert list(review.ranking.by_method.failed) == ["kendall"]
    assert np.isnan(review.ranking.rows[0].mean_rank)
    assert review.ranking.rows[0].at_once is not None


def test_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RankingError, match="no method 'plurality'"):
        report_of(tmp_path, *fair(2), methods=("plurality",))
    with pytest.raises(RankingError, match="level"):
        report_of(tmp_path, *fair(2), how=Resampling(level=2))

    def too_hard(*_: object, **__: object) -> None:
        raise UnprovenOrderError("not proven in time")

    # A first method that is too hard names another.
    monkeypatch.setattr("tiebreak.analysis.peers.review.peer_views", too_hard)
    with pytest.raises(UnprovenOrderError, match=r"dodgson is too hard .*as --method borda"):
        report_of(tmp_path, *fair(2), methods=("dodgson", "borda"))


def test_items_that_sparse_reviewers_rank_whole(tmp_path: Path) -> None:
    others = {"a": "bc", "b": "ac", "c": "ab"}
    items = [reviews("q0", others, shown=others), reviews("q1", dict.fromkeys("abc", "abc"))]
    write_log(tmp_path / "peers.eval", items, task_args={"degree": 2})
    [found] = peer_report([tmp_path], how=Resampling(draws=100)).reviews
    assert str(found.notes[-1]).endswith(
        "no view of a model on itself but in 1 item where it ranks all"
    )


def test_one_reviewer_is_no_panel(tmp_path: Path) -> None:
    """Logs of older releases, or where all others failed: board, review and alignment say so."""
    items = [reviews(f"q{k}", {"a": "abc", "b": None, "c": None}) for k in range(12)]
    alone = Reason("lone_reviewer", reviewer="a")
    log = write_log(tmp_path / "peers.eval", items)
    assert review_of(tmp_path, *items).warnings[0] == alone
    [board] = leaderboards([log], how=Resampling(draws=20))
    assert board.warnings[0] == alone
    human = HumanRanking("arena.csv", {"": {"a": 1.0, "b": 2.0, "c": 3.0}})
    found = align([log], human, methods=["borda"], how=Resampling(draws=20))
    assert found.benchmarks[0].warnings == (alone,)
    assert data_of(found)["benchmarks"][0]["warnings"] == [str(alone)]
    assert str(alone) in " ".join(printed(sheets_of(found), 80).split())
    # With another one it is a panel.
    write_log(tmp_path / "peers.eval", [*items, *fair(1)])
    assert alone not in leaderboards([log])[0].warnings
