"""Who would be first if the same ballots were placed by another rule."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from tiebreak.analysis.standing import mean
from tiebreak.rankers import competition_ranks
from tiebreak.ranking_logs.log import placement_of
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.placement import NotPlacedError, Placement
from tiebreak.scorers.rules import RULES, fitting


def first_by_rule(
    items: Sequence[ItemBallots], models: Sequence[str]
) -> Mapping[Rule, tuple[str, ...]]:
    """The first models under every other rule that fits some items of brackets judged to the end.

    In a bracket no rule is the only sensible one: most candidates play one match or two, and what
    is made of these decides near-ties. Other ballots leave less open; of them nothing is said.

    For each rule these are whom `rank --place` puts first, several where they are equal in score
    and margin; a rule that ranks nobody has no entry.
    """
    rules = fitting(items) if items else ()
    if not any(RULES[rule].knockout for rule in rules):
        return {}
    placed_by = {item.placed_by for item in items}
    first = {rule: _first(items, rule, models) for rule in rules if rule not in placed_by}
    return {rule: leads for rule, leads in first.items() if leads}


def _first(items: Sequence[ItemBallots], rule: Rule, models: Sequence[str]) -> tuple[str, ...]:
    placements: list[Placement] = []
    for item in items:
        with suppress(NotPlacedError):
            placements.append(placement_of(item, rule))
    scores, margins = (
        [mean(row[model] for row in rows if model in row) for model in models]
        for rows in ([p.borda for p in placements], [p.margins for p in placements])
    )
    ranks = competition_ranks(scores, margins)
    return tuple(model for model, rank in zip(models, ranks, strict=True) if rank == 1)
