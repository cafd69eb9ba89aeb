"""Sheets and data of the alignment with people (Peer review, tables 1 and 2, figure 4)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tiebreak.analysis.alignment import Alignment, BenchmarkAlignment, Correlation, Rater
from tiebreak.analysis.judged import BoardOrder
from tiebreak.reason import Reason
from tiebreak.report.cells import estimate, integer, number, percents, rank_range, signed, words
from tiebreak.report.json import document, in_columns, json_ready, only
from tiebreak.report.sheet import (
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.text import all_of, count, natural_key

_QUANTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")


def sheets_of(alignment: Alignment) -> list[Sheet]:
    """A sheet that names the source, one per benchmark, and one with the legend."""
    return [
        Sheet(f"Alignment with people: {alignment.source}"),
        *(benchmark_sheet(benchmark, alignment.how.level) for benchmark in alignment.benchmarks),
        Sheet(sections=(legend(alignment),), notes=tuple(map(str, alignment.notes))),
    ]


def data_of(alignment: Alignment, *, items: bool = False) -> dict[str, Any]:
    """The fields of `Alignment` and its parts under "tiebreak/alignment", version 1.

    The shape::

        {"format", "version", "source", "level", "draws", "seed", "consensus", "scores",
         "benchmarks": [
            {"benchmark", "log", "n_items", "n_candidates",
             "models": [{"model", "human_name", "human_rank"}],
             "item_ids": [], "raters": [{"kind", "name", "pearson", "kendall"}],
             "order": {}, "warnings": [], "notes": []}],
         "notes": []}

    `order` has the fields of `BoardOrder`, in the order of `models`; it is null for a peer review.
    Only with `items` are there `item_ids` and, for every rater, `values`: a correlation per item.
    """
    return document(
        "tiebreak/alignment",
        1,
        source=alignment.source,
        **json_ready(alignment.how),
        **only(alignment, "consensus", "scores"),
        benchmarks=[_benchmark(benchmark, items=items) for benchmark in alignment.benchmarks],
        notes=tuple(map(str, alignment.notes)),
    )


def rows_of(alignment: Alignment) -> list[dict[str, Any]]:
    """One row per benchmark and rater."""
    return [
        {**only(benchmark, "benchmark", "log"), "n_models": len(benchmark.models), **_flat(rater)}
        for benchmark in alignment.benchmarks
        for rater in benchmark.raters
    ]


def benchmark_sheet(benchmark: BenchmarkAlignment, level: float) -> Sheet:
    """The sheet of a peer review (correlations of its raters, by item and overall) or of a board.

    A board has its ranks beside people's, and its correlation over all items.
    """
    models = f"{len(benchmark.models)} of {count(benchmark.n_candidates, 'model')} ranked by people"
    pearson, kendall = (
        [getattr(rater, x) for rater in benchmark.raters] for x in ("pearson", "kendall")
    )
    items = "Item by item: how the correlations of the items are distributed"
    sections = [
        Section.of(_by_item("Pearson", benchmark.raters, pearson, level), heading=items),
        Section.of(_by_item("Kendall", benchmark.raters, kendall, level)),
    ]
    if benchmark.order:
        sections = [Section.of(_order(benchmark, benchmark.order, level))]
    over_all = Section.of(
        _over_all(benchmark.raters, level), heading="Over all items: one correlation"
    )
    return Sheet(
        f"{benchmark.benchmark} · {count(benchmark.n_items, 'item')} · {models}",
        (f"log: {benchmark.log}",),
        _verdict(benchmark.raters[0].name, benchmark.order, level) if benchmark.order else "",
        warnings=tuple(map(str, benchmark.warnings)),
        sections=(*sections, over_all),
        notes=tuple(map(str, benchmark.notes)),
    )


def _order(benchmark: BenchmarkAlignment, order: BoardOrder, level: float) -> Table:
    columns = (
        *(model_names(), *numbers("Board", interval_heading(level), "People", "Difference")),
        names("Placed by the board"),
    )
    places = zip(
        *(benchmark.models, order.ranks, order.rank_lower, order.rank_upper, benchmark.human_ranks),
        strict=True,
    )
    # One decimal only if tied models share a half rank.
    digits = int(any(rank % 1 for rank in (*order.ranks, *benchmark.human_ranks)))
    placed = dict.fromkeys(order.higher, "higher") | dict.fromkeys(order.lower, "lower")
    rows = [
        (
            *(words(model), number(rank, digits), rank_range(lower, upper)),
            *(number(human, digits), signed(rank - human, digits), words(placed.get(model, ""))),
        )
        for model, rank, lower, upper, human in sorted(places, key=lambda place: place[1])
    ]
    return Table.of(columns, rows, "Ranks on the board and by people")


def _verdict(name: str, order: BoardOrder, level: float) -> str:
    ties = order.n_pairs - order.n_same - order.n_opposite
    higher = f"places {all_of(order.higher)}" if order.higher else "is shown to place no model"
    return (
        f"{name} decides {order.n_same} of {count(order.n_pairs, 'pair')} of models as people do "
        f"({interval_heading(level)} {percents(order.same.lower, order.same.upper)}), "
        f"{order.n_opposite} the other way round, and ties {ties}. "
        f"It {higher} higher than people do"
    )


def legend(alignment: Alignment) -> Section:
    """How to read the tables, and how the intervals are made."""
    how, reasons = alignment.how, [Reason("alignment_figures")]
    kinds = {benchmark.order is None for benchmark in alignment.benchmarks}
    if alignment.scores == "mean-rank":
        reasons.append(Reason("alignment_of_mean_ranks"))
    if True in kinds:
        reasons.append(Reason("alignment_views", method=alignment.consensus))
    if False in kinds:
        reasons.append(Reason("alignment_of_boards", level=how.level, rest=1 - how.level))
    reasons.append(Reason("alignment_intervals", draws=how.draws, seed=how.seed))
    return Section.of(legend=reasons)


def _by_item(
    heading: str, raters: Sequence[Rater], figures: Sequence[Correlation], level: float
) -> Table:
    quantiles = ("Min", "25%", "50%", "75%", "Max")
    columns = (names(heading), *numbers("Mean", interval_heading(level), "SD", *quantiles))
    rows = [
        (
            *(words(rater.name), *estimate(figure.mean), number(figure.sd, 2)),
            *(number(value, 2) for value in only(figure, *_QUANTILES).values()),
        )
        for rater, figure in zip(raters, figures, strict=True)
    ]
    return Table.of(columns, rows, f"Item by item: {heading}", rules=_rules(raters))


def _over_all(raters: Sequence[Rater], level: float) -> Table:
    within = interval_heading(level)
    columns = (names("Rater"), *numbers("Pearson", within, "Kendall", within, "Items", "Undef."))
    rows = [
        (
            *(words(rater.name), *estimate(rater.pearson.macro), *estimate(rater.kendall.macro)),
            *(integer(rater.pearson.n_rows), integer(rater.pearson.n_undefined)),
        )
        for rater in raters
    ]
    return Table.of(columns, rows, "Over all items", rules=_rules(raters))


def _rules(raters: Sequence[Rater]) -> list[int]:
    """Rows with a rule above: the first of each kind of rater except the first kind."""
    pairs = enumerate(pairwise(raters), start=1)
    return [number for number, (rater, following) in pairs if rater.kind != following.kind]


def _benchmark(benchmark: BenchmarkAlignment, *, items: bool) -> dict[str, Any]:
    people = zip(benchmark.models, benchmark.human_names, benchmark.human_ranks, strict=True)
    ids = benchmark.item_ids
    order = sorted(range(len(ids)), key=lambda place: natural_key(ids[place])) if items else None
    return {
        **only(benchmark, "benchmark", "log", "n_items", "n_candidates"),
        "models": [
            dict(zip(("model", "human_name", "human_rank"), m, strict=True)) for m in people
        ],
        **({} if order is None else {"item_ids": [ids[place] for place in order]}),
        "raters": [
            {
                **only(rater, "kind", "name"),
                "pearson": _correlation(rater.pearson, order),
                "kendall": _correlation(rater.kendall, order),
            }
            for rater in benchmark.raters
        ],
        **only(benchmark, "order", "warnings", "notes"),
    }


def _correlation(correlation: Correlation, order: Sequence[int] | None = None) -> dict[str, Any]:
    """The figures of a correlation, and with an order of the items its value for each."""
    data: dict[str, Any] = json_ready(correlation)
    values = data.pop("values")
    return data | ({} if order is None else {"values": [values[place] for place in order]})


def _flat(rater: Rater) -> dict[str, Any]:
    cells: dict[str, Any] = only(rater, "kind", "name")
    for name, figure in (("pearson", rater.pearson), ("kendall", rater.kendall)):
        data = _correlation(figure)
        for part in ("mean", "macro"):
            del data[part]
            data |= in_columns(part, getattr(figure, part))
        cells |= {f"{name}_{key}": value for key, value in data.items()}
    return cells
