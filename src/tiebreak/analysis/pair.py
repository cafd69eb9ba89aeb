"""Comparison of one pair of models chosen in advance, without correction for other pairs."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from tiebreak.analysis.finding import Finding
from tiebreak.analysis.item_table import ItemTable
from tiebreak.paths import Paths
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import Estimate, paired_interval
from tiebreak.rankers.pairwise_tests import item_means, paired_p
from tiebreak.rankers.profile import FloatArray
from tiebreak.ranking_logs.log import RankedItem, RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason
from tiebreak.scorers.placement import judged_results
from tiebreak.text import count


@dataclass(frozen=True, slots=True, repr=False)
class PairComparison(Finding):
    """The comparison of two models on one benchmark under one protocol.

    `difference` is the difference of their mean normalized Borda scores, `first` minus `second`,
    over the items that rank both, in [-1, 1], with the bounds of `paired_interval`. (If people were
    asked about some pairs only, it is the difference of the two models' shares of the votes between
    them.) `p` is the two-sided p-value of a difference of 0 (`paired_p`), valid for a pair chosen
    in advance: the most different of many pairs can look different by chance. The figures are NaN
    without a common item, the bounds with fewer than two. `sentence` says which model is ahead.
    """

    benchmark: str
    protocol: str
    log: str
    eval_id: str
    first: str
    second: str
    difference: Estimate
    p: float
    level: float
    sentence: Reason

    def __str__(self) -> str:
        sizes = f"{self.difference.value:+.3f}, {count(self.difference.n_items, 'item')}"
        return f"{self.benchmark} · {self.protocol}: {self.first} - {self.second} = {sizes}"


def compare_pair(
    paths: Paths, first: str, second: str, *, level: float = 0.95
) -> list[PairComparison]:
    """Compare two models in all ranking logs in some files and folders that rank both of them.

    There is one comparison per log, benchmark and protocol, in the order of `leaderboards`; `level`
    is the confidence level of the interval, in (0, 1).

    Raises:
        RankingLogError: a path holds no ranking log.
        RankingError: both names are the same, or no log ranks both models.
    """
    if first == second:
        raise RankingError(f"a pair takes two models, got {first!r} twice")
    parts = [part for log in read_ranking_logs(paths, with_votes=False) for part in log.parts()]
    known = sorted({model for part in parts for item, _ in part.ranked for model in item.models})
    for model in (first, second):
        if model not in known:
            raise RankingError(
                f"no ranked item has the model {model!r}; there are: {', '.join(known)}"
            )
    pairs = [pair for part in parts for pair in _compared(part, first, second, level)]
    if not pairs:
        raise RankingError(f"no log ranks both {first!r} and {second!r}")
    return pairs


def _compared(log: RankingLog, first: str, second: str, level: float) -> Iterator[PairComparison]:
    table = ItemTable.of(log.ranked)
    if not {first, second} <= set(table.models):
        return
    columns = table.models.index(first), table.models.index(second)
    if log.pairs_chosen:
        gaps = leads_of_pairs(log.ranked, table.models).get(columns, np.empty(0))
    else:
        scores, rival_scores = item_means(table.borda[:, columns], table.items).T
        gaps = scores - rival_scores
    gaps = gaps[~np.isnan(gaps)]
    # Scores of a round robin in one item can leave [0, 1].
    mean = float(np.clip(gaps.mean(), -1, 1)) if gaps.size else math.nan
    difference = Estimate(mean, *paired_interval(gaps, level), len(gaps))
    p = paired_p(gaps)
    yield PairComparison(
        benchmark=log.benchmark,
        protocol=log.protocol,
        log=log.path,
        eval_id=log.eval_id,
        first=first,
        second=second,
        difference=difference,
        p=p,
        level=level,
        sentence=_sentence(first, second, difference, p, level),
    )


def leads_of_pairs(
    ranked: Sequence[RankedItem], models: Sequence[str]
) -> Mapping[tuple[int, int], FloatArray]:
    """Leads of the first model of each pair of columns, one per item with a match, in [-1, 1]."""
    column = {model: number for number, model in enumerate(models)}
    leads: dict[tuple[int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item, _ in ranked:
        for first, other, result in judged_results(item):
            for pair, lead in (((first, other), 2 * result - 1), ((other, first), 1 - 2 * result)):
                leads[column[pair[0]], column[pair[1]]][item.cluster or item.item_id].append(lead)
    return {pair: np.array([*map(fmean, by_item.values())]) for pair, by_item in leads.items()}


def _sentence(first: str, second: str, gap: Estimate, p: float, level: float) -> Reason:
    if math.isnan(p):
        return Reason("pair_without_item", first=first, second=second)
    difference, lower, upper = gap.value, gap.lower, gap.upper
    interval = Reason("interval", level=level * 100, lower=lower, upper=upper)
    figures = Reason(
        "test_of_pair", interval="" if math.isnan(lower) else interval, p=p, n_items=gap.n_items
    )
    if p > 1 - level:
        return Reason(
            "pair_not_apart", first=first, second=second, difference=difference, figures=figures
        )
    better, worse = (first, second) if difference > 0 else (second, first)
    return Reason("pair_apart", better=better, worse=worse, difference=difference, figures=figures)
