"""Preference pairs: every gate, against a second way over the same matches, and what is refused."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspect_ai.log import EvalSample

from tests.ranking_logs.builders import call, item, match, sample, starred, write_log
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.preference_pairs import preference_pairs
from tiebreak.scorers.ballots import ItemBallots, Match, Verdict
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.match import settle
from tiebreak.tables.human import HumanLabel, HumanLabels

MODELS = "abcd"


@dataclass(frozen=True)
class World:
    """What judges said: margins for the first of two models, one or two orders, by log and item."""

    answers: dict[str, dict[str, str]]
    passed: dict[str, dict[str, bool]]
    margins: list[dict[tuple[str, str, str], tuple[float | None, ...]]]
    votes: dict[tuple[str, str, str], int]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    items = ["q1", "q2", "q10"]
    margin = st.sampled_from([None, -0.6, -0.1, 0.0, 0.1, 0.6])
    order = st.one_of(st.tuples(margin), st.tuples(margin, margin))
    texts = st.sampled_from(["x", "y", "z", "y "])
    return World(
        {q: {m: draw(texts) for m in MODELS} for q in items},
        {q: draw(st.dictionaries(st.sampled_from(MODELS), st.booleans())) for q in items},
        [
            {
                (q, a, b): draw(order)
                for q in items
                for a, b in combinations(MODELS, 2)
                if draw(st.booleans())
            }
            for _ in range(2)
        ],
        {
            (q, a, b): draw(st.integers(0, 2))
            for q in items
            for a, b in combinations(MODELS, 2)
            if draw(st.booleans())
        },
    )


def asked(ballots: ItemBallots, answers: Mapping[str, str], task: str = "") -> EvalSample:
    """A sample that holds what was judged, as those of our tasks do."""
    contest = {"task": task or f"Question {ballots.item_id}?", "answers": dict(answers)}
    return sample(ballots).model_copy(update={"metadata": {"contest": contest}})


def played(first: str, other: str, margins: Sequence[float | None]) -> Match:
    verdicts = [
        Verdict(first=shown, margin=None if margin is None else sign * margin)
        for shown, sign, margin in zip((first, other), (1, -1), margins, strict=False)
    ]
    return settle(Pairing(1, 0, first, other), verdicts)


def write(folder: Path, world: World) -> Path:
    for number, margins in enumerate(world.margins):
        samples = []
        for q, answers in world.answers.items():
            matches = [
                played(a, b, orders) for (name, a, b), orders in margins.items() if name == q
            ]
            asked_by = [call(model=f"judge{number}")]
            ballots = item(q, matches, groups=[[m] for m in MODELS], calls=asked_by)
            samples.append(asked(ballots.model_copy(update={"passed": world.passed[q]}), answers))
        write_log(folder / f"{number}.eval", samples, eval_id=f"E{number}", task_id=f"T{number}")
    return folder


def side(orders: Sequence[float | None]) -> float | None:
    """The mean margin of a match, for the first of its models."""
    known = [margin for margin in orders if margin is not None]
    return sum(known) / len(known) if known else None


def expected(
    world: World, *, both: bool, least: float
) -> tuple[list[tuple[object, ...]], Counter[str]]:
    """By the words of the page: of each match the first reason that leaves it out, or its row."""
    matches = [
        (number, key, orders)
        for number, margins in enumerate(world.margins)
        for q in world.answers
        for key, orders in margins.items()
        if key[0] == q
    ]
    sides: dict[tuple[str, frozenset[str]], set[str]] = {}
    for _, (q, a, b), orders in matches:
        if lead := side(orders):
            texts = world.answers[q]
            about = q, frozenset((texts[a], texts[b]))
            sides.setdefault(about, set()).add(texts[a if lead > 0 else b])
    rows: list[tuple[object, ...]] = []
    left_out: Counter[str] = Counter()
    made: set[tuple[str, frozenset[str]]] = set()
    for number, (q, a, b), orders in matches:
        texts, lead = world.answers[q], side(orders)
        about = q, frozenset((texts[a], texts[b]))
        won, lost = (a, b) if lead is None or lead >= 0 else (b, a)
        scored = [margin for margin in orders if margin is not None]
        agreed = all(m * (lead or 0) > 0 for m in scored) if len(scored) == 2 else None
        worth = [{None: 1, True: 2, False: 0}[world.passed[q].get(m)] for m in (won, lost)]
        reasons = {
            "unscored": lead is None,
            "tie": lead is not None and abs(lead) < 1e-9,
            "contradicted": len(sides.get(about, ())) > 1,
            "identical": texts[a].strip() == texts[b].strip(),
            "unverified": worth[0] < worth[1],
            "one order": both and agreed is None,
            "orders differ": both and not agreed,
            "margin": abs(lead or 0) < least,
            "repeated": about in made,
        }
        if why := next((why for why, holds in reasons.items() if holds), None):
            left_out[why] += 1
            continue
        made.add(about)
        vote = world.votes.get((q, min(won, lost), max(won, lost)))
        people = None if vote is None else vote == (2 if won < lost else 0)
        about_row = (int(q[1:]), sorted((won, lost)), texts[won], texts[lost])
        rows.append((*about_row, abs(lead or 0), number, agreed, people, won))
    return sorted(rows, key=lambda row: row[:4]), left_out


def labels(votes: Mapping[tuple[str, str, str], int]) -> HumanLabels:
    """Every second one with the two models the other way round."""
    rows = [
        HumanLabel(line, q, (b, a), 2 - vote, digests=("", ""))
        if line % 2
        else HumanLabel(line, q, (a, b), vote, digests=("", ""))
        for line, ((q, a, b), vote) in enumerate(votes.items(), start=2)
    ]
    return HumanLabels("votes.csv", "preferences", tuple(rows))


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(world=worlds(), both=st.booleans(), least=st.sampled_from([0.0, 0.3]))
def test_gates(
    world: World, both: bool, least: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = write(tmp_path_factory.mktemp("logs"), world)
    rows, left_out = expected(world, both=both, least=least)
    met = {
        key
        for margins in world.margins
        for key, orders in margins.items()
        if side(orders) is not None
    }
    people = labels(world.votes) if met & world.votes.keys() else None
    if not rows:
        with pytest.raises(AnalysisError):
            preference_pairs(folder, people, both_orders=both, min_margin=least)
        return
    made = preference_pairs(folder, people, both_orders=both, min_margin=least)
    assert made.left_out == left_out
    assert made.n_matches == len(rows) + left_out.total()
    judged_rows = []
    for row in made.rows:
        models = sorted((row["chosen_model"], row["rejected_model"]))
        about = (int(row["item_id"][1:]), models, row["chosen"], row["rejected"])
        judged = (pytest.approx(row["margin"]), int(row["judge"][-1]), row["orders_agreed"])
        judged_rows.append((*about, *judged, row["people_agreed"], row["chosen_model"]))
    assert judged_rows == (rows if people else [(*row[:7], None, row[8]) for row in rows])
    assert {row["prompt"] for row in made.rows} <= {f"Question {q}?" for q in world.answers}


def study(n: int = 40, agree: int = 30, *, orders: int = 2) -> tuple[list[EvalSample], HumanLabels]:
    """A judge who prefers a throughout, and people who do so in the first items."""
    ballots = [
        item(
            f"q{k}", [played("a", "b", (0.5,) * orders)], groups=[["a"], ["b", "c"]], calls=[call()]
        )
        for k in range(n)
    ]
    votes = {(f"q{k}", "a", "c"): 2 if k < agree else 0 for k in range(n)}
    return [asked(one, {"a": "right", "b": "wrong"}) for one in ballots], labels(votes)


@pytest.mark.parametrize("least", [0.0, 0.75])
def test_a_judge_that_agrees_enough(tmp_path: Path, least: float) -> None:
    samples, people = study()
    write_log(tmp_path / "log.eval", samples)
    made = preference_pairs(tmp_path, people, judge_agreement=least)
    [judge] = made.judges
    assert (judge.judge, judge.n, judge.agreement.value) == ("j/judge", 40, 0.75)
    # People saw c, whose answer is that of b.
    assert [row["people_agreed"] for row in made.rows] == [k < 30 for k in range(40)]


NO_VOTES = "takes people's votes: "
REFUSED = {
    "too little": (study(), {"judge_agreement": 0.76}, r"of 75\.0% of 40 pairs \(95% interval 5"),
    "one order": (study(orders=1), {}, r"order: 40\)\. Take .* --any-order, or judge with -T swap"),
    "one order of people": (
        ([asked(item("q", [played("a", "b", [1])], protocol="votes"), {"a": "x", "b": "y"})], None),
        {},
        r"order: 1\)\. Take what was judged in one order with --any-order$",
    ),
    "no people": ((study()[0], None), {"judge_agreement": 0.5}, NO_VOTES),
    "too close": (study(), {"min_margin": 0.6}, r"No pair .* \(left out: margin: 40\)\. Lower"),
    "stars": (
        (study()[0], HumanLabels("stars.csv", "stars", (HumanLabel(2, "q1", ("a",), 3),))),
        {},
        f"{NO_VOTES}.* and stars.csv holds stars",
    ),
    "strangers": ((study()[0], labels({("q1", "x", "y"): 2})), {}, "Nothing in votes.csv was"),
    "no answers": (
        ([sample(item("q0", [match("a", "b", 0.5)]))], None),
        {},
        "does not hold the task and the answers of gsm8k:seal:q0",
    ),
    "no matches": (
        ([sample(starred("q0", {"a": 3, "b": 1}))], None),
        {},
        r"0 matches \(left out: none\)\. Pairs come from matches",
    ),
}


@pytest.mark.parametrize(("made", "gates", "problem"), REFUSED.values(), ids=REFUSED)
def test_refused(
    made: tuple[list[EvalSample], HumanLabels | None],
    gates: dict[str, float],
    problem: str,
    tmp_path: Path,
) -> None:
    samples, people = made
    write_log(tmp_path / "log.eval", samples)
    with pytest.raises(AnalysisError, match=problem):
        preference_pairs(tmp_path, people, **gates)  # type: ignore[arg-type]


def test_a_judge_that_nobody_measured_is_refused(tmp_path: Path) -> None:
    samples, people = study()
    write_log(tmp_path / "log.eval", samples)
    other = item("z", [played("a", "b", (0.5, 0.5))], calls=[call(model="j/other")])
    write_log(
        tmp_path / "other.eval", [asked(other, {"a": "x", "b": "y"})], eval_id="E2", task_id="T2"
    )
    with pytest.raises(AnalysisError, match="no label of what j/other judged, so nobody knows"):
        preference_pairs(tmp_path, people, judge_agreement=0.5)
    assert len(preference_pairs(tmp_path, people).rows) == 41


def test_what_is_more_than_text_makes_no_pair(tmp_path: Path) -> None:
    samples, _ = study(3)
    seen = item("m", [played("a", "b", (0.5, 0.5))]).model_copy(update={"media": "mark"})
    write_log(tmp_path / "log.eval", [*samples, asked(seen, {"a": "x", "b": "y"})])
    assert preference_pairs(tmp_path).left_out == {"media": 1}


def test_a_jury_has_one_pair_a_match(tmp_path: Path) -> None:
    verdicts = [
        Verdict(first=first, judge=judge, margin=0.5 if first == "a" else -0.5)
        for first in "ab"
        for judge in ("j/x", "j/y")
    ]
    ballots = item("q", [settle(Pairing(1, 0, "a", "b"), verdicts)])
    write_log(tmp_path / "log.eval", [asked(ballots, {"a": "x", "b": "y"})])
    alone = preference_pairs(tmp_path)
    [row] = alone.rows
    assert (row["judge"], row["orders_agreed"]) == ("j/x, j/y", True)
    # A second judge of the same answers makes no second pair.
    other = asked(item("q", [played("a", "b", (0.5, 0.5))]), {"a": "x", "b": "y"})
    write_log(tmp_path / "other.eval", [other], eval_id="E2", task_id="T2")
    again = preference_pairs(tmp_path)
    assert (again.rows, again.left_out) == (alone.rows, {"repeated": 1})


def test_order_of_logs_and_rows_does_not_matter(tmp_path: Path) -> None:
    samples, _ = study(12)
    shuffled = [*samples]
    random.Random(1).shuffle(shuffled)
    for name, rows in (("one", samples), ("two", shuffled)):
        write_log(tmp_path / name / "log.eval", rows)
    first, second = (preference_pairs(tmp_path / name) for name in ("one", "two"))
    assert first.rows == second.rows
    assert [row["item_id"] for row in first.rows] == [f"q{k}" for k in range(12)]
