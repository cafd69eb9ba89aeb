"""Do models rank models as people do? Peer review, §3.4, §4.1 and §4.3, tables 1 and 2, figure 4.

Raters are compared with a human ranking: every reviewer, every aggregator of their ballots, the
four views SR, PR, SIA and SFA, and the benchmark's own score. Each gives ranks of shape (rows, N
models), a row for every item:

    micro    the correlation in each row, and how it is distributed over the rows (table 1)
    macro    one correlation, of the models' mean ranks over all rows (table 2)
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import get_args

import numpy as np

from tiebreak.analysis.alignment.correlations import Rater, correlate
from tiebreak.analysis.alignment.raters import Ratings, Scores, consensus_method, ratings
from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.peers.panel import Panel, read_panels
from tiebreak.analysis.peers.ranking import KEMENY
from tiebreak.analysis.peers.review import PeerReport
from tiebreak.analysis.remarks import lone_reviewer
from tiebreak.candidates import namesakes
from tiebreak.paths import Paths
from tiebreak.rankers.errors import RankingError
from tiebreak.rankers.intervals import ItemDraws
from tiebreak.rankers.profile import FloatArray, within_ballots
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.tables.human import HumanRanking, read_human_ranking
from tiebreak.words import count

FEWEST_MODELS = 3
"""With two models every correlation is 1, −1 or undefined."""

_FEW_MODELS = 4


@dataclass(frozen=True, eq=False, slots=True)
class BenchmarkAlignment:
    """The raters of one panel against people.

    `models` are the N that people ranked, too; `human_names` and `human_ranks` are their names in
    the human ranking and their mean ranks in it, 1 = best. `item_ids` names the rows; with epochs
    an item has several. `warnings` say why the figures of the aggregators are no panel's.
    """

    benchmark: str
    log: str
    models: tuple[str, ...]
    human_names: tuple[str, ...]
    human_ranks: tuple[float, ...]
    n_candidates: int
    item_ids: tuple[str, ...]
    n_items: int
    raters: tuple[Rater, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Alignment(Finding):
    """All panels against one human ranking, read from `source`.

    `consensus` is the method by which the views SIA and SFA are made, `scores` what Pearson
    correlates item by item.
    """

    source: str
    benchmarks: tuple[BenchmarkAlignment, ...]
    level: float
    draws: int
    seed: int
    notes: tuple[str, ...]
    consensus: str = KEMENY
    scores: Scores = "order"

    def __str__(self) -> str:
        names = shortened([one.benchmark for one in self.benchmarks])
        return f"{names} against {self.source}"


def align(
    reviews: PeerReport | Paths,
    human: HumanRanking | str | PathLike[str],
    *,
    methods: Sequence[str] | None = None,
    scores: Scores = "order",
    how: Resampling = Resampling(),
) -> Alignment:
    """Compare each peer review with the human ranking of its benchmark.

    Both sides are ranks of the models that both hold: other models are taken out first, and a human
    score counts by its order only. Item by item the order counts that a rater gives. For `average`
    the paper correlates the mean ranks themselves: its Pearson's 0.968 (table 1) is none that an
    order of six models can give, with ties or without. `scores="mean-rank"` does so for what is a
    mean of ranks, that is `average`, SR and PR. In the macro figures the means over items of these
    ranks are correlated, for all raters alike; the benchmark's own score by its mean.

    A ballot that ranks n of the N models is a sample of the whole ranking: in the mean, its rank r
    counts as r · (N + 1) / (n + 1), as in Spearman aggregation. The views SR and PR are the ranks
    in whole ballots as they are, 1 … n. SR of two models are places in two reviewers' ballots, so
    that several may be first.

    Intervals are over items. The human ranking counts as exact, and the models as given.

    Args:
        reviews: what `peer_report` returned; or ranking logs, and folders that hold some.
        human: the ranking by people, or its CSV file (see `read_human_ranking`).
        methods: aggregators, names in `AGGREGATORS`; by default all, but Dodgson only where it
            is a matter of seconds. The views SIA and SFA are by the first, by default Kemeny–Young.
        scores: what Pearson's correlation is of item by item: everybody's order, or for `average`,
            SR and PR the mean ranks themselves. Kendall's is of orders anyway.
        how: level, draws and seed of the intervals.

    Raises:
        RankingLogError: a path holds no ranking log, or none of a peer review.
        TableError: the ranking by people cannot be read.
        AnalysisError: no benchmark has three models that people ranked and do not all tie, or it
            is not clear which model a name in the human ranking means.
        RankingError: level or draws are out of range, or there are no such scores.
    """
    people = human if isinstance(human, HumanRanking) else read_human_ranking(Path(human))
    if isinstance(reviews, PeerReport):
        panels = [review.panel for review in reviews.reviews]
    else:
        panels = read_panels(reviews)
    return align_panels(panels, people, methods=methods, scores=scores, how=how)


def align_panels(
    panels: Iterable[Panel],
    human: HumanRanking,
    *,
    methods: Sequence[str] | None = None,
    scores: Scores = "order",
    how: Resampling = Resampling(),
) -> Alignment:
    """Compare panels that were read already; as `align`."""
    if scores not in get_args(Scores):
        raise RankingError(f"scores must be 'order' or 'mean-rank', got {scores!r}")
    panels, found, notes = list(panels), [], list(human.notes)
    for panel in panels:
        names = match_names(list(human.of(panel.benchmark)), panel.models)
        people = _ranks(panel, human, names)
        if lacking := _no_order(panel, human, people):
            notes.append(lacking)
        else:
            draws = ItemDraws(len(panel.items), panel.items, how=how)
            columns = [number for number, model in enumerate(panel.models) if model in names]
            rated = ratings(panel, columns, methods, scores)
            found.append(_compare(panel, human, names, people, rated, draws))
    if not found:
        raise AnalysisError("\n".join(notes) or "There is no peer review to compare")
    benchmarks = {panel.benchmark for panel in panels}
    if unused := [name for name in human.ranks if name and name not in benchmarks]:
        notes.append(f"No peer review of {', '.join(unused)}, which {human.source} ranks models on")
    return Alignment(
        *(human.source, tuple(found), how.level, how.draws, how.seed, tuple(notes)),
        consensus=consensus_method(methods),
        scores=scores,
    )


def _ranks(panel: Panel, human: HumanRanking, names: Mapping[str, str]) -> FloatArray:
    """The human ranks of the models that people ranked, in the panel's order."""
    scores = human.of(panel.benchmark)
    own = [scores[names[model]] for model in panel.models if model in names]
    return within_ballots(np.array(own, np.float64))


def _no_order(panel: Panel, human: HumanRanking, people: FloatArray) -> str | None:
    """Why there is nothing to compare with: people ranked too few models, or all alike."""
    if len(people) < FEWEST_MODELS:
        return (
            f"{panel.benchmark}: {human.source} ranks {count(len(people), 'candidate')} out of "
            f"{len(panel.models)}, and a comparison takes {FEWEST_MODELS}. The candidates are "
            f"{', '.join(panel.models)}; the file has "
            f"{', '.join(human.of(panel.benchmark)) or 'no model'} for this benchmark"
        )
    if np.all(people == people[0]):
        return (
            f"{panel.benchmark}: {human.source} ties all {len(people)} candidates that it ranks: "
            "there is no order to agree with"
        )
    return None


def _compare(
    panel: Panel,
    human: HumanRanking,
    names: Mapping[str, str],
    people: FloatArray,
    rated: tuple[Sequence[Ratings], Sequence[str]],
    draws: ItemDraws,
) -> BenchmarkAlignment:
    found, remarks = rated
    models = tuple(model for model in panel.models if model in names)
    return BenchmarkAlignment(
        benchmark=panel.benchmark,
        log=panel.log,
        models=models,
        human_names=tuple(names[model] for model in models),
        human_ranks=tuple(people.tolist()),
        n_candidates=len(panel.models),
        item_ids=panel.item_ids,
        n_items=len(set(panel.item_ids)),
        raters=correlate(found, people, draws),
        notes=(*panel.notes, *_notes(panel, human.of(panel.benchmark), names), *remarks),
        warnings=tuple(filter(None, [lone_reviewer(panel.ballots)])),
    )


def _notes(panel: Panel, human: Iterable[str], names: Mapping[str, str]) -> Iterator[str]:
    if unranked := [model for model in panel.models if model not in names]:
        yield f"Left out, since people did not rank them: {', '.join(unranked)}"
    if strangers := [name for name in human if name not in names.values()]:
        yield f"Ranked by people, but no candidates: {', '.join(strangers)}"
    if len(names) <= _FEW_MODELS:
        yield (
            f"With {len(names)} models, 1 of {math.factorial(len(names))} random orders agrees "
            "fully with people"
        )
    if panel.degree is not None:
        yield (
            f"Reviewers saw {panel.degree} answers each: their own correlations are of these only"
        )


def match_names(names: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Which model goes by which name in a human ranking.

    They are the same, or one is the other without what stands before a slash: openai/gpt-5 and
    gpt-5. Who has a namesake is not looked for under another name.

    Returns:
        From models to names; those without a counterpart are left out.

    Raises:
        AnalysisError: a name fits several models, or several names fit one.
    """
    found = {model: model for model in models if model in set(names)}
    fits: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in names if name not in found):
        close = namesakes(name, (model for model in models if model not in found))
        if len(close) > 1:
            raise AnalysisError(
                f"{name!r} in the human ranking could be {' or '.join(map(repr, close))}; write "
                "the model's whole name"
            )
        for model in close:
            fits[model].append(name)
    for model, several in fits.items():
        if len(several) > 1:
            raise AnalysisError(
                f"In the human ranking {' and '.join(map(repr, several))} could both be {model!r}; "
                "keep one of them, or write the model's whole name"
            )
        found[model] = several[0]
    return found
