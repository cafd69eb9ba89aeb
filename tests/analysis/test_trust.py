"""What the checks of a judge come to, as sentences."""

import math
from dataclasses import replace

from tests.expected import check
from tests.ranking_logs.builders import listed
from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.figures import Correctness, Cycles, JudgeFigures, Juror
from tiebreak.analysis.remarks import unscored_warning
from tiebreak.analysis.trust import trust_of
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


LISTS = replace(FAIR, position=replace(POSITION, kind="lists", n=100))


def verified(
    n: int, n_against: int, *, p: float, enough: bool = True, of: JudgeFigures = FAIR
) -> JudgeFigures:
    """Of so many verified pairs the answer that failed was preferred in some."""
    share = Estimate(n_against / n, 0.0, 1.0, n)
    return replace(of, correctness=Correctness(share, n, n_against, 0, 0, p=p, enough=enough))


CASES: dict[str, tuple[Rule, JudgeFigures]] = {
    "fair": ("elimination", FAIR),
    "a little by the first": (
        "elimination",
        replace(FAIR, position=Position("matches", 0.54, 0.51, 0.57, 2309, 0.001, True)),
    ),
    "a little by the last": (
        "elimination",
        replace(FAIR, position=Position("matches", 0.46, 0.43, 0.49, 2309, 0.001, True)),
    ),
    "few verdicts": (
        "elimination",
        replace(FAIR, position=replace(POSITION, n=40, enough=False)),
    ),
    "a coin": ("elimination", replace(FAIR, coin_p=NAN)),
    "by the first": ("elimination", replace(FAIR, position=BOUND)),
    # Where there is little else, too.
    "by the second": (
        "elimination",
        replace(FAIR, position=replace(BOUND, rate=0.08, n=40, enough=False), coin_p=0.9),
    ),
    "flips to the second": (
        "elimination",
        replace(
            FAIR,
            position=replace(POSITION, rate=0.57),
            flips=replace(FLIPS, both_first=2, both_second=20, p=0.0001),
        ),
    ),
    # What ballots cannot tell from quality is no fault of the judge.
    "by length": (
        "elimination",
        replace(FAIR, length=replace(LENGTH, gain=0.12, lower=0.08, upper=0.16, p=0.0)),
    ),
    "always wrong": ("elimination", verified(104, 104, p=0.0)),
    "wrong in few": ("elimination", verified(30, 28, p=0.0, enough=False)),
    "as often wrong": ("elimination", verified(200, 96, p=0.6)),
    "seldom wrong": ("elimination", verified(200, 12, p=0.0)),
    "too few to be wrong": ("elimination", verified(20, 8, p=0.5, enough=False)),
    "no judge": ("native", FAIR),
    "grades": ("grades", FAIR),
    "grades, seldom wrong": ("grades", verified(200, 12, p=0.0)),
    "reviewers, wrong": ("consensus", verified(200, 150, p=0.0, of=LISTS)),
    "lists": ("listing", LISTS),
    "reviewers": ("consensus", LISTS),
    "few reviews": (
        "consensus",
        replace(LISTS, position=replace(LISTS.position, n=9, enough=False)),
    ),
    "reviewers by a coin": ("consensus", replace(LISTS, coin_p=NAN)),
    "lists as shown": ("listing", replace(LISTS, position=replace(BOUND, kind="lists", n=100))),
    "lists against the order": (
        "listing",
        replace(LISTS, position=replace(BOUND, kind="lists", n=100, rate=0.3)),
    ),
}


def test_states_and_sentences() -> None:
    lines = []
    for name, (rule, judge) in CASES.items():
        trust = trust_of(judge, RULES[rule], unscored=None)
        assert bool(trust.reasons) == (trust.state == "doubtful")
        lines.append(f"{name}: {trust.state}: {trust.sentence}\n")
    check(__file__, "trust.txt", "".join(lines))


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
