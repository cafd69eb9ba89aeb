"""Consensus rankings of one set of ballots by one or several methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiebreak.analysis.finding import Finding, shortened
from tiebreak.progress import tracked
from tiebreak.rankers import (
    AGGREGATORS,
    Consensus,
    KemenyResult,
    RankingError,
    aggregate_items,
    consensus_by,
    kemeny_young,
    mean_rank,
)
from tiebreak.rankers.contests.expected_wins import CsdResult
from tiebreak.reason import Reason, Remark
from tiebreak.tables.ballots import BallotFile
from tiebreak.text import count


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Election(Finding):
    """Consensus rankings of the same ballots by several methods.

    `consensuses` are by name of the method; `failed` says why a method has none. `kemeny` is the
    full result of Kemeny–Young, None unless it is one of the methods and counted all ballots at
    once. `n_items` is the number of items that were counted one by one, None if they were not.
    `time_limit` is the number of seconds that each method had, None for no limit. `csd` has the
    expected wins if the ballots are benchmarks and they were asked for (`with_csd`).
    `of_benchmarks` is whether each ballot is a benchmark that orders models by score.
    """

    name: str
    source: str
    names: tuple[str, ...]
    consensuses: Mapping[str, Consensus]
    failed: Mapping[str, Remark]
    kemeny: KemenyResult | None
    n_items: int | None = None
    notes: tuple[Remark, ...] = ()
    time_limit: float | None = None
    csd: CsdResult | None = None
    of_benchmarks: bool = False

    def __str__(self) -> str:
        method, consensus = next(iter(self.consensuses.items()))
        first = [self.names[column] for column in consensus.groups[0]]
        sizes = count(len(self.names), "candidate")
        return f"{self.name}: {sizes}, first by {method}: {shortened(first)}"


def elect(
    ballots: BallotFile,
    methods: Sequence[str] = ("kemeny_young",),
    *,
    per_item: bool = False,
    time_limit: float | None = None,
) -> Election:
    """Count ballots by one or several methods.

    Args:
        ballots: one of the results of `read_ballots`, or the result of `score_ballots`.
        methods: names in `rankers.AGGREGATORS`.
        per_item: give each item a consensus of its own, and rank by the mean rank in these; by
            default, and always if the ballots are benchmarks, all ballots are counted at once.
        time_limit: seconds for each method that may take long (Kemeny–Young, Kendall, Dodgson),
            over all ballots. Then Kemeny–Young returns the best order so far, the others none.

    Raises:
        RankingError: no method could count these ballots.
    """
    profile = ballots.profile
    notes: tuple[Remark, ...] = ballots.notes
    if per_item and ballots.scores is not None:
        per_item, notes = False, (*notes, Reason("no_items"))
    items = ballots.batch()[1] if per_item else None
    consensuses: dict[str, Consensus] = {}
    failed: dict[str, RankingError] = {}
    kemeny = None
    for method in tracked(methods, "counting ballots by each method"):
        try:
            if items is not None:
                ranks = mean_rank(aggregate_items(items, method))
            elif method == "kemeny_young":
                kemeny = kemeny_young(profile, time_limit=time_limit)
                ranks = kemeny.ranks
            else:
                consensuses[method] = AGGREGATORS[method](profile, time_limit=time_limit)
                continue
            consensuses[method] = consensus_by(
                method, ranks, ascending=True, used=profile.n_ballots
            )
        # Kendall, for example, reads complete ballots only; the other methods still have results.
        except RankingError as error:
            failed[method] = error
    if not consensuses:
        first = failed[methods[0]]
        raise type(first)(f"{ballots.source}: {first}") from first
    reasons = {method: str(error) for method, error in failed.items()}
    return Election(
        name=ballots.name,
        source=ballots.source,
        names=profile.names,
        consensuses=consensuses,
        failed=reasons,
        kemeny=kemeny,
        n_items=None if items is None else len(items),
        notes=notes,
        time_limit=time_limit,
        of_benchmarks=ballots.scores is not None,
    )
