"""Whether the judge can be trusted: fine, unknown or doubtful, with reasons."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tiebreak.analysis.judge.biases import ALARM, TOLERANCE, Position
from tiebreak.analysis.judge.canaries import Canaries
from tiebreak.analysis.judge.figures import Correctness, JudgeFigures, Juror
from tiebreak.analysis.remarks import UNSCORED_TOLERANCE
from tiebreak.rankers.intervals import Estimate
from tiebreak.reason import Reason
from tiebreak.scorers.rules import PlacementRule

State = Literal["fine", "unknown", "doubtful"]


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether the judge can be trusted on a leaderboard.

    "doubtful": a check found a fault that a judge without it shows in at most 1% of leaderboards
    (1.5% over all checks together), or too many replies could not be used. "fine": no check did;
    there were enough verdicts to find a 60:40 preference for one place in half of the cases;
    verdicts are more than coin tosses (1%); and if enough pairs are verified (one answer passed,
    one failed), answers that passed are preferred (1%). Otherwise "unknown". A gain of longer
    answers is no fault, because they may be better: see `tiebreak.analysis.verdict`.

    `sentence` states all of this. `reasons` are the faults, empty unless the state is "doubtful".
    """

    state: State
    sentence: Reason
    reasons: tuple[Reason, ...] = ()


def trust_of(
    judge: JudgeFigures,
    rule: PlacementRule,
    *,
    unscored: Reason | None,
    bound: Sequence[Reason] = (),
    jury: Sequence[Juror] = (),
    canaries: Canaries | None = None,
    people: bool = False,
) -> Trust:
    """The conclusion of all checks of a judge, or of `people` who voted.

    `unscored` warns of too many unusable replies. In peer review `bound` names the reviewers who
    follow the order shown; for a jury `judge` has the figures of all its judges together.
    """
    if rule.asks is None:
        return Trust("unknown", Reason("no_judge"))
    mute = [unscored["clause"]] if unscored is not None else []
    state: State
    if jury:
        asked = replace(rule, reviewed=rule.reviewed or people)
        state, clauses, reasons = _of_jury(judge, asked, mute, jury)
    else:
        reasons = [*bound, *(_verified_fault(judge) if rule.reviewed else faults(judge)), *mute]
        state, clause = ("doubtful", None) if reasons else _no_fault(judge, rule)
        clauses = reasons or [*filter(None, [clause])]
    if canaries is not None:
        persuaded = persuasion(canaries)
        # If canaries show the only fault, the clause that says there is none must go.
        clauses = [*(() if canaries.bound and not reasons else clauses), persuaded]
        if canaries.bound:
            state, reasons = "doubtful", [*reasons, persuaded]
    judges = "reviewers" if rule.reviewed else "raters" if people else "jury" if jury else "judge"
    if state != "doubtful":
        sentence = Reason("trust", judges=judges, clauses=clauses)
    elif rule.reviewed or people:
        sentence = Reason("doubtful_raters" if people else "doubtful_reviewers", clauses=clauses)
    else:
        sentence = Reason("doubtful", judges=judges, clauses=clauses)
    return Trust(state, sentence, tuple(reasons))


def persuasion(canaries: Canaries) -> Reason:
    """A clause with the number of planted answers that persuaded a judge."""
    share = canaries.share
    if not canaries.n:
        return Reason("no_canary_verdict")
    bounds = Reason("within", lower=100 * share.lower, upper=100 * share.upper)
    return Reason(
        "persuaded",
        n=canaries.n_persuaded,
        of=canaries.n,
        bounds="" if math.isnan(share.lower) else bounds,
    )


def faults(judge: JudgeFigures) -> Iterator[Reason]:
    """The faults that the alarms of one judge found, as clauses."""
    position, flips = judge.position, judge.flips
    if position.bound:
        yield _by_order(position)
    elif flips.p <= ALARM and abs(position.gain) >= TOLERANCE:
        most, place = max((flips.both_first, "first"), (flips.both_second, "second"))
        yield Reason("flips_to_one_place", n=flips.n_flipped, most=most, place=place)
    yield from _verified_fault(judge)


def _verified_fault(judge: JudgeFigures) -> Iterator[Reason]:
    if judge.correctness.prefers == "failed":
        yield _verified(judge.correctness)


def _verified(correctness: Correctness) -> Reason:
    return Reason(
        "failed_preferred", n=correctness.n_against, of=correctness.n, share=correctness.share.value
    )


def _of_jury(
    judge: JudgeFigures, rule: PlacementRule, mute: Sequence[Reason], jury: Sequence[Juror]
) -> tuple[State, list[Reason], list[Reason]]:
    """State, clauses and reasons of a jury: all judges together, then each; one fault is enough."""
    together = [Reason("together", fault=fault) for fault in faults(judge)] + [*mute]
    reasons, jurors = list(together), list[tuple[str, Reason]]()
    for juror in jury:
        if clauses := [*juror_faults(juror, people=rule.reviewed)]:
            jurors.append((juror.name, Reason("juror_faults", faults=clauses)))
            reasons.append(Reason("faults_of", judge=juror.name, faults=clauses))
            continue
        state, clause = _no_fault(juror.figures, rule)
        fine = Reason("juror_fine") if state == "fine" else Reason("juror_unknown", clause=clause)
        jurors.append((juror.name, fine))
    jurors.sort(key=lambda juror: juror[1].kind != "juror_fine")
    state = "doubtful" if reasons else _no_fault(judge, rule)[0]
    return state, [*together, Reason("jurors", jurors=jurors)], reasons


def juror_faults(juror: Juror, *, people: bool = False) -> Iterator[Reason]:
    """The faults that alarms found in one judge of a jury or one of the `people`, as clauses."""
    yield from faults(juror.figures)
    agreement = juror.agreement
    if juror.agreement_p <= ALARM and agreement.value < 0.5 - TOLERANCE:
        share = 1 - agreement.value
        yield Reason("contradict_raters" if people else "contradicts_jury", share=share)
    for replies in juror.figures.replies:
        if replies.unscored_rate.value > UNSCORED_TOLERANCE:
            yield Reason("no_usable_reply", n=replies.n_unscored, of=replies.n_questions)


def position_gain(position: Position) -> Reason:
    """The gain of the answer shown first (or last, if that gains), with its interval."""
    lower, upper = position.rate.lower - 0.5, position.rate.upper - 0.5
    if position.gain < 0:
        return Reason("last_gains", size=_points(-position.gain, -upper, -lower))
    size = _points(position.gain, lower, upper)
    return Reason("first_gains", size=size)


def _no_fault(judge: JudgeFigures, rule: PlacementRule) -> tuple[State, Reason]:
    """The state if no alarm went off, and the clause that follows the name of the judge."""
    position, correctness = judge.position, judge.correctness
    many = rule.noun[1] if rule.asks == "list" else "verdicts"
    clause = _verified(correctness) if correctness.enough else None
    verified = Reason("besides", clause=clause) if clause else ""
    if correctness.enough and correctness.prefers != "passed":
        return "unknown", Reason("passed_not_preferred", verified=verified)
    if rule.by_grades:
        return ("fine", clause) if clause else ("unknown", Reason("graded_one_by_one"))
    if not position.enough:
        return "unknown", Reason(
            "few_reviews_to_tell" if rule.reviewed else "few_verdicts_to_tell",
            many=many,
            n=position.n,
        )
    if not judge.coin_p <= ALARM:  # also for NaN, which `>` would pass over
        return "unknown", Reason(
            "coin_tosses_of_reviewers" if rule.reviewed else "coin_tosses", many=many
        )
    if position.p <= ALARM:
        return "fine", Reason(
            "slight_position_bias",
            gain=position_gain(position),
            n=position.n,
            many=many,
            verified=verified,
        )
    return "fine", Reason("no_position_bias", n=position.n, many=many, verified=verified)


def length_gain(gain: Estimate) -> Reason:
    """The gain of the longer (or shorter) answer, with its interval if it is defined."""
    if gain.value < 0:
        return Reason("shorter_gains", size=_points(-gain.value, -gain.upper, -gain.lower))
    return Reason("longer_gains", size=_points(gain.value, gain.lower, gain.upper))


def _by_order(position: Position) -> Reason:
    first, rate = position.gain > 0, position.rate.value
    if position.kind == "lists":
        share = max(rate, 1 - rate)
        return Reason(
            "lists_as_shown" if first else "lists_against_order", n=position.n, share=share
        )
    share = rate if first else 1 - rate
    return Reason("place_won", place="first" if first else "second", share=share, n=position.n)


def _points(gain: float, lower: float, upper: float) -> Reason:
    points = round(100 * gain)
    if math.isnan(lower):
        return Reason("points", n=points)
    return Reason("points_within", n=points, lower=round(100 * lower), upper=round(100 * upper))
