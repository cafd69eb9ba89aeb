"""Leaderboards and star boards of one reading of some logs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.ranking_logs.builders import all_pairs, call, item, match, sample, starred, write_log
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.judge.canaries import canary_reports
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.ranking import Ranking, rank_logs
from tiebreak.candidates import CANARIES_KEY, PROTOCOL_KEY
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import RankingLogError
from tiebreak.report.sheets import ranking
from tiebreak.scorers.attacks import ORDINARY, PLANTED, Canary
from tiebreak.scorers.ballots import ItemBallots

HOW = Resampling(draws=10)


def canary(number: int, margin: float, control: bool, benchmark: str = "gsm8k") -> ItemBallots:
    one = item(
        f"q{number}", [match(PLANTED, ORDINARY, margin)], groups=[[PLANTED], [ORDINARY]],
        benchmark=benchmark, calls=[call(model=f"j/{benchmark}", cost=0.5)],
    )  # fmt: skip
    planted = Canary(number=number, attack="x", kind="role", control=control)
    return one.model_copy(update={"placed_by": "win_rate", "canary": planted})


def write(path: Path, number: int, *items: ItemBallots) -> Path:
    samples = [sample(one, f"s{k}" if one.canary else "") for k, one in enumerate(items)]
    planted = [one.id for one, own in zip(samples, items, strict=True) if own.canary]
    metadata = {PROTOCOL_KEY: "full_pairwise", CANARIES_KEY: planted}
    ids: dict[str, Any] = {"eval_id": f"E{number}", "task_id": f"T{number}"}
    when = f"2026-01-{number:02}T00:00:00+00:00"
    return write_log(path / f"{number}.eval", samples, created=when, metadata=metadata, **ids)


PAIRS = (canary(1, 0.5, False), canary(1, -0.5, True))


def pairs(n: int = 4, order: str = "abc") -> list[ItemBallots]:
    return [all_pairs(f"q{k}", order) for k in range(n)]


def test_what_nobody_asks_for_is_not_there(tmp_path: Path) -> None:
    log = write(tmp_path, 1, *pairs())
    found = rank_logs(log, how=HOW)
    [board] = found.boards
    assert (found.stars, found.unjoined, board.control) == (None, found.boards, None)
    assert [view.closure for view in board.views] == [False, False]
    [closed] = rank_logs(log, how=HOW, closure=True, control="length", rule="least_squares").boards
    assert [view.closure for view in closed.views] == [True, False]
    assert closed.control is not None
    assert (board.placed_by, closed.placed_by) == ("win_rate", "least_squares")
    with pytest.raises(AnalysisError, match="No item here has a category"):
        rank_logs(log, how=HOW, by="category")


def test_star_boards_stand_for_their_logs(tmp_path: Path) -> None:
    write(tmp_path, 1, *pairs())
    write(tmp_path, 2, *(starred(f"q{k}", {"a": 3, "b": k}) for k in range(3)))
    found = rank_logs(tmp_path, how=HOW, reference="b")
    assert [board.placed_by for board in found.boards] == ["win_rate", "stars"]
    assert [board.placed_by for board in found.unjoined] == ["win_rate"]
    assert found.stars is not None
    assert found.stars.boards[0].reference == "b"
    assert Ranking(found.boards, None).unjoined == found.boards
    with pytest.raises(AnalysisError, match="no log here was judged by stars"):
        rank_logs(tmp_path / "1.eval", how=HOW, reference="b")


def test_logs_of_planted_answers_only(tmp_path: Path) -> None:
    first, _ = (write(tmp_path, number, *PAIRS) for number in (1, 2))
    with pytest.raises(RankingLogError, match=f"{first} holds planted .*: tiebreak canary {first}"):
        rank_logs(tmp_path, how=HOW)
    write(tmp_path, 3, *pairs())
    assert [board.log for board in rank_logs(tmp_path, how=HOW).boards] == [f"{tmp_path}/3.eval"]


def test_canaries_log_by_log(tmp_path: Path) -> None:
    write(tmp_path, 1, *pairs())
    with pytest.raises(AnalysisError, match="No canary was judged in these logs"):
        canary_reports(tmp_path)
    write(tmp_path, 2, *PAIRS, canary(2, 0.5, False, "mmlu"), canary(2, 0.5, True, "mmlu"))
    write(tmp_path, 3, *pairs())
    cut = canary(1, 0.5, False).model_copy(update={"complete": False})
    write(tmp_path, 4, cut, *pairs(), *(one.model_copy(update={"item_id": "q7"}) for one in PAIRS))
    two, four = canary_reports(tmp_path, how=Resampling(level=0.8, draws=5))
    assert [one.log for one in (two, four)] == [f"{tmp_path}/{n}.eval" for n in (2, 4)]
    assert (two.judges, two.benchmarks) == (("j/gsm8k", "j/mmlu"), ("gsm8k", "mmlu"))
    assert (two.canaries.n, two.canaries.n_persuaded, two.level) == (2, 1, 0.8)
    assert (two.receipt.n_calls, two.receipt.cost) == (4, 2.0)
    assert str(two) == "j/gsm8k, j/mmlu: persuaded by 1 of 2 canaries"
    # A canary that was cut short is none, and those after it are.
    assert (four.canaries.n, four.canaries.n_unscored) == (1, 0)
    assert len(leaderboards(tmp_path / "4.eval", how=HOW)) == 1


def test_boards_by_category_hold_together(tmp_path: Path) -> None:
    """Those with enough items have the board of their items alone, at a level for all of them."""

    def of(subject: str, n: int, order: str) -> list[ItemBallots]:
        made = [all_pairs(f"{subject}{k}", order) for k in range(n)]
        return [one.model_copy(update={"subject": subject}) for one in made]

    mail, code = of("mail", 12, "abc"), of("code", 14, "cba")
    log = write(tmp_path, 1, *mail, *code, *of("odd", 9, "bac"), all_pairs("none", "abc"))
    found = rank_logs(log, how=HOW, by="category")
    [whole], [part] = found.boards, found.categories
    # As texts: from Python 3.13 on dataclasses with NaN in them are not equal.
    [shown, again] = (repr(asdict(each)) for each in (whole, rank_logs(log, how=HOW).boards[0]))
    assert repr(asdict(part.whole)) == shown == again
    assert list(part.boards) == ["code", "mail"]
    assert part.small == {"odd": 9}
    alone = rank_logs(write(tmp_path, 2, *mail), how=Resampling(0.975, 10)).boards[0]
    board = part.boards["mail"]
    assert (board.benchmark, board.level, board.n_items) == (f"{whole.benchmark} · mail", 0.975, 12)
    assert repr((board.rows, board.pairs)) == repr((alone.rows, alone.pairs))
    assert [row.model for row in part.boards["code"].rows] == ["c", "b", "a"]
    [*_, sheet] = ranking.sheets_of(found)
    assert sheet.title == f"{whole.benchmark} · full_pairwise · by category"
    table = sheet.sections[0].table
    assert table is not None
    assert [c.text for c in table.rows[0]][1:] == ["0.625", "0.500", "0.500"]
    assert "held to 0.975" in sheet.notes[0]
    assert sheet.notes[1].endswith(": odd (9)")
    parts = [row["benchmark"] for row in ranking.rows_of(found)]
    assert parts == [name for name in ("gsm8k", "gsm8k · code", "gsm8k · mail") for _ in "abc"]
    data = ranking.data_of(found)["categories"]
    assert [one["small"] for one in data] == [{"odd": 9}]
    assert [row["model"] for row in data[0]["boards"]["mail"]["rows"]] == ["a", "b", "c"]
