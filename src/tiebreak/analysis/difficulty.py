"""A contest within one benchmark: its items, by difficulty, are the rounds (§5.1.2)."""

from collections.abc import Sequence
from dataclasses import replace

from tiebreak.analysis.contests import ContestReport, contest_report
from tiebreak.rankers.contests.expected_wins import CsdOptions
from tiebreak.rankers.contests.rounds import tiers
from tiebreak.tables.pool_scores import ItemScores
from tiebreak.tables.rounds import Round, Rounds
from tiebreak.tables.scores import ScoreTable

NOT_OVER_ITEMS = (
    "the tiers are made of the answers that are played, and simulated intervals over other items "
    "did not hold what they said"
)


def tier_report(
    items: ItemScores,
    n_tiers: int = 10,
    *,
    eliminate: Sequence[int] | None = None,
    performance_tiers: int | None = None,
    options: CsdOptions | None = None,
) -> ContestReport:
    """The contest of `contest_report` whose rounds are tiers of items, the easiest first.

    The tiers are bands of equal width of the items' mean success rate over the models; those
    without an item are no round. A tier counts as one round, however many items are in it.

    Tiers are made of the very answers that are played. A model's own answer moves an item by 1/M of
    the scale, so that of M models the easiest of K ≥ M tiers can hold only items that all of them
    solved, where all tie. No interval over items is given: those of other contests hold less than
    they say here (`benchmarks/claims/difficulty.py`).

    Args:
        items: what `read_item_scores` returned.
        n_tiers: number of bands, the paper's by default.
        eliminate: as in `contest_report`.
        performance_tiers: as in `contest_report`.
        options: as in `contest_report`.

    Raises:
        RankingError: `n_tiers` < 1, item scores outside [0, 1]; as `contest_report`.
    """
    found = tiers(items.scores, [(n_tiers - number) / n_tiers for number in range(1, n_tiers)])
    table = ScoreTable(items.models, found.names, found.scores, notes=items.notes)
    rounds = Rounds(
        tuple(Round(name, (name,), (number,)) for number, name in enumerate(found.names)),
        source=items.benchmark,
        order_from="difficulty",
    )
    report = contest_report(
        table,
        rounds,
        eliminate=eliminate,
        performance_tiers=performance_tiers,
        options=options,
    )
    return replace(report, benchmark=items.benchmark, difficulty=found, items_reason=NOT_OVER_ITEMS)
