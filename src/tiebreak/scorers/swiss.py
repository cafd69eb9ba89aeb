"""SWISS: SEAL's judge, seeding and growing checklist, without elimination.

Elimination throws away what it learns: half of the candidates play a single match. Here all play
in every round, against one with as many points, and no two meet twice. The item's ranking is a
least-squares fit of all results (`tiebreak.scorers.rules`). For eight candidates two rounds take
one match more than a bracket.
"""

from collections import Counter
from collections.abc import Collection, Sequence

from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.bracket import Pairing
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import protocol
from tiebreak.scorers.refinement import refine as sharpen
from tiebreak.scorers.seal import seed
from tiebreak.scorers.session import Session


@protocol("swiss", placed_by="least_squares")
async def swiss(
    item: Contest,
    candidates: Sequence[str],
    judge: Session,
    *,
    rounds: int = 2,
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    refine: bool = True,
) -> ItemBallots:
    """Play a Swiss-system tournament on one item.

    There are fewer `rounds` where not all can be given a new opponent. The other settings are those
    of SEAL.
    """
    seeds = await seed(judge, tiers)
    for number in range(1, rounds + 1):
        pairs = pair_up(seeds, judge.ballots.matches)
        if not pairs:
            break
        async with judge.section(f"Round {number}", "round"):
            await judge.matches(
                [Pairing(number, slot, *pair) for slot, pair in enumerate(pairs)],
                swap=swap,
                checklist=checklist,
            )
            if refine and number < rounds:
                await sharpen(judge, number, remaining=seeds)
    return judge.ballots


def points(seeds: Sequence[str], matches: Sequence[Match]) -> dict[str, float]:
    """Points of each candidate: 1 for a win, ½ for a tie; a match without a verdict gives none."""
    total = dict.fromkeys(seeds, 0.0)
    for match in matches:
        if match.result is not None:
            total[match.high] += match.result
            total[match.low] += 1 - match.result
    return total


def pair_up(seeds: Sequence[str], matches: Sequence[Match]) -> list[tuple[str, str]]:
    """The pairs of the next round, the better seed first; none when not all can find a new one.

    In the first round the best seed meets the last, as in a bracket. Later the candidates stand in
    the order of their points, then of their seeds, and each meets the next one below that it has
    not met. With an odd number the middle seed sits out first, then the lowest of those that have
    played most.
    """
    if not matches:
        half = len(seeds) // 2
        return list(zip(seeds[:half], reversed(seeds), strict=False))
    score = points(seeds, matches)
    seed_of = {name: number for number, name in enumerate(seeds)}
    met = {frozenset((match.high, match.low)) for match in matches}
    table = sorted(seeds, key=lambda name: (-score[name], seed_of[name]))
    for waiting in _benches(table, matches):
        pairs = _pairs([name for name in table if name != waiting], met)
        if pairs is not None:
            return [(a, b) if seed_of[a] < seed_of[b] else (b, a) for a, b in pairs]
    return []


def _benches(table: Sequence[str], matches: Sequence[Match]) -> list[str | None]:
    """Who may sit out, the first choice first; only None with an even number."""
    if len(table) % 2 == 0:
        return [None]
    played = Counter(name for match in matches for name in (match.high, match.low))
    from_below = list(reversed(table))
    return [*sorted(from_below, key=lambda name: -played[name])]


def _pairs(table: Sequence[str], met: Collection[frozenset[str]]) -> list[tuple[str, str]] | None:
    """Pair off neighbours that have not met; None when that leaves one over."""
    if not table:
        return []
    first, *below = table
    for second in below:
        if frozenset((first, second)) not in met:
            rest = _pairs([name for name in below if name != second], met)
            if rest is not None:
                return [(first, second), *rest]
    return None
