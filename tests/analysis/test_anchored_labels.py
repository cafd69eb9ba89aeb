"""How many labels of people are missing: by board, what is said, and what is refused."""

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.test_anchored import JUDGE, MODELS, PEOPLE, judged, votes
from tests.ranking_logs.builders import write_log
from tiebreak.analysis.anchored import anchored_boards, labels_needed, votes_to_decide
from tiebreak.analysis.errors import AnalysisError
from tiebreak.report.sheets.labels_needed import sheets_of
from tiebreak.tables.human import HumanLabel, HumanLabels

NEAR = PEOPLE - PEOPLE.mean(axis=0) + [0.3, 0.2, -0.8]
CLEAR = np.tile([2.0, 1.0, 0.0], (len(PEOPLE), 1))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_log(tmp_path / "log.eval", judged("points", "round_robin"))
    return tmp_path


def test_what_is_said(logs: Path) -> None:
    [needed] = labels_needed(logs, votes(range(40), of=NEAR))
    first, second = (row.model for row in needed.board.rows[:2])
    assert {first, second} == {"a", "b"}
    assert 6 * 3 <= needed.with_judge.lower <= needed.with_judge.value <= needed.alone.value
    assert math.isinf(needed.alone.upper)
    [sheet] = sheets_of([needed])
    assert sheet.verdict.startswith(
        f"To tell {first} and {second} apart in 80% of cases, if they differ as they "
        "seem to, it takes "
    )
    assert sheet.verdict.endswith(" to over 10,000) without.")


def test_labels_that_are_said_twice_are_twice_as_many(logs: Path) -> None:
    once = votes(range(40), of=NEAR)
    again = tuple(replace(label, rater="another") for label in once.labels)
    [first] = labels_needed(logs, once)
    [second] = labels_needed(logs, replace(once, labels=once.labels + again))
    assert (first.board.n_labels, second.board.n_labels) == (120, 240)
    for name in ("value", "lower"):
        assert getattr(second.alone, name) == pytest.approx(2 * getattr(first.alone, name))


def test_votes_that_decide_are_those_of_people_who_say_what_the_judge_says(tmp_path: Path) -> None:
    write_log(tmp_path / "log.eval", judged("points", "round_robin"))
    [needed] = votes_to_decide(tmp_path)
    assert needed.two == ("c", "a")
    n_laps = math.ceil(needed.n_votes / len(PEOPLE))
    assert 1 <= n_laps <= 3
    # A pair of each item, that which came least, with what the judge said; then another of each.
    taken = Counter[tuple[int, int]]()
    left = [list(combinations(range(3), 2)) for _ in JUDGE]
    labels = []
    for k in sorted(range(len(JUDGE)), key=str) * n_laps:
        x, y = pair = min(left[k], key=lambda pair: taken[pair])
        left[k].remove(pair)
        taken[pair] += 1
        won = 2 * int(JUDGE[k, x] > JUDGE[k, y])
        labels.append(HumanLabel(1, f"q{k}", (MODELS[x], MODELS[y]), won, digests=("", "")))
    labelled = HumanLabels("judge.csv", "preferences", tuple(labels))
    [by_hand] = labels_needed(tmp_path, labelled)
    assert needed.n_votes == pytest.approx(by_hand.alone.value)
    assert [row.model for row in anchored_boards(tmp_path, labelled)[0].rows][:2] == ["c", "a"]
    assert math.isinf(votes_to_decide(tmp_path, power=0.999)[0].n_votes)
    assert votes_to_decide(tmp_path, level=0.8, power=0.5)[0].n_votes < needed.n_votes


def test_less_certainty_takes_fewer(logs: Path) -> None:
    people = votes(range(40), of=NEAR)
    numbers = [
        labels_needed(logs, people, level=level, power=power)[0].alone.value
        for level, power in ((0.8, 0.5), (0.95, 0.5), (0.95, 0.8))
    ]
    assert numbers == sorted(numbers)


def test_labels_that_are_enough_or_too_few(logs: Path) -> None:
    # People never differ: six items of three pairs are what a test takes.
    [needed] = labels_needed(logs, votes(range(40), of=CLEAR))
    assert needed.alone.value == 18
    with pytest.raises(AnalysisError, match="at least 6 items"):
        labels_needed(logs, votes(range(5)))
