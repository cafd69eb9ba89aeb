"""The latest leaderboard: whatever the order of publications, the newest run of everything."""

import io
import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.publish.judged_runs import rows_in
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import README
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import (
    CONTESTS,
    LATEST,
    changing_files,
    newest,
    same_content,
)
from tiebreak.publish.tables import schema, table_of, to_parquet


def row(run: str, created: str, **more: Any) -> dict[str, Any]:
    usual = {
        **{"benchmark": "gsm8k", "protocol": "seal", "judge": "j", "model": "a"},
        **{"metric": "normalized_borda", "higher_is_better": True, "value": 0.5, "rank": 1},
        **{"n_items": 3, "n_unranked": 0, "n_skipped": 0, "n_calls": 1, "n_cached": 0},
        **{"input_tokens": 1, "output_tokens": 1, "draws": 10, "bootstrap_seed": 0},
        **{"status": "success", "log_names": [], "log_sha256": [], "eval_ids": [], "n": 3},
    }
    empty = dict.fromkeys(schema("leaderboard").names)
    return {**empty, **usual, "run_id": run, "created": created, **more}


def bundle_of(*runs: Sequence[dict[str, Any]]) -> Bundle:
    tables = {rows[0]["run_id"]: to_parquet(table_of("leaderboard", rows)) for rows in runs}
    files = {name: {f"leaderboard/full/{name}.parquet": tables[name]} for name in tables}
    return Bundle(files, {})


def publish(repo: dict[str, bytes], bundle: Bundle) -> dict[str, bytes]:
    """The repository after a publication: a model of what the Hub does."""
    changing = changing_files(bundle, repo, license=None, repo_id="me/rankings")
    return {**repo, **bundle.files, **changing}


# A run has a time and a name; a few of each, so that they often meet.
keys = st.tuples(
    st.sampled_from("bc"), st.sampled_from(["seal", "swiss"]), st.sampled_from([None, "j"])
)
boards = st.dictionaries(keys, st.sets(st.sampled_from("xyz"), min_size=1), min_size=1, max_size=3)
runs = st.dictionaries(
    st.sampled_from(["r1", "r2", "r3", "r4"]),
    st.tuples(st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]), boards),
    min_size=1,
    max_size=4,
)


def rows_of(run: str, created: str, boards: Any) -> list[dict[str, Any]]:
    return [
        row(run, created, benchmark=benchmark, protocol=protocol, judge=judge, model=model)
        for (benchmark, protocol, judge), models in boards.items()
        for model in models
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(runs, st.randoms(use_true_random=False), st.booleans())
def test_the_newest_run_of_everything(found: Any, random: Any, twice: bool) -> None:
    """Against brute force: for every kind of row the run that is last by (created, run_id)."""
    published = [rows_of(run, created, boards) for run, (created, boards) in found.items()]
    everything = [one for rows in published for one in rows]
    wanted = {
        (one["run_id"], one["benchmark"], one["protocol"], one["judge"], one["model"])
        for one in everything
        if not any(
            all(one[name] == other[name] for name in ("benchmark", "protocol", "judge"))
            and (other["created"], other["run_id"]) > (one["created"], one["run_id"])
            for other in everything
        )
    }
    random.shuffle(published)
    repo: dict[str, bytes] = {}
    for rows in [*published, *(published if twice else [])]:
        repo = publish(repo, bundle_of(rows))
    at_once = publish({}, bundle_of(*published))
    names = ("run_id", "benchmark", "protocol", "judge", "model")
    latest = [tuple(one[name] for name in names) for one in rows_in(repo[LATEST])]
    assert set(latest) == wanted
    assert len(latest) == len(wanted)
    assert repo[LATEST] == at_once[LATEST]
    assert repo[README] == at_once[README]


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [None, b"", b"PAR1 no more", to_parquet(pa.table({"x": [1]}))],
    ids=["missing", "empty", "cut", "another"],
)
@settings(deadline=None, max_examples=4)
@given(found=runs)
def test_nothing_is_lost_when_the_latest_table_is(damage: bytes | None, found: Any) -> None:
    published = [rows_of(run, created, boards) for run, (created, boards) in found.items()]
    repo = publish({}, bundle_of(*published))
    broken = {path: content for path, content in repo.items() if path != LATEST}
    broken |= {} if damage is None else {LATEST: damage}
    mended = publish(broken, bundle_of(published[0]))
    assert mended[LATEST] == repo[LATEST]


def test_rows_are_in_order() -> None:
    given = [
        row("r", "t", model="b", rank=2),
        row("r", "t", model="z", rank=None),
        row("r", "t", model="a", rank=1),
        row("r", "t", model="a", metric="native_score", rank=1),
        row("r", "t", model="a", metric="mean_rank", rank=1),
        row("r", "t", model="a", benchmark="arc"),
    ]
    wanted = [(5, "arc"), (2, "gsm8k"), (0, "gsm8k"), (1, "gsm8k"), (4, "gsm8k"), (3, "gsm8k")]
    for order in permutations(range(6)):
        found = newest([given[number] for number in order])
        assert [(given.index(one), one["benchmark"]) for one in map(dict, found)] == wanted


def test_columns_of_a_later_version_stay() -> None:
    rows = [row("r1", "2026-01-01T00:00:00Z", benchmark="old")]
    later = table_of("leaderboard", rows).append_column("elo", pa.array([1500.0]))
    repo = publish({LATEST: to_parquet(later)}, bundle_of([row("r2", "2026-01-02T00:00:00Z")]))
    assert [(one["run_id"], one["elo"]) for one in rows_in(repo[LATEST])] == [
        ("r2", None),
        ("r1", 1500.0),
    ]


def manifest(value: Any) -> bytes:
    return json.dumps({"x": [value]}, indent=1).encode()


def table(value: float | None, name: str = "value", writer: str = "") -> bytes:
    made, target = pa.table({name: pa.array([value], pa.float64())}), io.BytesIO()
    if not writer:
        return to_parquet(made)
    pq.write_table(made, target, compression=writer)
    assert target.getvalue() != to_parquet(made)
    return target.getvalue()


def more(value: float) -> bytes:
    return to_parquet(pa.table({"value": [value], "new": ["x"]}))


@pytest.mark.parametrize(
    ("path", "ours", "theirs", "same"),
    [
        ("a.parquet", table(0.1), table(0.1 + 1e-14), True),
        ("a.parquet", table(0.1), table(0.1, writer="snappy"), True),
        ("a.parquet", table(0.1), table(0.1001), False),
        ("a.parquet", table(0.0), table(None), False),
        ("a.parquet", table(None), table(None), True),
        ("a.parquet", table(0.1), table(0.1, "other"), False),
        ("a.parquet", table(0.1), b"damaged", False),
        ("a.parquet", table(0.1), more(0.1), True),  # a column that a later version has
        ("a.parquet", more(0.1), table(0.2), False),
        ("a.json", b'{"a": 1}', b'{"a": 1, "b": 2}', True),
        ("a.json", b'{"a": 1, "c": 1}', b'{"a": 1, "b": 2}', False),
        ("a.json", b'{"a": {"x": 1}}', b'{"a": {}}', False),
        ("a.json", b"{}", b"{}", True),
        ("a.json", manifest(0.1), b'{"x": [0.10000000000000001]}', True),
        ("a.json", manifest(0.1), manifest(0.2), False),
        ("a.json", manifest(1), manifest(True), False),
        ("a.json", manifest("a"), manifest("b"), False),
        ("a.json", manifest(1), manifest([1, 2]), False),
        ("a.json", manifest(1), b"{damaged", False),
        ("plots/r/a.png", b"one font", b"another font", True),
        ("README.md", b"a", b"a", True),
        ("README.md", b"a", b"a ", False),
    ],
)
def test_same_content(path: str, ours: bytes, theirs: bytes, same: bool) -> None:
    assert same_content(path, ours, theirs) is same


def contest_bundle(name: str, benchmarks: str) -> Bundle:
    rows = [
        {**dict.fromkeys(schema("contests").names), "contest_id": name, "method": "csd"}
        | {"model": model, "benchmarks": list(benchmarks), "rounds": [list(benchmarks)]}
        | {"n_models": 2, "n": len(benchmarks), "order_from": "order"}
        for model in "ab"
    ]
    path = f"contests/full/{name}.parquet"
    return Bundle({name: {path: to_parquet(table_of("contests", rows))}}, {})


@settings(deadline=None, max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from("pqrst"),
        st.sets(st.sampled_from("xyz"), min_size=1).map(lambda one: "".join(sorted(one))),
        min_size=1,
    ),
    st.data(),
)
def test_the_contests_that_came_last(contests: dict[str, str], data: st.DataObject) -> None:
    """Against brute force: those whose benchmarks no contest has that came to the dataset later."""
    order = data.draw(st.lists(st.sampled_from(sorted(contests)), min_size=1, max_size=8))
    repo: dict[str, bytes] = {}
    for name in order:
        before, repo = repo, publish(repo, contest_bundle(name, contests[name]))
        if f"contests/full/{name}.parquet" in before:
            assert all(same_content(path, repo[path], before[path]) for path in before)
    came = list(dict.fromkeys(order))
    wanted = [
        name
        for place, name in enumerate(came)
        if not any(set(contests[name]) <= set(contests[later]) for later in came[place + 1 :])
    ]
    found = list(dict.fromkeys(row["contest_id"] for row in rows_in(repo[CONTESTS])))
    assert found == wanted[::-1]
    # Lost or cut, the table is made again of those that are kept in full.
    again = publish({**repo, CONTESTS: b"cut"}, contest_bundle(order[-1], contests[order[-1]]))
    assert {row["contest_id"] for row in rows_in(again[CONTESTS])} <= set(came)
    cut = {"contests/full/old.parquet": b"cut"}
    with pytest.raises(PublishError, match="not a contest of Tiebreak"):
        publish(cut, contest_bundle("p", "x"))


def test_metrics_are_in_their_order_and_those_of_a_later_version_come_last() -> None:
    metrics = ["zeal", "native_score", "elo", "normalized_borda"]
    rows = [row("r", "t", metric=metric, judge=None) for metric in metrics]
    found = [one["metric"] for one in newest(rows)]
    assert found == ["normalized_borda", "native_score", "elo", "zeal"]


NEWER = [row("r2", "2026-01-02T00:00:00Z", benchmark="new")]


def leaderboard(without: str = "", null: str = "", text: str = "") -> bytes:
    """The table of an older run: without a column, with one that is empty, or one of texts."""
    table = table_of("leaderboard", [row("r1", "2026-01-01T00:00:00Z", benchmark="old")])
    if without:
        return to_parquet(table.drop_columns([without]))
    if name := null or text:
        place = table.schema.get_field_index(name)
        values = pa.array(["high"]) if text else pa.array([None], table.schema.types[place])
        table = table.set_column(place, name, values)
    return to_parquet(table)


NEEDED = ("benchmark", "protocol", "run_id", "created", "model", "metric")


@pytest.mark.parametrize(
    "changed",
    [
        *({"without": name} for name in (*NEEDED, "judge")),
        *({"null": name} for name in NEEDED),
        {"text": "value"},
        {},
    ],
    ids=str,
)
def test_a_table_that_is_none_of_ours_is_named(changed: dict[str, Any]) -> None:
    """Of all runs it is an error; the latest one is made again of the others."""
    wrong = leaderboard(**changed) if changed else b"no Parquet"
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
