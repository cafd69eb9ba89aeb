"""Star boards of planted logs: what is joined, what is scored, what may be told apart."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import EvalSample

from tests.rankers.test_relative import paper
from tests.ranking_logs.builders import all_pairs, call, sample, starred, write_log
from tiebreak.analysis.constant_answers import constant_answers
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.leaderboard import board_of
from tiebreak.analysis.stars import StarBoard, StarReport, star_report, star_report_of
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots, PointScore

HOW = Resampling(draws=200)
Stars = Mapping[str, int | None]


def write(
    path: Path,
    items: Sequence[ItemBallots | EvalSample],
    *,
    day: int = 1,
    task: str = "",
    **more: Any,
) -> Path:
    ids = {"eval_id": path.stem, "task_id": task or path.stem}
    return write_log(path, items, created=f"2026-01-{day:02}T00:00:00+00:00", **ids | more)


def drawn(n: int, models: str = "abc", seed: int = 0, first: int = 0) -> list[Stars]:
    rng = np.random.default_rng((seed, first))
    shares = [(0.05, 0.05, 0.1, 0.8), (0.1, 0.1, 0.2, 0.6), (0.3, 0.3, 0.2, 0.2)]
    return [
        {m: int(rng.choice(4, p=shares[k % 3])) for k, m in enumerate(models)} for _ in range(n)
    ]


def items_of(
    stars: Sequence[Stars], first: int = 0, *, own: str | None = None, **fields: Any
) -> list[ItemBallots]:
    """An item each, by two subjects; of one model's answers alone with `own`."""
    return [
        starred(
            f"q{number}",
            {m: s for m, s in one.items() if own in (None, m)},
            subject=("law", "medicine")[number % 2],
            cluster=f"r{number}",
            **fields,
        )
        for number, one in enumerate(stars, start=first)
    ]


def only(report: StarReport) -> StarBoard:
    [board] = report.boards
    return board


def test_absolute_and_subject_scores(tmp_path: Path) -> None:
    stars: list[Stars] = [{"a": 3, "b": 2}, {"a": 2, "b": 0}, {"a": 3, "b": None}, {"a": 1, "b": 1}]
    board = only(star_report(write(tmp_path / "s.eval", items_of(stars)), how=HOW))
    a, b = board.rows
    assert [(row.model, row.rank, row.n_items, row.n_unscored) for row in board.rows] == [
        *(("a", 1, 4, 0), ("b", 2, 4, 1)),
    ]
    assert a.absolute == a.value == pytest.approx(100 * 9 / 12)
    assert b.absolute == pytest.approx(100 * 3 / 9)
    assert b.relative.value == pytest.approx(100 * (3 / 9) / (9 / 12))
    assert (a.mean_stars, b.mean_stars) == (2.25, 1.0)
    assert a.shares == (0, 0.25, 0.25, 0.5)
    assert b.shares == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))
    assert board.subjects == ("law", "medicine")
    assert [one.value for one in (*a.subjects, *b.subjects)] == pytest.approx(
        [10.0, 5.0, 10 * 2 / 3, 10 / 6]
    )
    assert (board.design, board.anchors, board.n_items) == ("paired", 4, 4)


def test_one_model_to_a_log_gives_the_board_of_all_in_one(tmp_path: Path) -> None:
    stars = drawn(40)
    whole = write(tmp_path / "whole" / "s.eval", items_of(stars))
    for model in "abc":
        write(tmp_path / "each" / f"{model}.eval", items_of(stars, own=model))
    one, three = (only(star_report(p, how=HOW)) for p in (whole, tmp_path / "each"))
    assert (three.design, len(three.logs)) == ("paired", 3)
    assert (three.rows, three.pairs, three.verdict) == (one.rows, one.pairs, one.verdict)


@pytest.mark.parametrize("shared", [True, False])
def test_the_leaderboard_of_a_log_says_the_same(tmp_path: Path, shared: bool) -> None:
    """Also where each model answered items of its own (-T mode=union)."""
    each = (items_of(drawn(60, first=20 * k), 100 * k, own=model) for k, model in enumerate("abc"))
    items = items_of(drawn(60)) if shared else [*chain.from_iterable(each)]
    [log] = read_ranking_logs(write(tmp_path / "s.eval", items))
    board, ranked = only(star_report([log.path], how=HOW)), board_of(log, how=HOW)
    assert [row.model for row in ranked.rows] == [row.model for row in board.rows]
    assert [100 * row.borda for row in ranked.rows] == pytest.approx([r.value for r in board.rows])
    assert [pair.p_adjusted for pair in ranked.pairs] == pytest.approx(
        [pair.p_adjusted for pair in board.pairs]
    )
    assert ranked.verdict.sentence == board.verdict.sentence
    assert ranked.verdict.tiers == board.verdict.tiers


def linked_logs(folder: Path, anchors: int, fresh: int) -> None:
    for number, model in enumerate("abc"):
        own = drawn(anchors + fresh, first=10 * (number + 1))
        items = items_of(drawn(anchors), own=model)
        items += items_of(own[anchors:], 1000 * (number + 1), own=model)
        write(folder / f"{model}.eval", items)


def test_unlinked_logs(tmp_path: Path) -> None:
    linked_logs(tmp_path, 0, 40)
    board = only(star_report(tmp_path, how=HOW))
    assert (board.design, board.anchors) == ("unlinked", 0)
    assert math.isnan(board.correlation)
    assert all(row.value == row.absolute for row in board.rows)
    errors = {row.model: row.error for row in board.rows}
    one = board.pairs[0]
    assert one.error == pytest.approx(math.hypot(errors[one.above], errors[one.below]))


def test_an_answer_judged_twice_counts_once_and_the_newest_verdict(tmp_path: Path) -> None:
    first: list[Stars] = [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
    second: list[Stars] = [{"a": 3, "b": None}, {"a": 3, "b": 2}]
    write(tmp_path / "old.eval", items_of(first), day=1)
    write(tmp_path / "new.eval", items_of(second), day=2)
    board = only(star_report(tmp_path, how=HOW))
    assert {row.model: row.mean_stars for row in board.rows} == {"a": 3, "b": 1}
    assert {row.n_items for row in board.rows} == {2}
    assert any("4 answers judged before" in note for note in map(str, board.notes))


def test_siblings_are_one_piece_of_evidence(tmp_path: Path) -> None:
    stars = drawn(30)
    copies = [
        one.model_copy(update={"item_id": f"{one.item_id}-{k}"})
        for k in range(3)
        for one in items_of(stars)
    ]
    alone = only(star_report(write(tmp_path / "1.eval", items_of(stars)), how=HOW))
    thrice = only(star_report(write(tmp_path / "3.eval", copies), how=HOW))
    assert thrice.n_items == 90
    assert [row.value for row in thrice.rows] == pytest.approx([row.value for row in alone.rows])
    assert [row.error for row in thrice.rows] == pytest.approx([row.error for row in alone.rows])
    assert [p.p for p in thrice.pairs] == pytest.approx([p.p for p in alone.pairs])


def test_a_reference(tmp_path: Path) -> None:
    write(tmp_path / "s.eval", items_of(drawn(50)))
    board = only(star_report(tmp_path, reference="b", how=HOW))
    rows = {row.model: row for row in board.rows}
    assert (board.reference, board.chosen) == ("b", True)
    assert rows["a"].relative.value == pytest.approx(100 * rows["a"].value / rows["b"].value)
    assert rows["b"].relative.lower == rows["b"].relative.upper == 100
    with pytest.raises(AnalysisError, match="no answer of 'z' was judged by stars; there are: a"):
        star_report(tmp_path, reference="z", how=HOW)
    pairs = write_log(tmp_path / "pairs" / "pairs.eval", [all_pairs("q1", "abc")])
    with pytest.raises(AnalysisError, match="tiebreak/stars"):
        star_report(pairs, how=HOW)
    assert star_report_of(read_ranking_logs(pairs), how=HOW) is None


def test_styles_of_prompting_are_paired_by_question(tmp_path: Path) -> None:
    stars = drawn(60)
    worse = [{m: max(0, (s or 0) - 1) for m, s in one.items()} for one in stars]
    asked: dict[str, list[Any]] = {"": stars, "_few_shot": stars, "_step_by_step": worse}
    for name, rows in asked.items():
        write(tmp_path / f"x{name}.eval", items_of(rows, benchmark=f"fair{name}"))
    report = star_report(tmp_path, how=HOW)
    benchmarks = [board.benchmark for board in report.boards]
    assert benchmarks == ["fair", "fair_few_shot", "fair_step_by_step"]
    first, zero = report.styles[0], report.boards[0].rows[0]
    assert first.mean.value == pytest.approx(np.mean(first.scores))
    same, other = first.differences
    assert same.value == 0
    assert same.upper < 4 < 0.5 * (zero.upper - zero.lower)
    assert other.value == pytest.approx(first.scores[2] - first.scores[0])
    assert other.upper < 0
    # Asked thrice is not three questions.
    mean_error = (first.mean.upper - first.mean.lower) / (zero.upper - zero.lower)
    assert mean_error == pytest.approx(1, abs=0.25)


def test_a_benchmark_without_a_common_model_is_not_beside_the_other(tmp_path: Path) -> None:
    for models in ("ab", "cd"):
        calls = [call("score", model=f"judge-of-{models}")]
        write(tmp_path / "two" / f"{models}.eval", items_of(drawn(5, models), benchmark=models))
        write(tmp_path / "same" / f"{models}.eval", items_of(drawn(5, models), calls=calls))
    assert star_report(tmp_path / "two", how=HOW).styles == ()
    # But different judges of one benchmark are warned of.
    board = only(star_report(tmp_path / "same", how=HOW))
    assert board.judges == ("judge-of-ab", "judge-of-cd")
    assert any("different judges" in warning for warning in map(str, board.warnings))


def test_identical_answers_have_the_same_stars_and_juries_their_mean(tmp_path: Path) -> None:
    one = starred("q", {"a": 2}, groups=(("a", "b"),), native={"a": 1.0, "b": 1.0})
    board = only(star_report(write(tmp_path / "s.eval", [one]), how=HOW))
    assert [row.mean_stars for row in board.rows] == [2, 2]
    assert math.isnan(board.rows[0].lower)
    jury = one.model_copy(update={"scores": (PointScore(candidate="a", score=0.5),)})
    row = only(star_report(write(tmp_path / "s.eval", [jury]), how=HOW)).rows[0]
    assert (row.mean_stars, sum(row.shares)) == (1.5, 1)


def test_a_model_whose_answers_are_all_unscored(tmp_path: Path) -> None:
    stars = [{**one, "b": None} for one in drawn(12, "abc")]
    board = only(star_report(write(tmp_path / "s.eval", items_of(stars)), how=HOW))
    last = board.rows[-1]
    assert (last.model, last.rank, last.n_unscored) == ("b", None, 12)
    assert np.isnan([last.value, last.relative.value]).all()
    assert [pair.above + pair.below for pair in board.pairs] == ["ac"]
    assert any("have no stars" in warning for warning in map(str, board.warnings))


@pytest.mark.slow
def test_table_1_of_the_paper() -> None:
    """Boards of 100 questions a subject, planted so that each subject has the printed score."""
    rows = paper()[:17]
    subjects = [key for key in rows[0] if key not in ("model", "R", "S")]
    items = []
    for subject in subjects:
        totals = {row["model"]: round(30 * float(row[subject])) for row in rows}
        for number in range(100):
            stars = {model: min(3, max(0, total - 3 * number)) for model, total in totals.items()}
            items.append(starred(f"{subject}-{number}", stars, subject=subject))
    report = star_report_of([log_of(items)], how=HOW)
    assert report is not None
    board = only(report)
    assert board.subjects == tuple(sorted(subjects))
    found = {row.model: row for row in board.rows}
    for row in rows:
        own = found[row["model"]]
        assert own.absolute == pytest.approx(float(row["S"]), abs=0.021)
        assert own.relative.value == pytest.approx(float(row["R"]), abs=0.03)
        printed = [float(row[subject]) for subject in board.subjects]
        assert [round(one.value, 2) for one in own.subjects] == printed
    assert board.rows[0].model == "Doubao-1.5-Thinking-Pro"


def log_of(items: Sequence[ItemBallots]) -> RankingLog:
    from benchmarks.claims.worlds import ranking_log

    return replace(ranking_log(items), protocol="stars", benchmark="gsm8k")


def test_constant_answers(tmp_path: Path) -> None:
    """Three of four variants are false: "false" is right in 75%, 50 of 100 points without a why."""
    keys = ["true", *["False"] * 3, "A", "b", "B", "the mitochondrion"]
    samples = [
        sample(one).model_copy(update={"target": key})
        for one, key in zip(items_of(drawn(8)), keys, strict=True)
    ]
    board = only(star_report(write(tmp_path / "s.eval", samples), how=HOW))
    assert [(one.answer, one.n_right, one.n) for one in board.constants.best] == [
        ("false", 3, 4),
        ("B", 2, 3),
    ]
    assert board.constants.share == 5 / 8
    assert board.constant_score == pytest.approx(100 * 2 / 3 * 5 / 8)


def test_items_cut_short_hide_none_that_follow(tmp_path: Path) -> None:
    items = items_of([{"a": 3, "b": 1}, {"a": 2, "b": 2}, {"a": 3, "b": 0}])
    items[0] = items[0].model_copy(update={"complete": False})
    board = only(star_report(write(tmp_path / "s.eval", [sample(None, "0"), *items]), how=HOW))
    assert (board.n_items, [row.model for row in board.rows]) == (2, ["a", "b"])
    assert [row.absolute for row in board.rows] == pytest.approx([100 * 5 / 6, 100 * 2 / 6])


# --- Constant answers against counting by hand.


Keys = list[tuple[str, str]]

KEYS = st.sampled_from(
    [
        *[("true_false", key) for key in ("true", "false")],
        *[("multiple_choice", key) for key in "ABCDE"],
        ("term", "x"),
    ]
)


@given(st.lists(KEYS, max_size=30))
def test_no_constant_answer_is_better(keys: Keys) -> None:
    scores = constant_answers(Counter(keys))
    if not keys:
        assert math.isnan(scores.share)
        return
    by_hand = max(
        sum(
            key == (statement if kind == "true_false" else letter)
            for kind, key in keys
            if kind != "term"
        )
        for statement, letter in product(["true", "false"], "ABCDE")
    )
    assert scores.share == pytest.approx(by_hand / len(keys))
