"""Votes to margins, and verdicts to the result of a match, by hand and by property."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import NotingJudge, contest_of, judged, ladder
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import DecidedBy, Match, Side, Verdict, Vote
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.judge import Question
from tiebreak.scorers.match import (
    CLOSE_MARGIN,
    EPSILON,
    MOST_SHOWN,
    Layer,
    RoundSummary,
    ask_swapped,
    by_judge,
    checklist_margin,
    decide,
    in_one_order,
    is_close,
    judges_in,
    one_verdict_an_order,
    principle_margin,
    principle_parts,
    principles_even,
    settle,
    summarise,
)
from tiebreak.scorers.questions import RefineQuestion
from tiebreak.scorers.rubric import ChecklistItem

PAIRING = Pairing(1, 0, "high", "low")


def shown(first: str, margin: float | None, checklist: float = 0.0) -> Verdict:
    if margin is None:
        return Verdict(first=first, unscored="it is empty")
    return Verdict(first=first, margin=margin, checklist_margin=checklist)


def high(margin: float | None, checklist: float = 0.0) -> Verdict:
    return shown("high", margin, checklist)


def low(margin: float | None, checklist: float = 0.0) -> Verdict:
    return shown("low", margin, checklist)


Settled = tuple[str, DecidedBy, float | None, bool | None]
CASES: dict[str, tuple[list[Verdict], Settled]] = {
    # Verdicts (margins favour the response shown first); winner, decided by, margin, flipped.
    "high first": ([high(0.4)], ("high", "principles", 0.4, None)),
    "low first": ([low(0.4)], ("low", "principles", -0.4, None)),
    "checklist": ([low(0.0, 0.1)], ("low", "checklist", 0.0, None)),
    "even": ([low(0.0)], ("high", "tie", 0.0, None)),
    "unscored": ([low(None)], ("high", "unscored", None, None)),
    "orders agree": ([high(0.2), low(-0.4)], ("high", "principles", 0.3, False)),
    "orders disagree: the sum decides": ([high(0.2), low(0.4)], ("low", "principles", -0.1, True)),
    "the first position wins both times": ([high(0.6), low(0.6)], ("high", "tie", 0.0, True)),
    "even in one order": ([high(0.0), low(0.4)], ("low", "principles", -0.2, False)),
    "one order unscored": ([high(None), low(0.4)], ("low", "principles", -0.4, None)),
}


@pytest.mark.parametrize(("verdicts", "expected"), CASES.values(), ids=CASES)
def test_settle(verdicts: list[Verdict], expected: Settled) -> None:
    winner, decided_by, margin, flipped = expected
    match = settle(PAIRING, verdicts)
    assert (match.winner, match.decided_by, match.flipped) == (winner, decided_by, flipped)
    assert match.margin == (None if margin is None else pytest.approx(margin))
    assert match.loser == ({"high", "low"} - {winner}).pop()
    assert (match.unscored is not None) == (decided_by == "unscored")
    assert match.tied == (decided_by == "tie")


WEIGHTS = {"P1": 0.5, "P2": 0.3, "P3": 0.2}
CHECKLIST = [
    ChecklistItem(id="C1", principle="P1", description="one"),
    ChecklistItem(id="C2", principle="P2", description="two"),
    ChecklistItem(id="C3", principle="P2", description="three"),
]


def votes(**given: tuple[Side, float]) -> dict[str, Vote]:
    return {key: Vote(vote=vote, confidence=c) for key, (vote, c) in given.items()}


@pytest.mark.parametrize(
    ("given_votes", "expected"),
    [
        (votes(P1=("left", 1), P2=("left", 1), P3=("left", 1)), 1.0),
        (votes(P1=("right", 1), P2=("right", 1), P3=("right", 1)), -1.0),
        (votes(P1=("left", 0.8), P2=("right", 1), P3=("tie", 1)), 0.1),  # 0.5·0.8 - 0.3
        (votes(P1=("tie", 1), P2=("tie", 0.2), P3=("tie", 0)), 0.0),
        (votes(P1=("left", 0), P2=("right", 0), P3=("left", 0)), 0.0),  # no confidence at all
    ],
)
def test_principle_margin(given_votes: dict[str, Vote], expected: float) -> None:
    assert principle_margin(given_votes, WEIGHTS) == pytest.approx(expected)


def test_checklist_items_weigh_as_their_principles() -> None:
    # (0.5·1 - 0.3·0.5 + 0.3·0) / (0.5 + 0.3 + 0.3)
    given_votes = votes(C1=("left", 1), C2=("right", 0.5), C3=("tie", 1))
    assert checklist_margin(given_votes, CHECKLIST, WEIGHTS) == pytest.approx(0.35 / 1.1)


def test_a_missing_vote_is_no_tie() -> None:
    with pytest.raises(KeyError):
        principle_margin(votes(P1=("left", 1)), WEIGHTS)
    with pytest.raises(KeyError):
        checklist_margin(votes(C1=("left", 1)), CHECKLIST, WEIGHTS)


@pytest.mark.parametrize(
    ("margin", "checklist", "expected"),
    [
        (EPSILON, EPSILON, ("tie", None)),
        (-EPSILON, -EPSILON, ("tie", None)),
        (1.01 * EPSILON, -1.0, ("left", "principles")),
        (-1.01 * EPSILON, 1.0, ("right", "principles")),
        (EPSILON, 1.01 * EPSILON, ("left", "checklist")),
        (0.0, -1.01 * EPSILON, ("right", "checklist")),
        (0.0, None, ("tie", None)),
    ],
)
def test_margins_of_the_smallest_size_are_even(
    margin: float, checklist: float | None, expected: tuple[Side, Layer | None]
) -> None:
    assert decide(margin, checklist) == expected


@pytest.mark.parametrize(
    ("margin", "close"),
    [(0.0, True), (0.249, True), (-0.249, True), (0.25, False), (-0.25, False), (None, False)],
)
def test_close_is_below_a_quarter(margin: float | None, close: bool) -> None:
    assert is_close(settle(PAIRING, [shown("low", margin)])) is close
    first = [shown("low", margin)]
    assert ask_swapped("close", first, sampled=True) is close
    assert not ask_swapped("close", first, sampled=False, quorum=2)
    assert not ask_swapped("close", (), sampled=True)


@pytest.mark.parametrize("sampled", [True, False])
def test_who_is_asked_in_the_second_order_whatever_the_first_says(sampled: bool) -> None:
    for first in ((), [shown("high", 0.1)]):
        assert ask_swapped("always", first, sampled=sampled)
        assert not ask_swapped("never", first, sampled=sampled)
        assert ask_swapped("sample", first, sampled=sampled) is sampled


def of(judge: str, first: str, margin: float | None, items: float | None = None) -> Verdict:
    why = "silent" if margin is None else None
    return Verdict(first=first, judge=judge, margin=margin, checklist_margin=items, unscored=why)


JURY = [
    *(of("a", "high", 0.5, 0.25), of("b", "high", -0.25), of("c", "high", None)),
    *(of("a", "low", 0.0, 0.5), of("b", "low", None), of("c", "low", None)),
]


def test_a_jury_by_hand() -> None:
    """a: (½ − 0) / 2 = ¼ and its items (¼ − ½) / 2; b: −¼; c nothing: the mean of the two is 0."""
    match = settle(PAIRING, JURY, quorum=2)
    assert (match.margin, match.checklist_margin) == (0.0, -0.125)
    assert (match.winner, match.decided_by) == ("low", "checklist")
    # With high first (½ − ¼) / 2 for high; with low first 0, and the items decide for low.
    assert match.flipped is True
    assert settle(PAIRING, JURY, quorum=3).decided_by == "unscored"
    assert settle(PAIRING, JURY, quorum=3).margin is None
    assert settle(PAIRING, JURY[:3], quorum=2).flipped is None
    assert judges_in(match) == ("a", "b", "c")
    assert principles_even(JURY, 2)
    assert not principles_even(JURY[:3], 2)
    assert not principles_even(JURY, 3)


def test_a_match_in_parts_by_hand() -> None:
    match = settle(PAIRING, JURY, [of("d", "high", None)], {"high": "h", "low": "l"}, quorum=2)
    assert match.critique == "h\nl"
    first, second = (in_one_order(match, order) for order in (0, 1))
    assert (first.margin, first.winner, first.verdicts) == (0.125, "high", tuple(JURY[:3]))
    assert (second.margin, second.winner, second.verdicts) == (0.0, "low", tuple(JURY[3:]))
    alone = by_judge(match, "b")
    assert (alone.margin, alone.winner, alone.flipped) == (-0.25, "low", None)
    assert by_judge(match, "c").decided_by == "unscored"
    together = one_verdict_an_order(match)
    assert together.verdicts == (of("", "high", 0.125, 0.25), of("", "low", 0.0, 0.5))
    assert (together.margin, together.discarded) == (match.margin, ())
    silent = one_verdict_an_order(settle(PAIRING, [*JURY[:3], of("c", "low", None)]))
    assert silent.verdicts[1] == Verdict(first="low", unscored="no judge usable in this order")
    none = settle(PAIRING, [of("", "low", None)])
    assert one_verdict_an_order(none).verdicts == (of("", "low", None),)
    assert in_one_order(none, 0).verdicts == (of("", "low", None),)


# What a round has shown: by hand, and what must hold of any round.

SURE: tuple[Side, float] = ("left", 1.0)


def verdict(first: str, *votes: tuple[Side, float], judge: str = "") -> Verdict:
    own = {p: Vote(vote=v, confidence=c) for p, (v, c) in zip(WEIGHTS, votes, strict=True)}
    return Verdict(first=first, judge=judge, principles=own, margin=principle_margin(own, WEIGHTS))


def played(slot: int, *verdicts: Verdict, round: int = 1) -> Match:
    return settle(Pairing(round, slot, "a", "b"), verdicts)


def test_a_round_by_hand() -> None:
    matches = [
        # P1 decides; P2 is for a in one order and for b in the other, and so for none.
        played(
            0,
            verdict("a", ("left", 0.8), ("left", 0.6), ("tie", 1.0)),
            verdict("b", ("right", 0.4), ("left", 0.6), ("right", 0.5)),
        ),
        played(1, verdict("b", ("left", 0.2), ("tie", 0.0), ("right", 0.9))),
        played(2, Verdict(first="a", unscored="refused")),
        played(0, verdict("a", SURE, SURE, SURE), round=2),
    ]
    found = summarise(matches, 1, WEIGHTS, ["c", "a"], 6)
    # Match 1: 0.5 · (0.8 + 0.4) / 2 = 0.3, 0, 0.2 · (0 + 0.5) / 2 = 0.05; match 2: −0.1 and 0.18.
    assert [(one.id, one.decided, one.even) for one in found.principles] == [
        ("P1", 2, 0),
        ("P2", 0, 2),
        ("P3", 2, 0),
    ]
    assert [one.size for one in found.principles] == pytest.approx([0.2, 0.0, 0.115])
    assert found.under_resolved == ("P2",)
    # The margins are 0.35 and 0.08.
    assert (found.n_matches, found.n_close, found.n_candidates) == (2, 1, 6)
    assert found.remaining == ("a", "c")


@pytest.mark.parametrize(
    ("confidence", "under"),
    [(CLOSE_MARGIN - 0.01, True), (CLOSE_MARGIN, False), (0.0, True), (1.0, False)],
)
def test_under_resolved_is_as_weak_as_a_close_match(confidence: float, under: bool) -> None:
    vote: tuple[Side, float] = ("left", confidence)
    found = summarise([played(0, verdict("a", vote, vote, vote))], 1, WEIGHTS, "ab", 2)
    assert {one.under_resolved for one in found.principles} == {under}


DRAWN_VOTES = st.tuples(
    st.sampled_from(["left", "right", "tie"]), st.integers(0, 100).map(lambda n: n / 100)
)
VERDICTS = st.builds(
    lambda first, judge, votes: verdict(first, *votes, judge=judge),
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.lists(DRAWN_VOTES, min_size=3, max_size=3),
) | st.builds(lambda first: Verdict(first=first, unscored="no"), st.sampled_from("ab"))


@given(st.lists(st.lists(VERDICTS, min_size=1, max_size=4), max_size=4))
@settings(deadline=None, max_examples=100)
def test_counts_add_up_and_parts_are_the_margin(rounds: list[list[Verdict]]) -> None:
    matches = [played(slot, *verdicts) for slot, verdicts in enumerate(rounds)]
    found = summarise(matches, 1, WEIGHTS, "ab", 2)
    scored = [match for match in matches if match.margin is not None]
    assert found.n_matches == len(scored)
    assert found.n_close <= found.n_matches
    for match in matches:
        parts = principle_parts(match, WEIGHTS)
        assert bool(parts) == (match.margin is not None)
        assert math.fsum(parts.values()) == pytest.approx(match.margin or 0.0)
    for one in found.principles:
        assert one.decided + one.even == len(scored)
        assert not scored or 0 <= one.size <= one.weight + 1e-12
        assert scored == [] or (one.size > 0) == (one.decided > 0)
    # The mean margin is at most what the principles give together.
    if scored:
        total = math.fsum(one.size for one in found.principles)
        mean = math.fsum(abs(match.margin or 0.0) for match in scored) / len(scored)
        assert mean <= total + 1e-9


def asked(protocol: str, n: int, **how: object) -> list[RefineQuestion]:
    judge = NotingJudge(ladder(n), scale=100)  # all margins are close
    judged(protocol, contest_of(n), judge, swap="never", **how)
    return [question for question in judge.asked if isinstance(question, RefineQuestion)]


def test_who_remains_is_who_plays_on() -> None:
    """A bracket of ten: six have byes, and four, then two are left to be shown."""
    by_round: dict[int, RoundSummary] = {}
    for question in asked("seal", 10, critique=False):
        summary = by_round.setdefault(question.summary.number, question.summary)
        assert question.summary == summary
        shown = question.contest.answers.keys() & question.others
        assert len(summary.remaining) <= MOST_SHOWN or not shown
        assert not shown & {question.match.high, question.match.low}
        pair = {question.match.winner}
        assert len(summary.remaining) > MOST_SHOWN or shown | pair == set(summary.remaining)
    assert {n: len(one.remaining) for n, one in by_round.items()} == {1: 8, 2: 4, 3: 2}
    assert {one.n_candidates for one in by_round.values()} == {10}


def test_what_does_not_fit_is_asked_without_the_others() -> None:
    def fits(question: Question[object]) -> bool:
        return not (isinstance(question, RefineQuestion) and question.others)

    judge = NotingJudge(ladder(8), scale=100, fits=fits)
    ballots = judged("seal", planted_contest(ladder(8)), judge, swap="never", critique=False)
    assert [one.unscored for one in ballots.refinements] == [None] * 4
    calls = Counter(call.kind for call in ballots.calls)
    assert calls["refine"] == 8
