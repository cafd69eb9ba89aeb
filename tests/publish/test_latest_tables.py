"""Which tables of a dataset are taken for ours, and what becomes of the others."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.publish.judged_runs import rows_in
from tests.publish.test_latest import bundle_of, contest_bundle, publish, row
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import CONTESTS, LATEST, changing_files
from tiebreak.publish.tables import table_of, to_parquet

NEWER = [row("r2", "2026-01-02T00:00:00Z", benchmark="new")]


def leaderboard(without: str = "", null: str = "") -> bytes:
    """The table of an older run: without a column, or with one that is empty."""
    table = table_of("leaderboard", [row("r1", "2026-01-01T00:00:00Z", benchmark="old")])
    if without:
        table = table.drop_columns([without])
    if null:
        place = table.schema.get_field_index(null)
        table = table.set_column(place, null, pa.array([None], table.schema.types[place]))
    return to_parquet(table)


NEEDED = ("benchmark", "protocol", "run_id", "created", "model", "metric")


@pytest.mark.parametrize(
    "changed",
    [*({"without": name} for name in (*NEEDED, "judge")), *({"null": name} for name in NEEDED)],
    ids=str,
)
def test_a_table_that_is_none_of_ours_is_named(changed: dict[str, Any]) -> None:
    """Of all runs it is an error; the latest one is made again of the others."""
    wrong = leaderboard(**changed)
    with pytest.raises(PublishError) as failed:
        publish({"leaderboard/full/r1.parquet": wrong}, bundle_of(NEWER))
    assert str(failed.value) == (
        "leaderboard/full/r1.parquet in the dataset is not a leaderboard of Tiebreak, so "
        "leaderboard/latest.parquet cannot be made: remove that file from the dataset, or "
        "restore it"
    )
    there = {LATEST: wrong, "leaderboard/full/r1.parquet": leaderboard()}
    mended = publish(there, bundle_of(NEWER))
    assert [one["run_id"] for one in rows_in(mended[LATEST])] == ["r2", "r1"]


@pytest.mark.parametrize(
    "changed", [{"null": "judge"}, {"without": "cost"}, {"null": "value"}], ids=str
)
def test_what_may_be_missing(changed: dict[str, Any]) -> None:
    found = publish({LATEST: leaderboard(**changed)}, bundle_of(NEWER))
    assert [one["run_id"] for one in rows_in(found[LATEST])] == ["r2", "r1"]


def test_the_latest_table_is_enough() -> None:
    """Those of all runs are read only where it is missing; other files there never."""
    broken = {"leaderboard/full/r0.parquet": b"cut"}
    files = publish({LATEST: leaderboard(), **broken}, bundle_of(NEWER))
    assert [row["run_id"] for row in rows_in(files[LATEST])] == ["r2", "r1"]
    unread = {"leaderboard/full/notes.txt": b"no table", "other/x.parquet": b"cut"}
    files = publish({"leaderboard/full/r1.parquet": leaderboard(), **unread}, bundle_of(NEWER))
    assert [row["run_id"] for row in rows_in(files[LATEST])] == ["r2", "r1"]


@pytest.mark.parametrize("name", ["contest_id", "method", "model", "benchmarks", "rounds"])
def test_a_table_of_contests_needs_its_columns(name: str) -> None:
    [content] = contest_bundle("contest-1", "x").files.values()
    wrong = to_parquet(pq.read_table(io.BytesIO(content)).drop_columns([name]))
    with pytest.raises(PublishError) as failed:
        publish({"contests/full/contest-1.parquet": wrong}, contest_bundle("contest-2", "y"))
    assert str(failed.value) == (
        "contests/full/contest-1.parquet in the dataset is not a contest of Tiebreak, so "
        "contests/latest.parquet cannot be made: remove that file from the dataset, or restore it"
    )


def test_only_what_there_is_changes() -> None:
    """The card always; a table only where it has a row."""
    none = changing_files(Bundle({}, {}), {}, license=None, repo_id="me/x")
    assert list(none) == ["README.md"]
    boards = changing_files(bundle_of(NEWER), {}, license=None, repo_id="me/x")
    assert list(boards) == ["README.md", LATEST]
    contests = changing_files(contest_bundle("contest-1", "x"), {}, license=None, repo_id="me/x")
    assert list(contests) == ["README.md", CONTESTS]
