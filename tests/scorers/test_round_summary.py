"""What a round has shown: by hand, and what must hold of any round."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scorers.judges import NotingJudge, contest_of, judged, ladder
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import Match, Side, Verdict, Vote
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.judge import Question
from tiebreak.scorers.match import (
    CLOSE_MARGIN,
    MOST_SHOWN,
    RoundSummary,
    principle_margin,
    principle_parts,
    settle,
    summarise,
)
from tiebreak.scorers.questions import RefineQuestion

WEIGHTS = {"P1": 0.5, "P2": 0.3, "P3": 0.2}

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


def test_judges_of_a_jury_count_the_same_however_often_they_were_asked() -> None:
    votes: list[tuple[Side, float]] = [("left", 0.6), ("tie", 0.5), ("tie", 0.5)]
    other: list[tuple[Side, float]] = [("right", 0.6), ("tie", 0.5), ("tie", 0.5)]
    match = played(
        0,
        verdict("a", *votes, judge="x"),
        verdict("b", *other, judge="x"),
        verdict("a", *other, judge="y"),
    )
    # Judge x is for a in both orders, judge y for b: even.
    assert principle_parts(match, WEIGHTS)["P1"] == pytest.approx(0)
    assert summarise([match], 1, WEIGHTS, "ab", 2).principles[0].even == 1


@pytest.mark.parametrize(
    ("confidence", "under"),
    [(CLOSE_MARGIN - 0.01, True), (CLOSE_MARGIN, False), (0.0, True), (1.0, False)],
)
def test_under_resolved_is_as_weak_as_a_close_match(confidence: float, under: bool) -> None:
    vote: tuple[Side, float] = ("left", confidence)
    found = summarise([played(0, verdict("a", vote, vote, vote))], 1, WEIGHTS, "ab", 2)
    assert {one.under_resolved for one in found.principles} == {under}


def test_without_a_verdict_nothing_is_known() -> None:
    found = summarise([played(0, Verdict(first="a", unscored="no"))], 1, WEIGHTS, "ab", 2)
    assert (found.n_matches, found.n_close, found.under_resolved) == (0, 0, ())
    assert all(math.isnan(one.size) for one in found.principles)


def test_a_missing_vote_is_never_a_tie() -> None:
    match = played(0, Verdict(first="a", margin=0.1, principles={}))
    with pytest.raises(KeyError):
        summarise([match], 1, WEIGHTS, "ab", 2)


VOTES = st.tuples(
    st.sampled_from(["left", "right", "tie"]), st.integers(0, 100).map(lambda n: n / 100)
)
VERDICTS = st.builds(
    lambda first, judge, votes: verdict(first, *votes, judge=judge),
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.lists(VOTES, min_size=3, max_size=3),
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


def test_in_swiss_rounds_all_remain() -> None:
    for n in (4, 8):
        for question in asked("swiss", n):
            assert len(question.summary.remaining) == n
            assert len(question.others) == (n - 2 if n <= MOST_SHOWN else 0)


def test_what_does_not_fit_is_asked_without_the_others() -> None:
    def fits(question: Question[object]) -> bool:
        return not (isinstance(question, RefineQuestion) and question.others)

    judge = NotingJudge(ladder(8), scale=100, fits=fits)
    ballots = judged("seal", planted_contest(ladder(8)), judge, swap="never", critique=False)
    assert [one.unscored for one in ballots.refinements] == [None] * 4
    calls = Counter(call.kind for call in ballots.calls)
    assert calls["refine"] == 8
