"""Do models rank models as people do? Peer review, §3.4, §4.1 and §4.3, tables 1 and 2, figure 4.

Raters are compared with a human ranking: the board of a judge or a jury; in a peer review every
reviewer, every aggregator of their ballots and the four views SR, PR, SIA and SFA; and the
benchmark's own score. Each gives ranks of shape (rows, N models), a row for every item:

    micro    the correlation in each row, and its distribution over the rows (table 1)
    macro    one correlation, of the models' mean ranks over all rows (table 2)
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.judged import BoardOrder, Judged, JudgedBoard, board_order, judged_among
from tiebreak.analysis.peers.panel import Panel
from tiebreak.analysis.peers.review import KEMENY, PeerReport
from tiebreak.analysis.peers.self_preference import no_self_rank
from tiebreak.analysis.remarks import lone_reviewer
from tiebreak.candidates import namesakes
from tiebreak.paths import Paths
from tiebreak.rankers import AGGREGATORS, aggregate_items
from tiebreak.rankers.agreement import kendall_tau_many, pearson_many, spearman_many
from tiebreak.rankers.consensus import comparing, mean_rank
from tiebreak.rankers.errors import RankingError, UnprovenOrderError
from tiebreak.rankers.intervals import Estimate, ItemDraws
from tiebreak.rankers.profile import FloatArray, ratio, within_ballots
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.reviewers import own_and_peers
from tiebreak.rankers.stability import hull
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.tables.human import HumanRanking, read_human_ranking

RaterKind = Literal["board", "reviewer", "aggregator", "view", "native"]


@dataclass(frozen=True, eq=False, slots=True)
class Correlation:
    """A rater's correlation with the human ranking, in [-1, 1], row by row and over all rows.

    `values`, shape (rows,), are the correlations in the rows: NaN if the rater ranks fewer than
    two of the models (no usable reply, identical answers), or ties all. The other figures describe
    the `n_rows` defined values (`n_undefined` are not): `mean` with its interval, `sd` (divided by
    n − 1), and quantiles, linearly interpolated. `macro` is the correlation of the mean ranks.
    """

    values: FloatArray
    n_rows: int
    n_undefined: int
    mean: Estimate
    sd: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    macro: Estimate


@dataclass(frozen=True, eq=False, slots=True)
class Rater:
    """A source of ranks: board, reviewer, aggregator, view, or `native`, the benchmark's score.

    The views are SR, PR, SIA and SFA: see `rankers.reviewers`.
    `pearson` correlates ranks (without ties: Spearman's ρ), or mean ranks if they are asked for;
    `kendall` is τ-b.
    """

    kind: RaterKind
    name: str
    pearson: Correlation
    kendall: Correlation


Scores = Literal["order", "mean-rank"]
"""Values that Pearson correlates item by item: a rater's order, or its mean ranks if it has any."""


@dataclass(frozen=True, eq=False, slots=True)
class Ratings:
    """A rater's ranks of N models in every row; arrays of shape (rows, N).

    Lower is better, equal is tied, NaN is not ranked. Of `ranks` only the order within a row
    matters, unless `as_given`: then Pearson correlates the ranks themselves. `amounts` are the
    values averaged over rows for the macro figures.
    """

    kind: RaterKind
    name: str
    ranks: FloatArray
    amounts: FloatArray
    as_given: bool = False


FEWEST_MODELS = 3
"""With two models every correlation is 1, −1 or undefined."""

# With so few models even random orders often agree with people, which a note says.
_FEW_MODELS = 4


@dataclass(frozen=True, eq=False, slots=True)
class BenchmarkAlignment:
    """The raters of one panel, or one board and its native scores, compared with people.

    `models` are the N models that people ranked as well; `human_names` and `human_ranks` are their
    names and mean ranks in the human ranking, 1 = best. `item_ids` names the rows; with epochs an
    item has several. `warnings` say that a single reviewer is behind the aggregators. `order` is
    None for a panel.
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
    notes: tuple[Remark, ...]
    warnings: tuple[Reason, ...] = ()
    order: BoardOrder | None = None


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Alignment(Finding):
    """All panels and boards compared with one human ranking, read from `source`.

    `consensus` is the method behind the views SIA and SFA, `scores` the values that Pearson
    correlates item by item.
    """

    source: str
    benchmarks: tuple[BenchmarkAlignment, ...]
    how: Resampling
    notes: tuple[Remark, ...]
    consensus: str = KEMENY
    scores: Scores = "order"

    def __str__(self) -> str:
        names = shortened([benchmark.benchmark for benchmark in self.benchmarks])
        return f"{names} against {self.source}"


def align(
    boards: PeerReport | Paths,
    human: HumanRanking | str | PathLike[str],
    *,
    methods: Sequence[str] | None = None,
    scores: Scores = "order",
    how: Resampling = Resampling(),
) -> Alignment:
    """Compare each board, and each peer review, with the human ranking of its benchmark.

    Both sides are ranks of the models that both have: other models are removed first, and only the
    order of human scores counts. In micro figures the rater's order in the item counts. For
    `average` the paper correlates the mean ranks themselves: no order of six models, with ties or
    without, gives its Pearson's 0.968 (table 1). `scores="mean-rank"` does so for all means of
    ranks, i.e. `average`, SR and PR. Macro figures correlate the means over items of these ranks
    for all raters alike; the benchmark's own score counts by its mean.

    A ballot that ranks n of the N models is a sample of the whole ranking: in the mean, its rank r
    counts as r · (N + 1) / (n + 1), as in Spearman aggregation. The views SR and PR are the
    unchanged ranks in whole ballots, 1 … n. SR of two models are places in two reviewers' ballots,
    so several models can be first.

    Intervals are over items. The human ranking is taken as exact, and the models as fixed.

    Args:
        boards: ranking logs of any protocol, and folders that hold some; or the result of
            `peer_report`.
        human: the ranking by people, or its CSV file (see `read_human_ranking`).
        methods: aggregators, names in `AGGREGATORS`; by default all, but Dodgson only if it takes
            just seconds. The views SIA and SFA are by the first, by default Kemeny–Young.
        scores: values that Pearson correlates item by item: the order of every rater, or for
            `average`, SR and PR the mean ranks themselves. Kendall always correlates orders.
        how: level, draws and seed of the intervals.

    Raises:
        RankingLogError: a path holds no ranking log.
        TableError: the ranking by people cannot be read.
        AnalysisError: no benchmark has three models that people ranked and do not all tie, or it
            is ambiguous which model a name in the human ranking means.
        RankingError: level or draws are out of range, or `scores` is unknown.
    """
    people = human if isinstance(human, HumanRanking) else read_human_ranking(Path(human))
    if isinstance(boards, PeerReport):
        judged: list[Judged] = [review.panel for review in boards.reviews]
    else:
        judged = judged_among(read_ranking_logs(boards, with_votes=False))
    return align_panels(judged, people, methods=methods, scores=scores, how=how)


def align_panels(
    panels: Iterable[Judged],
    human: HumanRanking,
    *,
    methods: Sequence[str] | None = None,
    scores: Scores = "order",
    how: Resampling = Resampling(),
) -> Alignment:
    """Compare panels and boards that were read already, as `align` does."""
    if scores not in get_args(Scores):
        raise RankingError(f"scores must be 'order' or 'mean-rank', got {scores!r}")
    panels, aligned, notes = list(panels), [], list[Remark](human.notes)
    for panel in panels:
        scores_of = human.of(panel.benchmark)
        names = match_names(list(scores_of), panel.models)
        by_people = [scores_of[names[model]] for model in panel.models if model in names]
        people = within_ballots(np.array(by_people, np.float64))
        if lacking := _no_order(panel, human, people):
            notes.append(lacking)
        else:
            draws = ItemDraws(len(panel.item_ids), panel.items, how=how)
            columns = [number for number, model in enumerate(panel.models) if model in names]
            rated = ratings(panel, columns, methods, scores)
            aligned.append(_compare(panel, human, names, people, rated, draws))
    if not aligned:
        raise AnalysisError("\n".join(map(str, notes)) or "There is no board to compare")
    benchmarks = {panel.benchmark for panel in panels}
    if unused := [name for name in human.ranks if name and name not in benchmarks]:
        notes.append(Reason("no_board", benchmarks=unused, source=human.source))
    return Alignment(
        source=human.source,
        benchmarks=tuple(aligned),
        how=how,
        notes=tuple(notes),
        consensus=consensus_method(methods),
        scores=scores,
    )


def _no_order(panel: Judged, human: HumanRanking, people: FloatArray) -> Reason | None:
    """Why a board cannot be compared: no ranked item, or people rank too few models or tie all."""
    if not panel.models:
        lines = (Reason("no_item_ranked", name=panel.log), *panel.notes)
        return Reason("lines", lines=lines)
    if len(people) < FEWEST_MODELS:
        return Reason(
            "few_ranked_models",
            benchmark=panel.benchmark,
            source=human.source,
            n=len(people),
            of=len(panel.models),
            least=FEWEST_MODELS,
            models=panel.models,
            names=tuple(human.of(panel.benchmark)) or Reason("no_model"),
        )
    if np.all(people == people[0]):
        return Reason(
            "people_tie_all", benchmark=panel.benchmark, source=human.source, n=len(people)
        )
    return None


def _compare(
    panel: Judged,
    human: HumanRanking,
    names: Mapping[str, str],
    people: FloatArray,
    rated: tuple[Sequence[Ratings], Sequence[Remark]],
    draws: ItemDraws,
) -> BenchmarkAlignment:
    raters, remarks = rated
    models = tuple(model for model in panel.models if model in names)
    ballots = panel.ballots if isinstance(panel, Panel) else ()
    return BenchmarkAlignment(
        benchmark=panel.benchmark,
        log=panel.log,
        models=models,
        human_names=tuple(names[model] for model in models),
        human_ranks=tuple(people.tolist()),
        n_candidates=len(panel.models),
        item_ids=panel.item_ids,
        n_items=len(set(panel.item_ids)),
        raters=correlate(raters, people, draws),
        notes=(*panel.notes, *_notes(panel, human.of(panel.benchmark), names), *remarks),
        warnings=tuple(filter(None, [lone_reviewer(ballots)])),
        order=(
            board_order(
                -raters[0].amounts, people, models, items=panel.items, level=draws.how.level
            )
            if isinstance(panel, JudgedBoard)
            else None
        ),
    )


def _notes(panel: Judged, human: Iterable[str], names: Mapping[str, str]) -> Iterator[Reason]:
    if unranked := [model for model in panel.models if model not in names]:
        yield Reason("unranked_by_people", models=unranked)
    if strangers := [name for name in human if name not in names.values()]:
        yield Reason("no_candidates", models=strangers)
    if len(names) <= _FEW_MODELS:
        yield Reason("agreement_by_chance", n=len(names), orders=math.factorial(len(names)))
    if isinstance(panel, Panel) and panel.degree is not None:
        yield Reason("sparse_reviewers", degree=panel.degree)


def match_names(names: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Match models with their names in a human ranking.

    The two are equal, or differ only by a prefix up to a slash: openai/gpt-5 and gpt-5. A model
    whose exact name is in the ranking is not matched with another name.

    Returns:
        Names by model; models and names without a counterpart are left out.

    Raises:
        AnalysisError: a name fits several models, or several names fit one.
    """
    matched = {model: model for model in models if model in set(names)}
    fits: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in names if name not in matched):
        close = namesakes(name, (model for model in models if model not in matched))
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
        matched[model] = several[0]
    return matched


# Most rows × models² for Dodgson's rule, an integer program per row and model: about 8 seconds.
_DODGSON_LIMIT = 6_000


def ratings(
    panel: Judged, columns: Sequence[int], methods: Sequence[str] | None, scores: Scores = "order"
) -> tuple[list[Ratings], list[Reason]]:
    """All raters of a panel, or a board and the native scores, and notes on missing ones.

    Aggregators and views count whole ballots; models outside `columns`, the N asked for, are
    removed afterwards. Without `methods` all aggregators are used, but Dodgson only if it is quick.
    The views SIA and SFA are by `consensus_method`. With "mean-rank" `average`, SR and PR are
    `as_given`.
    """
    raters: list[Ratings] = []
    notes: list[Reason] = []
    if isinstance(panel, JudgedBoard):
        by_item, amounts = -panel.borda[:, columns], -panel.scores[:, columns]
        raters.append(Ratings("board", panel.name, by_item, amounts))
    elif panel.reviewers:
        for number, reviewer in enumerate(panel.reviewers):
            ranks = within_ballots(panel.ranks[:, number])
            raters.append(_ranked("reviewer", reviewer.name, ranks, columns))
        by = consensus_method(methods)
        chosen, remarks = _methods(panel, methods)
        merged, failed = _merged(panel, columns, chosen, by, as_given=scores == "mean-rank")
        raters += merged
        notes += [*remarks, *failed]
        for rater in merged:
            notes += _left_open(panel, columns, rater, by)
    else:
        notes.append(Reason("no_reviewer_called"))
    native = panel.native[:, columns]
    if np.isnan(native).all():
        notes.append(Reason("no_native_scores"))
    else:
        raters.append(Ratings("native", "native score", -native, -native))
    return raters, [*notes, *_raters_without_ranks(raters)]


def consensus_method(methods: Sequence[str] | None) -> str:
    """The method of the views SIA and SFA: the first of `methods`, by default Kemeny–Young."""
    return methods[0] if methods else KEMENY


def _methods(panel: Panel, methods: Sequence[str] | None) -> tuple[Sequence[str], list[Reason]]:
    if methods is not None:
        return methods, []
    if len(panel.items) * len(panel.models) ** 2 <= _DODGSON_LIMIT:
        return sorted(AGGREGATORS), []
    return [name for name in sorted(AGGREGATORS) if not AGGREGATORS[name].slow], [
        Reason("slow_dodgson", n_items=len(panel.items), n_models=len(panel.models))
    ]


def _merged(
    panel: Panel, columns: Sequence[int], methods: Sequence[str], by: str, *, as_given: bool
) -> tuple[list[Ratings], list[Reason]]:
    """Aggregators, then the views SR, PR, SIA and SFA; and reasons for those without a result.

    SR and PR are mean ranks in whole ballots, see `own_and_peers`. With `as_given` so is `average`
    instead of the order of its mean ranks.
    """
    self_ranks, peers = own_and_peers(panel.ranks, panel.own)

    def mean_ranks(kind: RaterKind, name: str, ranks: FloatArray) -> Ratings:
        means = mean_rank(ranks, axis=1)[:, columns]
        return Ratings(kind, name, means, means, as_given)

    consensus, failed = {}, []
    for name, method, ballots in (*((m, m, panel.ranks) for m in methods), ("SFA", by, peers)):
        try:
            consensus[name] = aggregate_items(ballots, method)
        except UnprovenOrderError as error:
            failed.append(Reason("no_result", name=name, error=str(error)))
    raters = [
        mean_ranks("aggregator", method, np.fmax(self_ranks, peers))
        if as_given and method == "average"
        else _ranked("aggregator", method, consensus[method], columns)
        for method in methods
        if method in consensus
    ]
    raters += [mean_ranks("view", "SR", self_ranks), mean_ranks("view", "PR", peers)]
    for name, source in (("SIA", by), ("SFA", "SFA")):
        if source in consensus:
            raters.append(_ranked("view", name, consensus[source], columns))
    if by not in consensus:
        failed.append(Reason("no_sia", method=by))
    return raters, failed


def _ranked(kind: RaterKind, name: str, ranks: FloatArray, columns: Sequence[int]) -> Ratings:
    """Ranks among `columns`; `amounts` rescale ranks of n models to the expected rank among N."""
    asked = ranks[:, columns]
    # All columns keep their ranks: re-ranking would turn a mean of two optimal orders into one.
    among = comparing(asked if len(columns) == ranks.shape[1] else within_ballots(asked))
    n = np.sum(~np.isnan(among), axis=1, keepdims=True)
    return Ratings(kind, name, among, among * (len(columns) + 1) / (n + 1))


def _left_open(panel: Panel, columns: Sequence[int], rater: Ratings, by: str) -> Iterator[Reason]:
    """Notes on models that a view never ranks, and on items in which SR lacks some models."""
    if rater.kind != "view":
        return
    nobody = {
        "PR": Reason("unranked_by_others"),
        "SIA": Reason("unranked_by_ballots", method=by),
        "SFA": Reason("unranked_by_other_ballots", method=by),
    }
    ranked = ~np.isnan(rater.ranks)
    never: dict[Reason, list[str]] = {}
    for place, column in enumerate(columns):
        if not ranked[:, place].any():
            why = no_self_rank(panel, column) if rater.name == "SR" else nobody[rater.name]
            never.setdefault(why, []).append(panel.models[column])
    for why, models in never.items():
        yield Reason("no_view_of", view=rater.name, models=models, why=why)
    if rater.name == "SR":
        reviewed = ~np.isnan(panel.ranks).all(axis=(1, 2))
        lacking = np.sum(~ranked[reviewed], axis=0).tolist()
        some = [
            Reason("model_in_items", model=panel.models[column], n=n, of=int(reviewed.sum()))
            for place, (column, n) in enumerate(zip(columns, lacking, strict=True))
            if n and ranked[:, place].any()
        ]
        if some:
            yield Reason("no_sr_in_items", models=some)


def _raters_without_ranks(raters: Sequence[Ratings]) -> Iterator[Reason]:
    """Notes on raters that never rank two models, except views: `_left_open` names their models."""
    for rater in raters:
        if np.isnan(rater.ranks).all() and rater.kind != "view":
            yield {
                "board": Reason("no_usable_score", rater=rater.name),
                "reviewer": Reason("no_usable_review", rater=rater.name),
                "aggregator": Reason("no_readable_ballot", rater=rater.name),
                "native": Reason("no_two_scores", rater=rater.name),
            }[rater.kind]


_QUANTILES = (0, 0.25, 0.5, 0.75, 1)


def correlate(raters: Sequence[Ratings], people: FloatArray, draws: ItemDraws) -> tuple[Rater, ...]:
    """Correlations of all raters with `people`, the human ranks: shape (N,), no NaN, not all equal.

    Lower ranks are better, and all raters share each draw of items. The interval of `mean` is
    that of a mean. Intervals of the macro figures are wider than percentile intervals, as in
    `resample_agreement`: noise in the mean ranks pulls a correlation towards 0, and resampled items
    are noisier still. Their coverage is in docs/statistics.md (`agreement`, `views`): nearly 100%
    for 8 models whose true means are 0.44 standard deviations of a score apart; at 0.06 it is 72%
    for Pearson and 55% for Kendall with 20 items, and for SR, if all models favour themselves, 57%
    and 46%. For models that close the value itself is too low.
    """
    by_row = [
        many(rater.ranks, people).round(DECIMALS)
        for rater in raters
        for many in (pearson_many if rater.as_given else spearman_many, kendall_tau_many)
    ]
    means = draws.means(np.stack(by_row, axis=1), Reason("rater_ties_each_item"))
    macros = _macro(raters, people, draws)
    both = [_described(*row) for row in zip(by_row, means, macros, strict=True)]
    return tuple(
        Rater(rater.kind, rater.name, pearson, kendall)
        for rater, pearson, kendall in zip(raters, both[::2], both[1::2], strict=True)
    )


def _described(values: FloatArray, mean: Estimate, macro: Estimate) -> Correlation:
    defined = values[~np.isnan(values)]
    quantiles = np.quantile(defined, _QUANTILES) if defined.size else np.full(5, np.nan)
    minimum, lower, median, upper, maximum = quantiles.tolist()
    return Correlation(
        values=values,
        n_rows=defined.size,
        n_undefined=values.size - defined.size,
        mean=mean,
        sd=float(np.std(defined, ddof=1)) if defined.size > 1 else math.nan,
        minimum=minimum,
        lower_quartile=lower,
        median=median,
        upper_quartile=upper,
        maximum=maximum,
        macro=macro,
    )


def _macro(raters: Sequence[Ratings], people: FloatArray, draws: ItemDraws) -> tuple[Estimate, ...]:
    """Pearson and Kendall of the means over rows, alternating, for one rater after the other."""
    amounts = np.hstack([rater.amounts for rater in raters])
    present = ~np.isnan(amounts)
    ranked = np.stack([np.any(~np.isnan(rater.ranks), axis=1) for rater in raters], axis=1)

    def figures(totals: FloatArray) -> FloatArray:
        sums, counts = np.hsplit(totals, 2)
        of_raters = np.hsplit(ratio(sums, counts), len(raters))
        both = (pearson_many, kendall_tau_many)
        values = [many(of_rater, people) for of_rater in of_raters for many in both]
        return np.stack(values, axis=1).round(DECIMALS)

    sums = np.hstack([np.nan_to_num(amounts), present.astype(np.float64)])
    estimates = draws.figures(sums, figures, np.repeat(ranked, 2, axis=1), Reason("rater_ties_all"))
    return tuple(map(_widened, estimates))


def _widened(figure: Estimate) -> Estimate:
    value, lower, upper = hull(figure.value, figure.lower, figure.upper)
    return replace(figure, value=value, lower=lower, upper=upper)
