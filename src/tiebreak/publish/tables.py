"""The published tables: their columns, their rows, and their form as Parquet.

`leaderboard`: run × benchmark × model × metric. `rankings`: run × item × model. `ballots`: one
judged ballot per row. `judge_texts`: what judges wrote; because these texts quote answers, they are
published only together with the answers. `pairs` are for training, and have their own file.

A nullable column is null if a number is undefined or a log does not tell; it is never 0. Published
files do not change, and readers load all files of a table together: so a column is never renamed or
removed, and a new one goes into another table.
"""

import gc
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tiebreak.analysis.frames import Entry, Row, item_ballots, item_ranking
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import Leaderboard
from tiebreak.analysis.peers.review import PeerReview
from tiebreak.analysis.standing import Placed, Standing, best_first, left_open, whole
from tiebreak.publish.facts import public_reason
from tiebreak.publish.runs import Run
from tiebreak.rankers import bootstrap_items, competition_ranks
from tiebreak.rankers.pairwise_tests import separation
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.joins import newcomers_of
from tiebreak.ranking_logs.log import SIDES, JudgedItem, PackedVotes, RankedItem, VoteColumns
from tiebreak.report.columns import COLUMNS, METRICS
from tiebreak.report.json import only
from tiebreak.scorers.ballots import ItemBallots

if TYPE_CHECKING:
    import pyarrow as pa


# The Hub's viewer and readers over HTTP fetch whole row groups, so groups are small.
ROWS_PER_GROUP: Final = 1000


@cache
def schema(table: str) -> "pa.Schema":
    """Columns of a table by its name, e.g. `leaderboard`."""
    # Imported only here, because importing Arrow takes most of a second.
    import pyarrow as pa

    text, number, int64, truth = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    texts = pa.list_(text)

    def must(**columns: pa.DataType) -> list[pa.Field]:
        return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]

    def may(**columns: pa.DataType) -> list[pa.Field]:
        return [pa.field(name, kind) for name, kind in columns.items()]

    def parts(**columns: pa.DataType) -> pa.DataType:
        return pa.list_(pa.struct(must(**columns)))

    messages = parts(role=text, content=text)
    item = must(
        run_id=text,
        benchmark=text,
        protocol=text,
        item_id=text,
        input_hash=text,
        repetition=int64,
    )
    columns = {
        "leaderboard": [
            *must(run_id=text, created=text, benchmark=text, protocol=text, model=text),
            *must(metric=text),
            *may(
                higher_is_better=truth,
                value=number,
                lower=number,
                upper=number,
                level=number,
                n=int64,
            ),
            *may(rank=int64, rank_lower=int64, rank_upper=int64, unscored_rate=number),
            *must(n_items=int64, n_unranked=int64, n_skipped=int64),
            *may(judge=text, judge_settings=text, arguments=text, seed=int64),
            *must(n_calls=int64, n_cached=int64, input_tokens=int64, output_tokens=int64),
            *may(cost=number, rubric=text, rubric_sha256=text, prompts_sha256=text),
            *may(tiebreak_version=text, inspect_version=text),
            *must(draws=int64, bootstrap_seed=int64, status=text),
            *must(log_names=texts, log_sha256=texts, eval_ids=texts),
        ],
        "rankings": [
            *item,
            *must(model=text, rank=number, n_models=int64),
            *must(tied_group=int64, judged_answer_of=text),
            *may(normalized_borda=number, native_score=number, margin=number),
        ],
        "ballots": [
            *item,
            *must(ballot=int64, kind=text, counts=truth),
            *may(judge=text, unscored=text, round=int64, slot=int64),
            *may(left=text, right=text, margin=number, checklist_margin=number),
            *may(principles=parts(id=text, vote=text, confidence=number)),
            *may(checklist=parts(id=text, vote=text, confidence=number)),
            *may(discarded=truth, winner=text, decided_by=text, flipped=truth),
            *may(groups=pa.list_(texts), shown=texts, left_out=texts),
            *may(candidate=text, score=number, grades=parts(id=text, grade=int64)),
            *may(stars=int64, correct=truth),
            *may(tiers=parts(model=text, tier=int64)),
            *may(checklist_id=text, principle_id=text, anchor_split=text, duplicate_of=text),
        ],
        "judge_texts": [*item, *must(ballot=int64, about=text, text=text)],
        "contests": [
            *must(contest_id=text, method=text),
            *may(eliminate=int64),
            *must(model=text),
            *may(rank=int64, value=number, higher_is_better=truth),
            *may(standard_error=number, lower=number, upper=number, level=number),
            *may(rank_lower=int64, rank_upper=int64),
            *may(simulation_rank_lower=int64, simulation_rank_upper=int64),
            *may(tier=int64, slope=number, slope_error=number, label=text),
            *may(cost=int64, optimal=truth, unique=truth),
            *must(n_models=int64, n=int64, benchmarks=texts, rounds=pa.list_(texts)),
            *may(order_from=text, weights=pa.list_(number)),
            *may(eliminate_by_round=pa.list_(int64), missing=text, iterations=int64, seed=int64),
        ],
        "scores": [
            *must(contest_id=text, model=text, benchmark=text),
            *may(round=int64, score=number, standard_error=number),
        ],
        "pairs": [
            *must(prompt=messages, chosen=messages, rejected=messages),
            *must(margin=number, judge=text, benchmark=text, item_id=text),
            *must(chosen_model=text, rejected_model=text),
            *may(orders_agreed=truth, people_agreed=truth),
            *may(chosen_native=number, rejected_native=number),
        ],
    }
    return pa.schema(columns[table])


def table_of(name: str, rows: Iterable[Row]) -> "pa.Table":
    """Rows as a table with the columns of its name; missing and non-finite cells are null."""
    import pyarrow as pa

    made, fields = list(rows), schema(name)
    filled = set().union(*made)
    columns = [
        _column(field, [row.get(column) for row in made])
        if column in filled
        else pa.nulls(len(made), field.type)
        for column, field in zip(fields.names, fields, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=fields)


def _column(field: "pa.Field", cells: Sequence[Any]) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    if field.name in ("principles", "checklist"):
        return _votes(field.type, cells)
    if pa.types.is_floating(field.type):
        numbers = pa.array(cells, field.type)
        return pc.if_else(pc.is_finite(numbers), numbers, None)
    if pa.types.is_primitive(field.type):
        cells = [None if cell is None or not math.isfinite(cell) else cell for cell in cells]
    return pa.array(cells, field.type)


def _votes(kind: "pa.ListType", cells: Sequence[VoteColumns | None]) -> "pa.Array":
    """Votes, the bulk of ballots, column by column: building them from dicts is much slower."""
    import pyarrow as pa

    known = list(filter(None, cells))
    ids = [cell.ids for cell in known]
    sides = np.frombuffer(b"".join(cell.sides for cell in known), np.int8)
    parts = [
        pa.array(chain.from_iterable(ids), pa.string()),
        pa.DictionaryArray.from_arrays(sides, pa.array(SIDES)).dictionary_decode(),
        pa.array(np.frombuffer(b"".join(cell.confidences for cell in known))),
    ]
    counts = [len(cell.ids) if cell else 0 for cell in cells]
    return pa.ListArray.from_arrays(
        pa.array(accumulate(counts, initial=0), pa.int32()),
        pa.StructArray.from_arrays(parts, fields=list(kind.value_type)),
        type=kind,
        mask=pa.array([cell is None for cell in cells], pa.bool_()),
    )


def parquet_of(name: str, rows: Iterable[Row]) -> bytes:
    """Rows as a Parquet file, with one row group in memory at a time; empty without rows."""
    rest = iter(rows)
    groups = iter(lambda: list(islice(rest, ROWS_PER_GROUP)), [])
    with _no_cycles():
        first = next(groups, None)
        tables = (table_of(name, group) for group in chain([first or []], groups))
        return _parquet(schema(name), tables) if first else b""


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Disable garbage collection: millions of rows contain no reference cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def to_parquet(table: "pa.Table") -> bytes:
    """A table as a Parquet file."""
    return _parquet(table.schema, [table])


def _parquet(schema: "pa.Schema", tables: Iterable["pa.Table"]) -> bytes:
    """A Parquet file of small row groups, with an index of the pages."""
    import pyarrow.parquet as pq

    target = BytesIO()
    with pq.ParquetWriter(target, schema, compression="zstd", write_page_index=True) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
    return target.getvalue()


def from_parquet(content: bytes) -> "pa.Table":
    """The table of a Parquet file.

    Raises:
        pyarrow.ArrowException: it is not Parquet.
    """
    import pyarrow.parquet as pq

    return pq.read_table(BytesIO(content))


# Metrics with intervals, whose rows are built separately.
_WITH_INTERVALS: Final = ("normalized_borda", "native_score")


def leaderboard_rows(run: Run) -> list[Row]:
    """All rows of a run, by benchmark and metric, best first."""
    return [row for board in run.boards for row in _board_rows(run, board)]


def ranking_rows(run: Run) -> Iterator[Row]:
    """The rank of every model in every item that could be ranked, in the order of the log."""
    kinds: dict[tuple[str, str] | None, list[JudgedItem]] = {}
    for item in run.judged:
        if item.problem is None:
            kinds.setdefault(item.kind, []).append(item)
    for item in chain.from_iterable(kinds.values()):
        for ranked_item in ranked([item]):
            shared = _item_columns(run, ranked_item.ballots, item.epoch)
            yield from ({**shared, **row} for row in item_ranking(ranked_item))


def ballot_rows(run: Run) -> Iterator[Row]:
    """All ballots of a run in the order of the log; `ballot` numbers the ballots of an item."""
    packed = run.judged if not newcomers_of(run.log) else run.again()
    return (row for row, _ in _entries(run, packed))


def text_rows(run: Run) -> Iterator[Row]:
    """The texts of judges, by ballot and subject."""
    names = ("run_id", "benchmark", "protocol", "item_id", "input_hash", "repetition", "ballot")
    for row, words in _entries(run, run.again()):
        shared = {name: row[name] for name in names}
        yield from ({**shared, "about": about, "text": text} for about, text in words if text)


def of_board(run: Run, board: Leaderboard) -> list[JudgedItem]:
    """The items of a leaderboard, including those whose judging was cut short."""
    return [item for item in run.judged if item.kind == (board.benchmark, board.protocol)]


def _board_rows(run: Run, board: Leaderboard) -> Iterator[Row]:
    shared = _of_run(run) | _of_board(run, board)
    reviews = [review for review in run.reviews if review.panel.benchmark == board.benchmark]
    unscored = {row.model: row.unscored_rate for row in board.rows}
    table = ItemTable.of(ranked(of_board(run, board)))
    measured = [
        *_borda(table, board),
        *(row for review in reviews for row in _peer_rows(review)),
        *_strengths(board),
        *_figures(board),
        *_native(table, board),
    ]
    for row in measured:
        metric, model = row["metric"], row["model"]
        yield {
            **shared,
            "higher_is_better": METRICS[metric].higher_is_better,
            "unscored_rate": unscored.get(model, math.nan),
            **row,
        }


def _of_run(run: Run) -> Row:
    """Columns shared by all rows of a run; for several logs (shards) only values they agree on."""
    facts = run.facts
    settings = [{"role": role.role, "model": role.model, **role.settings} for role in run.roles]
    return {
        "run_id": run.run_id,
        "created": run.created,
        "status": run.log.status,
        "judge_settings": _json(settings) if settings else None,
        "arguments": _json(dict(facts[0].arguments)),
        "seed": _shared(fact.seed for fact in facts),
        "prompts_sha256": _shared(fact.prompts for fact in facts),
        "tiebreak_version": _shared(fact.tiebreak_version for fact in facts),
        "inspect_version": _shared(fact.inspect_version for fact in facts),
        "log_names": [fact.name for fact in facts],
        "log_sha256": [fact.sha256 for fact in facts],
        "eval_ids": [fact.eval_id for fact in facts],
    }


def _of_board(run: Run, board: Leaderboard) -> Row:
    judged = of_board(run, board)
    rubrics = {item.ballots.rubric for item in judged if item.ballots}
    return {
        "benchmark": board.benchmark,
        "protocol": board.protocol,
        "judge": ", ".join(board.judges) or None,
        "level": board.level,
        "draws": board.draws,
        "bootstrap_seed": board.seed,
        "n_items": board.n_items,
        "n_unranked": len(board.unranked),
        "n_skipped": board.settled.n_skipped if board.settled else 0,
        **only(board.receipt, "n_calls", "n_cached", "input_tokens", "output_tokens", "cost"),
        "rubric": ", ".join(sorted(rubrics)) or None,
        "rubric_sha256": _shared(item.metadata.get("rubric") for item in judged),
    }


def _borda(table: ItemTable, board: Leaderboard) -> Iterator[Row]:
    items = dict(zip(table.models, (~np.isnan(table.borda)).sum(axis=0).tolist(), strict=True))
    for row in board.rows:
        yield _standing("normalized_borda", row, n=items.get(row.model, 0))


def _native(table: ItemTable, board: Leaderboard) -> Iterator[Row]:
    """The benchmark's own scores over the ranked items, with the same kind of intervals."""
    if np.isnan(table.native).all():
        return
    bootstrap = bootstrap_items(
        table.native,
        items=table.items,
        how=Resampling(level=board.level, draws=board.draws, seed=board.seed),
    )
    n = dict(zip(table.models, (~np.isnan(table.native)).sum(axis=0).tolist(), strict=True))
    order = best_first(competition_ranks(bootstrap.score), table.models)
    pairs = separation(table.native, order, items=table.items, level=board.level)
    for row in Standing.rows(bootstrap, table.models, **left_open(bootstrap, pairs)):
        yield _standing("native_score", row, n=n[row.model])


def _figures(board: Leaderboard) -> Iterator[Row]:
    """The published columns of a leaderboard without intervals, e.g. the mean points."""
    for column in COLUMNS:
        if column.metric is None or column.metric.name in _WITH_INTERVALS:
            continue
        figures = [(row.model, float(getattr(row, column.fields[0]))) for row in board.rows]
        known = [(model, value) for model, value in figures if not math.isnan(value)]
        # A figure without a direction ranks no model.
        sign = {True: 1, False: -1, None: math.nan}[column.metric.higher_is_better]
        ranks = competition_ranks([sign * value for _, value in known])
        rows = [
            {"metric": column.metric.name, "model": model, "value": value, "rank": whole(rank)}
            for (model, value), rank in zip(known, ranks, strict=True)
        ]
        yield from sorted(rows, key=lambda row: (row["rank"] or 0, row["model"]))


def _strengths(board: Leaderboard) -> Iterator[Row]:
    for view in board.views:
        for row in view.rows:
            yield _standing(f"{view.method}_strength", row, n=view.n_items, draws=view.draws)


def _peer_rows(review: PeerReview) -> Iterator[Row]:
    for row in review.ranking.rows:
        yield _standing("mean_rank", row, n=row.n_items)
    placed = [row for row in review.ranking.rows if row.at_once is not None]
    for row in sorted(placed, key=lambda row: (row.at_once or 0, row.model)):
        yield {
            "metric": "kemeny_rank",
            "model": row.model,
            "value": row.at_once,
            "rank": row.at_once,
            "n": review.n_reviewed,
            "level": None,
        }


def _standing(metric: str, row: Placed, **more: Any) -> Row:
    ranges = ("rank_lower", "rank_upper") if isinstance(row, Standing) else ()
    shown = only(row, "value", "lower", "upper", *ranges, "rank")
    return {"metric": metric, "model": row.model, **shown, **more}


def ranked(judged: Iterable[JudgedItem]) -> list[RankedItem]:
    """The items with a ranking."""
    return [
        RankedItem(item.ballots, item.placement)
        for item in judged
        if item.ballots and item.placement
    ]


def _entries(run: Run, samples: Iterable[JudgedItem]) -> Iterator[Entry]:
    for sample in samples:
        assert sample.ballots is not None
        votes = iter(sample.votes or PackedVotes.of(sample.ballots))
        shared = _item_columns(run, sample.ballots, sample.epoch)
        shared["counts"] = sample.problem is None
        for number, (row, words) in enumerate(item_ballots(sample.ballots)):
            row["unscored"] = public_reason(row.get("unscored"))
            if row["kind"] == "verdict":
                row["principles"], row["checklist"] = next(votes), next(votes)
            yield {**shared, "ballot": number, **row}, words


def _item_columns(run: Run, item: ItemBallots, repetition: int) -> Row:
    names = ("benchmark", "protocol", "item_id", "input_hash")
    return {"run_id": run.run_id, **only(item, *names), "repetition": repetition}


def _shared(values: Iterable[Any]) -> Any:
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else None


def _json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
