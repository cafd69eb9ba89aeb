"""The published tables: their columns, and their form as Parquet.

A column that is nullable is null where a number is undefined or a log does not tell; it is never 0.
What was published does not change, and readers load all files of a table together: so a column is
never renamed or removed, and a new one goes into a table of its own.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from tiebreak.report.json import json_ready

if TYPE_CHECKING:
    import pyarrow as pa

# The viewer of the Hub and readers over HTTP fetch whole row groups, so they are small.
ROWS_PER_GROUP: Final = 1000


@cache
def schema(table: str) -> "pa.Schema":
    """Columns of `leaderboard`, `rankings`, `ballots`, `judge_texts`, `contests` or `scores`."""
    # Arrow is imported where it is needed only: importing it takes most of a second.
    import pyarrow as pa

    text, number, whole, truth = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    texts = pa.list_(text)

    def must(**columns: pa.DataType) -> list[pa.Field]:
        return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]

    def may(**columns: pa.DataType) -> list[pa.Field]:
        return [pa.field(name, kind) for name, kind in columns.items()]

    def parts(**columns: pa.DataType) -> pa.DataType:
        return pa.list_(pa.struct(must(**columns)))

    item = must(
        run_id=text,
        benchmark=text,
        protocol=text,
        item_id=text,
        input_hash=text,
        repetition=whole,
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
                n=whole,
            ),
            # `prob_first` is in the files of earlier versions; no longer filled, it keeps all files
            # of a dataset alike.
            *may(rank=whole, rank_lower=whole, rank_upper=whole, prob_first=number),
            *may(unscored_rate=number),
            *must(n_items=whole, n_unranked=whole, n_skipped=whole),
            *may(judge=text, judge_settings=text, arguments=text, seed=whole),
            *must(n_calls=whole, n_cached=whole, input_tokens=whole, output_tokens=whole),
            *may(cost=number, rubric=text, rubric_sha256=text, prompts_sha256=text),
            *may(tiebreak_version=text, inspect_version=text),
            *must(draws=whole, bootstrap_seed=whole, status=text),
            *must(log_names=texts, log_sha256=texts, eval_ids=texts),
        ],
        "rankings": [
            *item,
            *must(model=text, rank=number, n_models=whole),
            *must(tied_group=whole, judged_answer_of=text),
            *may(normalized_borda=number, native_score=number, margin=number),
        ],
        "ballots": [
            *item,
            *must(ballot=whole, kind=text, counts=truth),
            *may(judge=text, unscored=text, round=whole, slot=whole),
            *may(left=text, right=text, margin=number, checklist_margin=number),
            *may(principles=parts(id=text, vote=text, confidence=number)),
            *may(checklist=parts(id=text, vote=text, confidence=number)),
            *may(discarded=truth, winner=text, decided_by=text, flipped=truth),
            *may(groups=pa.list_(texts), shown=texts, left_out=texts),
            *may(candidate=text, score=number, grades=parts(id=text, grade=whole)),
            *may(stars=whole, correct=truth),
            *may(tiers=parts(model=text, tier=whole)),
            *may(checklist_id=text, principle_id=text, anchor_split=text, duplicate_of=text),
        ],
        "judge_texts": [*item, *must(ballot=whole, about=text, text=text)],
        "contests": [
            *must(contest_id=text, method=text),
            *may(eliminate=whole),
            *must(model=text),
            *may(rank=whole, value=number, higher_is_better=truth),
            *may(standard_error=number, lower=number, upper=number, level=number),
            *may(rank_lower=whole, rank_upper=whole),
            *may(simulation_rank_lower=whole, simulation_rank_upper=whole),
            *may(tier=whole, slope=number, slope_error=number, label=text),
            *may(cost=whole, optimal=truth, unique=truth),
            *must(n_models=whole, n=whole, benchmarks=texts, rounds=pa.list_(texts)),
            *may(order_from=text, weights=pa.list_(number)),
            *may(eliminate_by_round=pa.list_(whole), missing=text, iterations=whole, seed=whole),
        ],
        "scores": [
            *must(contest_id=text, model=text, benchmark=text),
            *may(round=whole, score=number, standard_error=number),
        ],
    }
    return pa.schema(columns[table])


def table_of(name: str, rows: Iterable[Mapping[str, Any]]) -> "pa.Table":
    """Rows as a table with the columns of its name; a column that no row has is null."""
    import pyarrow as pa

    return pa.Table.from_pylist([json_ready(dict(row)) for row in rows], schema=schema(name))


def to_parquet(table: "pa.Table") -> bytes:
    """A table as a Parquet file: small row groups, with an index of the pages."""
    import pyarrow.parquet as pq

    target = BytesIO()
    pq.write_table(
        table,
        target,
        compression="zstd",
        row_group_size=ROWS_PER_GROUP,
        write_page_index=True,
    )
    return target.getvalue()


def from_parquet(content: bytes) -> "pa.Table":
    """The table of a Parquet file.

    Raises:
        pyarrow.ArrowException: it is not Parquet.
    """
    import pyarrow.parquet as pq

    return pq.read_table(BytesIO(content))
