"""Boards that people anchor: what is joined, whose scores they are, and what is left out."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.stars import answered, starred
from tests.ranking_logs.builders import item, match, write_log
from tiebreak.analysis.anchored import (
    AnchoredBoard,
    anchored_boards,
    labels_needed,
    votes_to_decide,
)
from tiebreak.analysis.errors import AnalysisError
from tiebreak.report.sheets.labels_needed import sheets_of
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.tables.human import HumanLabel, HumanLabels

MODELS = ("a", "b", "c")
RNG = np.random.default_rng(3)
N = 60
# The judge reads what people read, and likes c by far more than they do.
PEOPLE = np.array([0.5, 0.2, 0.0]) + RNG.standard_normal((N, 3))
JUDGE = PEOPLE + np.array([0.0, 0.0, 1.2]) + 0.3 * RNG.standard_normal((N, 3))


def judged(rule: Rule, protocol: str) -> list[ItemBallots]:
    items = []
    for k, row in enumerate(JUDGE):
        matches = [
            match(MODELS[x], MODELS[y], float(np.sign(row[x] - row[y])))
            for x, y in combinations(range(3), 2)
        ]
        played = item(f"q{k}", matches, protocol=protocol)
        items.append(played.model_copy(update={"placed_by": rule}))
    return items


def votes(rows: Sequence[int], *, of: np.ndarray = PEOPLE) -> HumanLabels:
    """Every pair on some items; those of odd lines with the second model first."""
    labels = []
    for line, (k, pair) in enumerate(product(rows, combinations(range(3), 2)), start=2):
        x, y = pair[::-1] if line % 2 else pair
        value = 2 if of[k, x] > of[k, y] else 0
        labels.append(HumanLabel(line, f"q{k}", (MODELS[x], MODELS[y]), value, digests=("", "")))
    return HumanLabels("votes.csv", "preferences", tuple(labels))


def preferred(*votes: tuple[str, tuple[str, str], int]) -> HumanLabels:
    labels = [HumanLabel(k, *vote, digests=("", "")) for k, vote in enumerate(votes, start=2)]
    return HumanLabels("votes.csv", "preferences", tuple(labels))


def scores(board: AnchoredBoard, value: Callable[..., float]) -> list[float]:
    by_model = {row.model: value(row) for row in board.rows}
    return [by_model[model] for model in MODELS]


def wins(values: np.ndarray) -> np.ndarray:
    """The share of opponents that each model beats, in the mean over items."""
    beaten = (values[:, :, None] > values[:, None, :]).sum(axis=2) / 2
    return np.asarray(beaten.mean(axis=0))


@pytest.mark.parametrize(
    ("rule", "protocol"), [("points", "round_robin"), ("win_rate", "full_pairwise")]
)
def test_people_say_who_is_first(tmp_path: Path, rule: Rule, protocol: str) -> None:
    write_log(tmp_path / "log.eval", judged(rule, protocol))
    rows = RNG.permutation(N)[:40].tolist()
    [board] = anchored_boards(tmp_path, votes(rows))
    assert (board.n_items, board.n_labelled, board.n_labels) == (N, 40, 120)
    assert scores(board, lambda row: row.judge) == pytest.approx(wins(JUDGE))
    assert scores(board, lambda row: row.people.value) == pytest.approx(wins(PEOPLE[rows]))
    assert scores(board, lambda row: row.excess.value) == pytest.approx(
        wins(JUDGE[rows]) - wins(PEOPLE[rows])
    )
    # The judge puts c first, people put it last.
    assert max(board.rows, key=lambda row: row.judge).model == "c"
    assert [row.model for row in board.rows] == ["a", "b", "c"]
    sentence = str(board.sentence)
    assert "The judge places c " in sentence
    assert "120 labels of people tell models apart as well as" in sentence
    assert (board.gain > 1.05, board.weights[0]) == (True, 0)
    for row in board.rows:
        assert row.score.upper - row.score.lower < row.people.upper - row.people.lower
        assert row.score.lower < wins(PEOPLE)[MODELS.index(row.model)] < row.score.upper


def test_a_label_is_of_one_benchmark(tmp_path: Path) -> None:
    """With the same ids in two, the file has to say of which; each board has its own labels."""
    items = judged("points", "round_robin")
    both = [*items, *(item.model_copy(update={"benchmark": "mmlu"}) for item in items)]
    write_log(tmp_path / "log.eval", both)
    given = votes(range(20))
    with pytest.raises(AnalysisError, match=r"line 2: item 'q0' is in gsm8k and mmlu; add a colum"):
        anchored_boards(tmp_path, given)
    names = ["gsm8k"] * 30 + ["mmlu"] * 30
    labels = map(lambda label, name: replace(label, benchmark=name), given.labels, names)
    boards = anchored_boards(tmp_path, replace(given, labels=tuple(labels)))
    assert [(board.benchmark, board.n_labels) for board in boards] == [("gsm8k", 30), ("mmlu", 30)]
    assert not any("Left out" in str(note) for board in boards for note in board.notes)


def test_what_few_people_leave_open_is_said(tmp_path: Path) -> None:
    write_log(tmp_path / "log.eval", judged("points", "round_robin"))
    for n_items, sentences in ((39, ["People judged 39 items, which are few"]), (40, [])):
        labels = votes(range(n_items))
        [board] = anchored_boards(tmp_path, labels)
        assert [str(note).partition(":")[0] for note in board.notes] == sentences
    mine = replace(labels, labels=tuple(replace(label, rater="ann") for label in labels.labels))
    [board] = anchored_boards(tmp_path, mine)
    assert board.notes == ("votes.csv: all labels are of ann, and of nobody else",)
    other = tuple(
        replace(label, models=tuple("z" if m == "c" else m for m in label.models))
        for label in labels.labels
    )
    with pytest.raises(AnalysisError, match=r"says nothing of c on .*\n.* no log judged: z"):
        anchored_boards(tmp_path, replace(labels, labels=other))


def test_stars(tmp_path: Path) -> None:
    people, seen = (np.clip(np.round(given + 1.5), 0, 3).astype(int) for given in (PEOPLE, JUDGE))
    rated = [dict(zip(MODELS, row.tolist(), strict=True)) for row in seen]
    write_log(tmp_path / "log.eval", [starred(f"q{k}", row) for k, row in enumerate(rated)])
    labels = [
        HumanLabel(2 + 3 * k + m, f"q{k}", (model,), int(people[k, m]))
        for k in range(10, 35)
        for m, model in enumerate(MODELS)
    ]
    # Another person, who gave b one star less in ten items.
    labels += [
        HumanLabel(500 + k, f"q{k}", ("b",), max(0, int(people[k, 1]) - 1), rater="ben")
        for k in range(10, 20)
    ]
    [board] = anchored_boards(tmp_path, HumanLabels("stars.csv", "stars", tuple(labels)))
    assert (board.kind, board.n_labelled, board.n_labels) == ("stars", 25, 85)
    assert scores(board, lambda row: row.judge) == pytest.approx(seen.mean(axis=0) / 3)
    means = people.astype(float)
    means[10:20, 1] = (means[10:20, 1] + np.maximum(means[10:20, 1] - 1, 0)) / 2
    of_people = scores(board, lambda row: row.people.value)
    assert of_people == pytest.approx(means[10:35].mean(axis=0) / 3)
    assert board.weights[0] > 0.3


def test_identical_answers_are_ties_that_nobody_has_to_judge(tmp_path: Path) -> None:
    items = [
        item(f"q{k}", [match("a", "b", 0.4)], groups=(("a",), ("b", "c"))).model_copy(
            update={"placed_by": "points"}
        )
        for k in range(20)
    ]
    write_log(tmp_path / "log.eval", items)
    pairs = [("a", "b")] * 5 + [("a", "c")] * 5 + [("b", "c")] * 3
    labels = preferred(*((f"q{k}", pair, 2) for k, pair in enumerate(pairs)))
    [board] = anchored_boards(tmp_path, labels)
    assert board.n_labels == 10
    assert scores(board, lambda row: row.score.value) == pytest.approx([1, 0.25, 0.25])
    assert "3 labels of pairs that need no judge" in str(board.notes[0])


def test_labels_of_another_answer_are_left_out(tmp_path: Path) -> None:
    texts = {model: f"answer of {model}" for model in MODELS}
    items = judged("points", "round_robin")
    write_log(tmp_path / "log.eval", [answered(ballots, texts) for ballots in items])
    right = hashlib.sha256(texts["a"].encode()).hexdigest()[:12]
    given = votes(range(12))
    labels = [
        replace(label, digests=tuple(right if name == "a" else "" for name in label.models))
        for label in given.labels
    ]
    labels[0] = replace(labels[0], digests=("0" * 12,) * 2)
    [board] = anchored_boards(tmp_path, replace(given, labels=tuple(labels)))
    assert board.n_labels == len(labels) - 1


STARS = HumanLabels("stars.csv", "stars", (HumanLabel(2, "q1", ("a",), 3),))


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (votes(range(5)), "at least 6 items that both people and a judge judged"),
        (preferred(*((f"q{k}", ("a", "b"), 2) for k in range(9))), "says nothing of c on gsm8k"),
        (STARS, "holds stars; it takes answers judged by stars"),
        (preferred(("other", ("a", "zebra"), 2)), "zebra"),
    ],
    ids=["few", "a model without a label", "no stars", "strangers"],
)
def test_too_little_is_said_so(tmp_path: Path, labels: HumanLabels, problem: str) -> None:
    write_log(tmp_path / "log.eval", judged("points", "round_robin"))
    with pytest.raises(AnalysisError, match=problem):
        anchored_boards(tmp_path, labels)


# --- How many labels of people are missing: by board, what is said, and what is refused.


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
