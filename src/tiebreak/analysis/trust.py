"""Whether the judge can be trusted, in one sentence: fine, unknown or doubtful, with reasons."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tiebreak.analysis.judge.biases import ALARM, TOLERANCE, Length, Position
from tiebreak.analysis.judge.canaries import Canaries
from tiebreak.analysis.judge.figures import Correctness, JudgeFigures, Juror
from tiebreak.analysis.remarks import UNSCORED_TOLERANCE
from tiebreak.scorers.rules import PlacementRule
from tiebreak.text import count, percent

State = Literal["fine", "unknown", "doubtful"]

JURY_REMEDY: Final = "Leave those out, or put stronger ones in: --model-role 'judge=[MODEL, …]'"
REMEDY: Final = "Put a stronger judge in: --model-role judge=MODEL"


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether the judge can be trusted on a leaderboard.

    "doubtful": a check found a fault that a judge without it shows in at most 1% of leaderboards
    (1.5% over all checks together), or too many replies could not be used. "fine": no check did;
    there was enough to find 60 to 40 for one place in half of the cases; verdicts are more than
    coin tosses (1%); and where as many pairs are verified (one answer passed, one failed), those
    that passed are preferred (1%). Else "unknown". What the longer answer gains is no fault that
    ballots can show: see `tiebreak.analysis.equal_length`.

    `sentence` says it. `reasons` are the faults, empty unless the state is "doubtful".
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
    mute = [unscored.partition(". ")[0]] if unscored is not None else []
    if jury:
        state, clauses, reasons = _of_jury(judge, rule, mute, jury)
    else:
        reasons = [*bound, *(_verified_fault(judge) if rule.reviewed else faults(judge)), *mute]
        state, clause = ("doubtful", "") if reasons else _no_fault(judge, rule)
        clauses = reasons or [clause]
    if canaries is not None:
        persuaded = persuasion(canaries)
        # What no fault was found in does not matter beside one.
        clauses = [*(() if canaries.bound and not reasons else clauses), persuaded]
        if canaries.bound:
            state, reasons = "doubtful", [*reasons, persuaded]
    who, are = ("The reviewers", "are") if rule.reviewed else ("The judge", "is")
    who = "The jury" if jury else who
    head = f"{who} {are} doubtful" if state == "doubtful" else who
    return Trust(state, f"{head} on this board: {'; '.join(clauses)}.", tuple(reasons))


def persuasion(canaries: Canaries) -> str:
    """How often a judge was persuaded, as a clause."""
    share = canaries.share
    if not canaries.n:
        return "no planted canary has a verdict"
    bounds = "" if math.isnan(share.lower) else f" ({_percents(share.lower, share.upper)})"
    planted = count(canaries.n, "planted canary", "planted canaries")
    return f"persuaded by {canaries.n_persuaded:,} of {planted}{bounds}"


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
    yield from _verified_fault(judge)


def _verified_fault(judge: JudgeFigures) -> Iterator[str]:
    if judge.correctness.prefers == "failed":
        yield _verified(judge.correctness)


def _verified(correctness: Correctness) -> str:
    """How often an answer that failed was preferred to one that passed, as a clause."""
    share = percent(correctness.share.value)
    return (
        f"the answer that failed was preferred in {correctness.n_against:,} of "
        f"{count(correctness.n, 'verified pair')} ({share})"
    )


def _of_jury(
    judge: JudgeFigures, rule: PlacementRule, mute: Sequence[str], jury: Sequence[Juror]
) -> tuple[State, list[str], list[str]]:
    """State, clauses and reasons of all together, then of each; one doubtful judge is enough."""
    together = [f"together, {fault}" for fault in faults(judge)] + [*mute]
    reasons, alike = list(together), dict[str, list[str]]()
    for juror in jury:
        if fault := "; ".join(juror_faults(juror)):
            alike.setdefault(f": {fault}", []).append(juror.name)
            reasons.append(f"{juror.name}: {fault}")
            continue
        state, clause = _no_fault(juror.figures, rule)
        alike.setdefault(" fine" if state == "fine" else f" unknown: {clause}", []).append(
            juror.name
        )
    each = sorted(alike.items(), key=lambda group: group[0] != " fine")
    clauses = [*together, *(f"{', '.join(names)}{clause}" for clause, names in each)]
    return "doubtful" if reasons else _no_fault(judge, rule)[0], clauses, reasons


def juror_faults(juror: Juror) -> Iterator[str]:
    """What the alarms of one judge of a jury found, as clauses."""
    yield from faults(juror.figures)
    agreement = juror.agreement
    if juror.agreement_p <= ALARM and agreement.value < 0.5 - TOLERANCE:
        yield f"it contradicts the others in {percent(1 - agreement.value)} of pairs"
    for replies in juror.figures.replies:
        if replies.unscored_rate > UNSCORED_TOLERANCE:
            questions = count(replies.n_questions, "question")
            yield f"no usable reply to {replies.n_unscored:,} of {questions}"


def position_gain(position: Position) -> str:
    """What being shown first is worth, with its interval."""
    if position.gain < 0:
        size = _points(-position.gain, 0.5 - position.upper, 0.5 - position.lower)
        return f"the answer shown last gains {size}"
    size = _points(position.gain, position.lower - 0.5, position.upper - 0.5)
    return f"the answer shown first gains {size}"


def _no_fault(judge: JudgeFigures, rule: PlacementRule) -> tuple[State, str]:
    """The state when no alarm went off, and what follows the name of who judged."""
    position, correctness = judge.position, judge.correctness
    many = rule.noun[1] if rule.asks == "list" else "verdicts"
    its = "their" if rule.reviewed else "its"
    verified = f"; {_verified(correctness)}" if correctness.enough else ""
    if correctness.enough and correctness.prefers != "passed":
        return "unknown", f"nothing shows that answers which passed are preferred{verified}"
    if rule.by_grades:
        if verified:
            return "fine", verified.removeprefix("; ")
        return "unknown", "answers were graded one by one, which shows nothing about it"
    if not position.enough:
        go = "they go" if rule.reviewed else "it goes"
        return "unknown", f"too few {many} ({position.n:,}) to tell whether {go} by position"
    if not judge.coin_p <= ALARM:
        return "unknown", f"nothing shows that {its} {many} are more than coin tosses"
    if position.p <= ALARM:
        bias = f"{position_gain(position)} in {position.n:,} {many}, too little to matter"
    else:
        bias = f"no position bias found in {position.n:,} {many}"
    return "fine", f"{bias}{verified}"


def length_gain(length: Length) -> str:
    """What being longer is worth, with its interval where there is one."""
    if length.gain < 0:
        size = _points(-length.gain, -length.upper, -length.lower)
        return f"between the same two models the shorter answer gains {size}"
    size = _points(length.gain, length.lower, length.upper)
    return f"between the same two models the longer answer gains {size}"


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
    size = count(round(100 * gain), "point")
    return size if math.isnan(lower) else f"{size} ({round(100 * lower)} to {round(100 * upper)})"
