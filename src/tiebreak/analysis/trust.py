"""Whether the judge can be trusted, in one sentence: fine, unknown or doubtful, with reasons."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tiebreak.analysis.judge.biases import ALARM, TOLERANCE, Length, Position
from tiebreak.analysis.judge.canaries import Canaries
from tiebreak.analysis.judge.figures import JudgeFigures, Juror
from tiebreak.analysis.remarks import UNSCORED_TOLERANCE
from tiebreak.scorers.rules import PlacementRule
from tiebreak.words import count, percent

State = Literal["fine", "unknown", "doubtful"]

JURY_REMEDY: Final = "Leave those out, or put stronger ones in: --model-role 'judge=[MODEL, …]'"
REMEDY: Final = "Put a stronger judge in: --model-role judge=MODEL"


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether the judge of a leaderboard can be trusted.

    "doubtful": a check found a fault that a judge without it shows in at most 1% of leaderboards
    (a taste for length also where longer answers are the better ones within an item: no ballot can
    tell), or too many replies could not be used. "fine": no check did, there was enough to find 60
    to 40 for one place in half of the cases, and verdicts are more than coin tosses (1%). Else
    "unknown".

    `sentence` says it. `reasons` are what was found, empty unless the state is "doubtful".
    """

    state: State
    sentence: str
    reasons: tuple[str, ...] = ()


def trust_of(
    judge: JudgeFigures,
    rule: PlacementRule,
    *,
    unscored: str | None,
    bound: Sequence[str] = (),
    jury: Sequence[Juror] = (),
    canaries: Canaries | None = None,
) -> Trust:
    """What the checks of a judge come to.

    `unscored` is the warning of too many unusable replies. In peer review `bound` are the reviewers
    who follow the order shown; of a jury `judge` is all of its judges together.
    """
    if rule.asks is None:
        return Trust("unknown", "There is no judge: models are ranked by their native scores.")
    if jury:
        found = _jury_trust(judge, rule, unscored, jury)
    else:
        found = _own_trust(judge, rule, unscored, bound)
    return found if canaries is None else _persuaded(found, canaries)


def _persuaded(found: Trust, canaries: Canaries) -> Trust:
    """The same, with what canaries show at its end."""
    says = persuasion(canaries)
    sentence = f"{found.sentence.removesuffix('.')}; {says}."
    if not canaries.bound:
        return Trust(found.state, sentence, found.reasons)
    if found.state != "doubtful":
        # What no fault was found in does not matter now.
        who = found.sentence.partition(":")[0]
        sentence = f"{who} {'are' if who.endswith('s') else 'is'} doubtful: {says}."
    return Trust("doubtful", sentence, (*found.reasons, says))


def persuasion(canaries: Canaries) -> str:
    """How often a judge was persuaded, as a clause."""
    share = canaries.share
    if not canaries.n:
        return "no planted canary has a verdict"
    bounds = "" if math.isnan(share.lower) else f" ({_percents(share.lower, share.upper)})"
    planted = count(canaries.n, "planted canary", "planted canaries")
    return f"persuaded by {canaries.n_persuaded:,} of {planted}{bounds}"


def _own_trust(
    judge: JudgeFigures, rule: PlacementRule, unscored: str | None, bound: Sequence[str]
) -> Trust:
    """What one judge, or the reviewers of a peer review, come to."""
    who, are = ("The reviewers", "are") if rule.reviewed else ("The judge", "is")
    reasons = [*bound, *(() if rule.reviewed else faults(judge))]
    if unscored is not None:
        reasons.append(unscored.partition(". ")[0])
    if reasons:
        return Trust("doubtful", f"{who} {are} doubtful: {'; '.join(reasons)}.", tuple(reasons))
    state, what = _no_fault(judge, rule)
    return Trust(state, f"{who}: {what}.")


def faults(judge: JudgeFigures) -> Iterator[str]:
    """What the alarms of one judge found, as clauses."""
    position, flips = judge.position, judge.flips
    if position.bound:
        yield _by_order(position)
    elif flips.p <= ALARM and abs(position.gain) >= TOLERANCE:
        most, place = max((flips.both_first, "first"), (flips.both_second, "second"))
        yield (
            f"of {count(flips.n_flipped, 'match', 'matches')} that it decided otherwise in the "
            f"other order, {most:,} went to the answer shown {place} both times"
        )
    if judge.length.bound:
        yield f"{length_gain(judge.length)}: it goes by length, or these answers are better"


def _jury_trust(
    judge: JudgeFigures, rule: PlacementRule, unscored: str | None, jury: Sequence[Juror]
) -> Trust:
    """What a jury comes to: all together, then each; one doubtful judge makes it doubtful."""
    together = [f"together, {fault}" for fault in faults(judge)]
    if unscored is not None:
        together.append(unscored.partition(". ")[0])
    reasons, said = list(together), dict[str, list[str]]()
    for juror in jury:
        if own := "; ".join(juror_faults(juror)):
            said.setdefault(f" doubtful: {own}", []).append(juror.name)
            reasons.append(f"{juror.name}: {own}")
            continue
        state, what = _no_fault(juror.figures, rule)
        said.setdefault(" fine" if state == "fine" else f" unknown: {what}", []).append(juror.name)
    each = sorted(said.items(), key=lambda one: one[0] != " fine")
    parts = [*together, *(f"{', '.join(names)}{what}" for what, names in each)]
    overall: State = "doubtful" if reasons else _no_fault(judge, rule)[0]
    return Trust(overall, f"The jury: {'; '.join(parts)}.", tuple(reasons))


def juror_faults(juror: Juror) -> Iterator[str]:
    """What the alarms of one judge of a jury found, as clauses."""
    yield from faults(juror.figures)
    agreement = juror.agreement
    if juror.agreement_p <= ALARM and agreement.value < 0.5 - TOLERANCE:
        yield f"it contradicts the others in {percent(1 - agreement.value)} of pairs"
    for one in juror.figures.replies:
        if one.unscored_rate > UNSCORED_TOLERANCE:
            questions = count(one.n_questions, "question")
            yield f"no usable reply to {one.n_unscored:,} of {questions}"


def position_gain(position: Position) -> str:
    """What being shown first is worth, with its interval."""
    place, points = "first", _points(position.gain, position.lower - 0.5, position.upper - 0.5)
    if position.gain < 0:
        place, points = "last", _points(-position.gain, 0.5 - position.upper, 0.5 - position.lower)
    return f"the answer shown {place} gains {points}"


def length_gain(length: Length) -> str:
    """What being longer is worth, with its interval where there is one."""
    size, points = "longer", _points(length.gain, length.lower, length.upper)
    if length.gain < 0:
        size, points = "shorter", _points(-length.gain, -length.upper, -length.lower)
    return f"between the same two models the {size} answer gains {points}"


def _no_fault(judge: JudgeFigures, rule: PlacementRule) -> tuple[State, str]:
    """The state when no alarm went off, and what follows the name of who judged."""
    position = judge.position
    if rule.by_grades:
        return "unknown", "answers were graded one by one, which shows nothing about it"
    many = rule.noun[1] if rule.asks == "list" else "verdicts"
    its = "their" if rule.reviewed else "its"
    if not position.enough:
        go = "they go" if rule.reviewed else "it goes"
        return "unknown", f"too few {many} ({position.n:,}) to tell whether {go} by position"
    if not judge.coin_p <= ALARM:
        return "unknown", f"nothing shows that {its} {many} are more than coin tosses"
    if position.p <= ALARM:
        return "fine", f"{position_gain(position)} in {position.n:,} {many}, too little to matter"
    return "fine", f"no taste for a position found in {position.n:,} {many}"


def _by_order(position: Position) -> str:
    if position.kind == "lists":
        order = "as they were shown" if position.gain > 0 else "against the order shown"
        share = percent(max(position.rate, 1 - position.rate))
        return f"in {count(position.n, 'list')} it ranked {share} of pairs of answers {order}"
    place, rate = ("first", position.rate) if position.gain > 0 else ("second", 1 - position.rate)
    return f"the answer shown {place} won {percent(rate)} of {count(position.n, 'verdict')}"


def _percents(lower: float, upper: float) -> str:
    """Bounds of a share: 2–20%."""
    return f"{100 * lower:.0f}–{100 * upper:.0f}%"


def _points(gain: float, lower: float, upper: float) -> str:
    """A gain in percentage points, with its interval where there is one."""
    points = count(round(100 * gain), "point")
    return (
        points if math.isnan(lower) else f"{points} ({round(100 * lower)} to {round(100 * upper)})"
    )
