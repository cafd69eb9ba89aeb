"""What the checks of a judge come to, as sentences."""

import math
from dataclasses import replace

import pytest

from tests.ranking_logs.builders import listed
from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.figures import Correctness, Cycles, JudgeFigures, Juror
from tiebreak.analysis.remarks import unscored_warning
from tiebreak.analysis.trust import State, length_gain, trust_of
from tiebreak.rankers.intervals import Estimate
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import Rule
from tiebreak.scorers.rules import RULES

NAN = math.nan
POSITION = Position("matches", 0.52, 0.46, 0.58, n=309, p=0.5, enough=True)
FLIPS = Flips("close", 40, 0.3, 0.2, 0.4, expected=0.3, both_first=6, both_second=6, p=1, coin_p=0)
LENGTH = Length(0.01, -0.05, 0.07, p=0.7, n_matches=300, n_items=40, reason=None)
CYCLES = Cycles(Estimate(NAN, NAN, NAN, 0, Reason("no_triple")), 0, NAN)
CORRECTNESS = Correctness(Estimate(NAN, NAN, NAN, 0, Reason("no_verified_pair")), 0, 0, 0, 0)
FAIR = JudgeFigures(POSITION, FLIPS, LENGTH, CYCLES, 0.001, CORRECTNESS, replies=())
BOUND = replace(POSITION, rate=0.92, lower=0.88, upper=0.95, p=0.0)


def verified(n: int, n_against: int, *, p: float, enough: bool) -> Correctness:
    """Verified pairs, in some of which the answer that failed was preferred."""
    share = Estimate(n_against / n, 0.0, 1.0, n)
    return Correctness(share, n, n_against, 0, 0, p=p, enough=enough)


@pytest.mark.parametrize(
    ("judge", "state", "sentence"),
    [
        (FAIR, "fine", "The judge on this board: no position bias found in 309 verdicts."),
        (
            replace(FAIR, position=Position("matches", 0.54, 0.51, 0.57, 2309, 0.001, True)),
            "fine",
            "The judge on this board: the answer shown first gains 4 points (1 to 7) in 2,309 "
            "verdicts, too little to matter.",
        ),
        (
            replace(FAIR, position=Position("matches", 0.46, 0.43, 0.49, 2309, 0.001, True)),
            "fine",
            "The judge on this board: the answer shown last gains 4 points (1 to 7) in 2,309 "
            "verdicts, too little to matter.",
        ),
        (
            replace(FAIR, position=replace(POSITION, n=40, enough=False)),
            "unknown",
            "The judge on this board: too few verdicts (40) to tell whether it goes by position.",
        ),
        (
            replace(FAIR, coin_p=NAN),
            "unknown",
            "The judge on this board: nothing shows that its verdicts are more than coin tosses.",
        ),
        (
            replace(FAIR, position=BOUND),
            "doubtful",
            "The judge is doubtful on this board: the answer shown first won 92% of 309 verdicts.",
        ),
        (
            # Where there is little else, too.
            replace(FAIR, position=replace(BOUND, rate=0.08, n=40, enough=False), coin_p=0.9),
            "doubtful",
            "The judge is doubtful on this board: the answer shown second won 92% of 40 verdicts.",
        ),
        (
            replace(
                FAIR,
                position=replace(POSITION, rate=0.57),
                flips=replace(FLIPS, both_first=2, both_second=20, p=0.0001),
            ),
            "doubtful",
            "The judge is doubtful on this board: of 22 matches that it decided otherwise in the "
            "other order, 20 went to the answer shown second both times.",
        ),
        (
            # What ballots cannot tell from quality is no fault of the judge.
            replace(FAIR, length=replace(LENGTH, gain=0.12, lower=0.08, upper=0.16, p=0.0)),
            "fine",
            "The judge on this board: no position bias found in 309 verdicts.",
        ),
        (
            replace(FAIR, correctness=verified(104, 104, p=0.0, enough=True)),
            "doubtful",
            "The judge is doubtful on this board: the answer that failed was preferred in 104 of "
            "104 verified pairs (100%).",
        ),
        (
            replace(FAIR, correctness=verified(30, 28, p=0.0, enough=False)),
            "doubtful",
            "The judge is doubtful on this board: the answer that failed was preferred in 28 of 30 "
            "verified pairs (93%).",
        ),
        (
            replace(FAIR, correctness=verified(200, 96, p=0.6, enough=True)),
            "unknown",
            "The judge on this board: nothing shows that answers which passed are preferred; the "
            "answer that failed was preferred in 96 of 200 verified pairs (48%).",
        ),
        (
            replace(FAIR, correctness=verified(200, 12, p=0.0, enough=True)),
            "fine",
            "The judge on this board: no position bias found in 309 verdicts; the answer that "
            "failed was preferred in 12 of 200 verified pairs (6%).",
        ),
        (
            replace(FAIR, correctness=verified(20, 8, p=0.5, enough=False)),
            "fine",
            "The judge on this board: no position bias found in 309 verdicts.",
        ),
    ],
)
def test_a_judge_of_matches(judge: JudgeFigures, state: State, sentence: str) -> None:
    found = trust_of(judge, RULES["elimination"], unscored=None)
    assert (found.state, str(found.sentence)) == (state, sentence)
    assert bool(found.reasons) == (state == "doubtful")


LISTS = replace(FAIR, position=replace(POSITION, kind="lists", n=100))


@pytest.mark.parametrize(
    ("rule", "judge", "sentence"),
    [
        ("native", FAIR, "There is no judge: models are ranked by their native scores."),
        (
            "grades",
            FAIR,
            "The judge on this board: answers were graded one by one, which shows nothing about "
            "it.",
        ),
        (
            "grades",
            replace(FAIR, correctness=verified(200, 12, p=0.0, enough=True)),
            "The judge on this board: the answer that failed was preferred in 12 of 200 verified "
            "pairs (6%).",
        ),
        (
            "consensus",
            replace(LISTS, correctness=verified(200, 150, p=0.0, enough=True)),
            "The reviewers are doubtful on this board: the answer that failed was preferred in 150 "
            "of 200 verified pairs (75%).",
        ),
        ("listing", LISTS, "The judge on this board: no position bias found in 100 ranking calls."),
        ("consensus", LISTS, "The reviewers on this board: no position bias found in 100 reviews."),
        (
            "listing",
            replace(LISTS, position=replace(BOUND, kind="lists", n=100)),
            "The judge is doubtful on this board: in 100 lists it ranked 92% of pairs of answers "
            "as they were shown.",
        ),
        (
            "listing",
            replace(LISTS, position=replace(BOUND, kind="lists", n=100, rate=0.3)),
            "The judge is doubtful on this board: in 100 lists it ranked 70% of pairs of answers "
            "against the order shown.",
        ),
    ],
)
def test_other_rules(rule: Rule, judge: JudgeFigures, sentence: str) -> None:
    assert str(trust_of(judge, RULES[rule], unscored=None).sentence) == sentence


def test_a_juror_that_contradicts_the_others() -> None:
    low = Juror("b", FAIR, Estimate(0.3, 0.2, 0.4, 100), agreement_p=0.001)
    found = trust_of(FAIR, RULES["elimination"], unscored=None, jury=[replace(low, name="a"), low])
    said = "it contradicts the others in 70% of pairs"
    assert str(found.sentence) == f"The jury is doubtful on this board: a, b: {said}."
    assert tuple(map(str, found.reasons)) == (f"a: {said}", f"b: {said}")


def test_replies_without_use_and_bound_reviewers_are_reasons() -> None:
    silent = [listed(f"q{k}", None if k < 5 else ["a", "b", "c"]) for k in range(20)]
    mute, bound = unscored_warning(silent, "listing"), Reason("reviewer_as_shown", reviewer="b")
    assert mute is not None
    found = trust_of(LISTS, RULES["consensus"], unscored=mute, bound=[bound])
    assert found.reasons == (bound, mute["clause"])
    assert found.sentence == Reason("doubtful_reviewers", clauses=found.reasons)


@pytest.mark.parametrize(
    ("gain", "interval", "text"),
    [(0.9, (0.86, 0.95), "90 points (86 to 95)"), (0.01, (NAN, NAN), "1 point")],
)
def test_gains_in_points(gain: float, interval: tuple[float, float], text: str) -> None:
    assert text in str(
        length_gain(replace(LENGTH, gain=gain, lower=interval[0], upper=interval[1]))
    )
