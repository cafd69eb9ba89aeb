"""ROUND_ROBIN: every item plays some rounds of a round robin, the next item the next rounds.

Over the items every pair of models meets equally often, in both orders of presentation. So calls
are spent on many items rather than on many pairs of few; nothing is seeded, rounds do not wait for
each other, and results do not decide who meets whom. So the scores (rule `points`) are an unbiased
estimate of those of exhaustive judging; with all rounds they are equal.

With `newcomers` only their matches are asked, to be read together with a log of the others; with a
`baseline` only matches against it, all of them, and a model's score is its win rate there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.schedule import Pair, n_rounds
from tiebreak.scorers.session import ProtocolError, Session
from tiebreak.text import Names, split_names


def check_rounds(settings: Mapping[str, Any], models: Sequence[str]) -> None:
    """Refuse an impossible number of rounds, and models that are not in the pool.

    Raises:
        ProtocolError: the message says which values are possible.
    """
    newcomers, baseline = names(settings.get("newcomers")), names(settings.get("baseline"))
    for model in (*newcomers, *baseline):
        if model not in models:
            raise ProtocolError(f"There is no model {model!r}; there are: {', '.join(models)}.")
    if newcomers and baseline:
        raise ProtocolError("newcomers and baseline do not go together: ask for one, then other.")
    if len(baseline) > 1:
        raise ProtocolError(f"There is one baseline; given: {', '.join(baseline)}.")
    if len(newcomers) == len(models):
        raise ProtocolError("All models are newcomers: leave newcomers out to judge them all.")
    rounds, most = settings.get("rounds", 1), n_rounds(len(models))
    limit = f"a round robin of {len(models)} models has 1 to {most} rounds"
    if newcomers:
        most = len(models) - 1
        limit = f"{newcomers[0]} has {most} others to meet, one in a round"
    if baseline:
        most, limit = 1, "all others meet the baseline on every item, so leave rounds out"
    if not 1 <= rounds <= most:
        raise ProtocolError(f"rounds is {rounds}: {limit}.")


def names(given: Names) -> tuple[str, ...]:
    """The names in a setting, empty for None."""
    return tuple(split_names(given)) if isinstance(given, str) else tuple(given or ())


@protocol("round_robin", placed_by="points", check=check_rounds)
async def round_robin(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    rounds: int = 1,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    newcomers: Names = None,
    baseline: str | None = None,
) -> ItemBallots:
    """Play the first `rounds` rounds of this item, all side by side.

    In a round of `newcomers` each meets one other model; a `baseline` meets all. `swap` and
    `checklist` are those of full_pairwise; `Schedule.sampled` is the round to sample if some pairs
    do not meet.
    """
    if newcomers:
        schedules = [item.schedule.against(model, item.position) for model in names(newcomers)]
        played = [pairs[:rounds] for pairs in schedules]
    elif baseline:
        played = [item.schedule.against(baseline, item.position)]
    else:
        played = list(item.schedule.of(item.position)[:rounds])
    matches = _matches(item, played)
    met = dict.fromkeys(pair for pairs in played for pair in pairs)
    if len(met) < len(item.models) * (len(item.models) - 1) // 2:
        judge.keep(scheduled=tuple(met))
    if baseline:
        judge.keep(baseline=baseline)
    twice: list[Pairing] = []
    if swap == "sample" and judge.ballots.scheduled and not (newcomers or baseline):
        swap, twice = "never", _sampled(item, matches)
    await judge.matches(matches, swap=swap, checklist=checklist, twice=twice)
    return judge.ballots


def _sampled(item: Contest, matches: Sequence[Pairing]) -> list[Pairing]:
    """The match to ask in both orders, at most one: drawn from the sampled round, if played."""
    number = 1 + item.schedule.sampled(item.position)
    drawn = [match for match in matches if match.round == number]
    return item.rng("sample").sample(drawn, min(1, len(drawn)))


def _matches(item: Contest, played: Sequence[Sequence[Pair]]) -> list[Pairing]:
    """The matches of some rounds: none between identical answers, one per pair of answers."""
    leader = {model: group[0] for group in item.groups for model in group}
    pairings: dict[Pair, Pairing] = {}
    for number, pairs in enumerate(played, start=1):
        for slot, (a, b) in enumerate(pairs):
            first, other = sorted((leader[a], leader[b]))
            if first != other:
                pairings.setdefault((first, other), Pairing(number, slot, first, other))
    return list(pairings.values())
