"""One set of ballots, counted by one method or by several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiebreak.rankers import (
    AGGREGATORS,
    Consensus,
    KemenyResult,
    Profile,
    RankingError,
    aggregate_items,
    consensus_by,
    kemeny_young,
    mean_rank,
)
from tiebreak.rankers.profile import FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class Election:
    """What each method makes of the same ballots.

    `consensuses` by name of the method; `failed` says why a method has none. `kemeny` is the whole
    result of Kemeny–Young, where that is one of the methods and all ballots were counted at once.
    `n_items` is the number of items that were counted one by one, None if they were not.
    """

    name: str
    source: str
    names: tuple[str, ...]
    consensuses: Mapping[str, Consensus]
    failed: Mapping[str, str]
    kemeny: KemenyResult | None
    n_items: int | None = None
    notes: tuple[str, ...] = ()


def elect(
    name: str,
    source: str,
    profile: Profile,
    methods: Sequence[str],
    *,
    items: FloatArray | None = None,
    time_limit: float | None = None,
    notes: Sequence[str] = (),
) -> Election:
    """Count ballots by some methods.

    Args:
        name: heading.
        source: where the ballots come from.
        profile: the ballots.
        methods: names in `rankers.AGGREGATORS`.
        items: the same ballots by item, shape (items, ballots, N). If given, each item has a
            consensus of its own, and the result is by the mean rank in these.
        time_limit: seconds for Kemeny–Young, and for Kendall, over all ballots.
        notes: sentences to print with the result.

    Raises:
        RankingError: no method could count these ballots.
    """
    consensuses: dict[str, Consensus] = {}
    failed: dict[str, RankingError] = {}
    kemeny = None
    for method in methods:
        try:
            if items is not None:
                means = mean_rank(aggregate_items(items, method))
                consensuses[method] = consensus_by(
                    method, means, ascending=True, used=profile.n_ballots
                )
            elif method == "kemeny_young":
                kemeny = kemeny_young(profile, time_limit=time_limit)
                consensuses[method] = consensus_by(
                    method, kemeny.ranks, ascending=True, used=profile.n_ballots
                )
            else:
                consensuses[method] = AGGREGATORS[method](profile, time_limit=time_limit)
        # Kendall, say, reads complete ballots only: without any the others still have an answer.
        except RankingError as error:
            failed[method] = error
    if not consensuses:
        first = failed[methods[0]]
        raise type(first)(f"{source}: {first}") from first
    reasons = {method: str(error) for method, error in failed.items()}
    return Election(
        name=name,
        source=source,
        names=profile.names,
        consensuses=consensuses,
        failed=reasons,
        kemeny=kemeny,
        n_items=None if items is None else len(items),
        notes=tuple(notes),
    )
