"""Boards of files of matches: what they say, of what they rest, and every form of one file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tables.builders import write
from tests.tables.test_matches import written
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.votes import VoteBoard, vote_board

Rows = list[dict[str, Any]]


def votes(n_items: int = 60, *, per_item: int = 4, seed: int = 0, bias: float = 0.0) -> Rows:
    """Votes of two raters on planted models: ash before birch before cedar; who is first counts."""
    rng, models = np.random.default_rng(seed), ("ash", "birch", "cedar")
    rows: Rows = []
    for item in range(n_items):
        quality = dict(zip(models, (1.0, 0.0, -1.0) + 0.4 * rng.standard_normal(3), strict=True))
        for number in range(per_item):
            if number % 2 == 0:
                a, b = rng.permutation(models)[:2].tolist()
            gap = quality[a] - quality[b] + bias + rng.logistic()
            winner = "tie" if abs(gap) < 0.3 else "model_a" if gap > 0 else "model_b"
            names = {"model_a": a, "model_b": b, "winner": winner}
            rows.append({"item_id": item, **names, "judge": f"r{number % 2}", "first": "a"})
    return rows


def without(rows: Rows, *names: str) -> Rows:
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


def board_of(folder: Path, rows: Sequence[Mapping[str, Any]], **options: Any) -> VoteBoard:
    return vote_board(written(folder, "m.csv", rows), **options)


def test_what_a_board_says(tmp_path: Path) -> None:
    board = board_of(tmp_path, votes(), seed=3)
    assert [row.model for row in board.rows] == ["ash", "birch", "cedar"]
    assert [(row.rank, row.rank_lower, row.rank_upper) for row in board.rows] == [
        (place, place, place) for place in (1, 2, 3)
    ]
    assert board.tiers == (("ash",), ("birch",), ("cedar",))
    assert str(board.sentence).startswith("ash is first (p ")
    assert "All 3 models are told apart on these 60 items." in str(board.sentence)
    assert (board.n_matches, board.n_items, board.n_raters, board.by) == (240, 60, 2, "item")
    assert sum(row.wins for row in board.rows) == sum(row.losses for row in board.rows)
    assert sum(row.wins + row.losses + row.ties for row in board.rows) == 2 * 240
    assert board.seed == 3
    assert all(0 < row.score.lower < row.score.value < row.score.upper < 1 for row in board.rows)


def test_without_items_votes_count_one_by_one(tmp_path: Path) -> None:
    board = board_of(tmp_path, without(votes(), "item_id", "judge", "first"))
    assert (board.by, board.n_items, board.n_raters) == ("vote", None, None)
    assert (board.position, board.agreement) == (None, None)
    assert "on these 240 votes" in str(board.sentence)
    # Items of one vote each are votes.
    board = board_of(tmp_path, votes(60, per_item=1))
    assert (board.by, board.n_items) == ("vote", 60)
    few = board_of(tmp_path, without(votes(1, per_item=5), "item_id"))
    assert "Too few votes: 5 cannot tell any two models apart" in str(few.sentence)


def test_position_and_agreement(tmp_path: Path) -> None:
    fair, biased = (board_of(tmp_path, votes(300, bias=bias)) for bias in (0.0, 1.0))
    assert fair.position
    assert fair.agreement
    assert biased.position
    assert fair.position.lower < 0.5 < fair.position.upper
    assert biased.position.lower > 0.55
    assert 0 < fair.agreement.lower < fair.agreement.value < fair.agreement.upper < 1


def test_models_that_nothing_joins_have_no_rank(tmp_path: Path) -> None:
    apart = [{"item_id": "x", "model_a": "elm", "model_b": "fir", "winner": "a"}]
    once = [{"item_id": "y", "model_a": "oak", "model_b": "ash", "winner": "b"}]
    board = board_of(tmp_path, without(votes(), "judge", "first") + apart + once)
    assert (board.unjoined, board.n_matches) == (("elm", "fir"), 241)
    rows = {row.model: row for row in board.rows}
    assert rows.keys() == {"ash", "birch", "cedar", "oak"}
    assert (rows["oak"].rank_lower, rows["oak"].rank_upper) == (1, 4)
    assert np.isnan(rows["oak"].score.lower)
    unjoined, alone = map(str, board.warnings)
    assert "joins elm, fir to the other models" in unjoined
    assert "No interval for oak" in alone


def test_what_are_no_models_are_refused(tmp_path: Path) -> None:
    rows = [{"model_a": f"a{k}", "model_b": f"b{k}", "winner": "a"} for k in range(501)]
    with pytest.raises(AnalysisError, match=r"names 1,002 models, more than the 1,000"):
        board_of(tmp_path, rows)


def test_both_orders_of_arena_hard(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = []
    for model, rate in (("strong", 0.7), ("weak", 0.25)):
        for item in range(100):
            first = "B>A" if rng.random() < rate else "A>>B"
            second = "A>B" if rng.random() < rate else "B>A"
            games = [{"score": score} for score in (first, second)]
            row = {"uid": f"q{item}", "model": model, "judge": "gpt-4.1", "baseline": "o3-mini"}
            rows.append(row | {"games": games})
    board = vote_board(write(tmp_path / "judgments.jsonl", "\n".join(map(json.dumps, rows))))
    assert [row.model for row in board.rows] == ["strong", "o3-mini", "weak"]
    assert (board.n_matches, board.n_items, board.by) == (400, 100, "item")
    assert board.position is not None
    # A row a model and item: its judge is one rater, who votes on a pair once.
    assert board.agreement is None
