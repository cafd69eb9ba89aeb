"""Scores that people anchor: another package, brute force, limiting cases, properties."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.rankers.make_ppi_answers import tables
from tiebreak.rankers.anchored import FEWEST_LABELLED, Anchored, anchor
from tiebreak.rankers.linked import linked_scores

Array = NDArray[np.float64]
ANSWERS = json.loads(Path(__file__).with_name("ppi_answers.json").read_text())


def rows(table: Array, labelled: NDArray[np.bool_] | None = None) -> Array:
    """A table as `anchor` takes it: of the labelled rows alone, or of all."""
    cells = table if labelled is None else np.where(labelled[:, None], table, np.nan)
    return linked_scores(cells, link=False).table


def anchored(people: Array, judge: Array, labelled: NDArray[np.bool_]) -> Anchored:
    return anchor(
        rows(people, labelled), rows(judge, labelled), rows(judge), labelled, grades=False
    )


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: str(answer["seed"]))
def test_differences_are_those_of_ppi_python(answer: dict[str, float]) -> None:
    # Its λ is neither cross-fitted nor drawn to 0, and its errors are those of a normal sample.
    board = anchored(*tables(int(answer["seed"])))
    value = board.scores[0].value - board.scores[1].value
    gap = board.table[:, 0] - board.table[:, 1]
    assert value == pytest.approx(answer["value"], abs=0.2 * answer["error"])
    assert gap.mean() == pytest.approx(value)
    # The table's rows are for flips of signs, about 0: they hold the mean as well.
    assert gap.std() / math.sqrt(len(gap)) == pytest.approx(answer["error"], rel=0.15)


@pytest.mark.parametrize("judge", ["constant", "against", "other"])
def test_a_judge_of_no_use_leaves_people_alone(judge: str) -> None:
    people, _, labelled = tables(4)
    seen = {
        "constant": np.full_like(people, 0.3),
        "against": 1 - people,
        "other": np.random.default_rng(0).random(people.shape),
    }[judge]
    board = anchored(people / 2, seen, labelled)
    assert board.weights == pytest.approx((0, 0), abs=0.02)
    for both, alone in zip(board.scores, board.people, strict=True):
        assert (both.value, both.lower, both.upper) == pytest.approx(
            (alone.value, alone.lower, alone.upper), abs=0.005
        )


def test_where_the_judge_differs() -> None:
    people, _, labelled = tables(7)
    inside = people / people.max()
    shift = np.array([0.1, 0.0])
    noise = 0.02 * np.random.default_rng(1).standard_normal(inside.shape)
    board = anchored(inside, inside + shift + noise, labelled)
    assert [gap.value for gap in board.excess] == pytest.approx(shift, abs=0.01)
    assert board.excess[0].lower > 0.05
    assert board.excess[1].lower < 0 < board.excess[1].upper
    assert board.excess[0].n_items == labelled.sum()


@given(st.integers(0, 10_000), st.permutations(range(4)))
@settings(max_examples=30, deadline=None)
def test_models_may_stand_in_any_order(seed: int, order: list[int]) -> None:
    rng = np.random.default_rng(seed)
    people, judge = rng.random((40, 4)), rng.random((40, 4))
    labelled = rng.random(40) < 0.5
    labelled[: FEWEST_LABELLED + 1] = True
    board, turned = (
        anchored(people[:, columns], judge[:, columns], labelled) for columns in (range(4), order)
    )
    values, again = ([score.value for score in b.scores] for b in (board, turned))
    assert again == pytest.approx([values[column] for column in order])
    assert board.gain == pytest.approx(turned.gain)
    assert board.table.mean(axis=0) == pytest.approx(values)
    assert all(0 <= score.lower <= score.value <= score.upper <= 1 for score in board.scores)


def test_grades_near_the_top_have_intervals_within_bounds() -> None:
    people = np.ones((30, 2))
    people[3, 1] = 2 / 3
    labelled = np.arange(30) < 10
    table = rows(people, labelled)
    board = anchor(table, table, rows(people), labelled, grades=True)
    for score in board.scores:
        assert score.value <= score.upper <= 1
        assert 0.6 < score.lower < 0.95
