"""Shards of a run are read as the one run, or refused by name."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import fsspec  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inspect_ai.log import EvalSample

from tests.analysis.whole import whole as whole_text
from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import (
    bracket,
    call,
    item,
    match,
    sample,
    shard_metadata,
    write_log,
    write_shards,
)
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.candidates import RUN_KEY, SHARD_KEY, Shard
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs.joins import join_shards
from tiebreak.ranking_logs.log import JudgedItem, RankingLog, RankingLogError
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.tables import read_ballots

T = TypeVar("T")

EARLY, LATE = "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"


def cut(items: Sequence[T], total: int) -> list[Sequence[T]]:
    return [items[start::total] for start in range(total)]


def brackets(n_items: int) -> list[ItemBallots]:
    return [bracket(f"q{number}", "a", "b", "c") for number in range(1, n_items + 1)]


def shard(text: str | None, ids: Sequence[str] = (), path: str = "", **fields: Any) -> RankingLog:
    """A log in which `ids` were judged; those that begin with ! could not be."""
    path = path or "logs/{}of{}.eval".format(*(text or "1/1").split("/"))
    usual: dict[str, Any] = {
        "path": path,
        "files": (path,),
        "task": "seal",
        "eval_id": f"E{text}",
        "task_id": f"T{text}",
        "created": EARLY,
        "status": "success",
        "protocol": "seal",
        "benchmark": "gsm8k",
        "run": "f00d",
        "shard": Shard.parse(text) if text else None,
        "arguments": {},
        "planned": tuple(ids),
        "n_expected": len(ids),
        "samples": tuple(
            JudgedItem(one, 1, None, "it broke" if one[0] == "!" else None) for one in ids
        ),
    }
    return RankingLog(**usual | fields)


def ids_of(run: RankingLog) -> list[str]:
    return [one.id for one in run.samples]


# --- the same numbers ---


def all_sorts_of_items(n_items: int) -> list[list[EvalSample]]:
    """The samples of each item, in pool order: ranked, unscored, cut short, failed; two epochs."""
    draw = random.Random(5)
    items = []
    for number in range(1, n_items + 1):
        best, middle, last = draw.sample("abc", 3)
        ballots = item(
            f"q{number}",  # a log has q10 before q2: its order is not that of the pool
            [
                match(middle, last, draw.uniform(-1, 1), second_order=draw.uniform(-1, 1)),
                match(best, middle, None if number % 7 == 0 else draw.uniform(-1, 1), round=2),
            ],
            groups=((best,), (middle,), (last,)),
            native={model: draw.random() for model in "abc"},
            calls=[call(cost=draw.random(), cached=number % 4 == 0, depth=d) for d in (0, 1)],
            benchmark="mmlu" if number % 3 == 0 else "gsm8k",
            complete=number % 11 != 0,
        )
        samples = []
        for epoch in (1, 2) if number % 5 == 0 else (1,):
            own = ballots.model_copy(update={"seed": epoch})
            one = sample(own, error="it broke" if number % 13 == 0 else None)
            samples.append(one.model_copy(update={"epoch": epoch}))
        items.append(samples)
    return [*items, [sample(None, "bare")]]


def flat(items: Sequence[Sequence[EvalSample]]) -> list[EvalSample]:
    return [one for samples in items for one in samples]


def boards_of(folder: Path) -> list[Leaderboard]:
    """Leaderboards without what must differ: where they came from, and which log to run again."""
    return [
        replace(
            board,
            log="",
            eval_id="",
            created="",
            notes=tuple(note for note in map(str, board.notes) if "items judged" not in note),
        )
        for board in leaderboards([folder], how=Resampling(draws=300))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("total", [8, 40])  # 40: more shards than items
def test_shards_give_the_leaderboard_of_the_one_log(tmp_path: Path, total: int) -> None:
    items = all_sorts_of_items(30)
    write_log(tmp_path / "one" / "r.eval", flat(items))
    write_shards(tmp_path / "parts", [flat(part) for part in cut(items, total)])
    whole = boards_of(tmp_path / "one")
    assert [(board.benchmark, len(board.rows)) for board in whole] == [("gsm8k", 3), ("mmlu", 3)]
    assert len(whole[0].unranked) > 3
    assert whole_text(boards_of(tmp_path / "parts")) == whole_text(whole)
    [one, joined] = (read_ranking_logs([tmp_path / name])[0] for name in ("one", "parts"))
    assert joined.items == one.items
    assert (joined.cut_short, joined.unranked) == (one.cut_short, one.unranked)


def test_shards_may_lie_in_several_folders_and_be_given_by_name(tmp_path: Path) -> None:
    paths = write_shards(tmp_path / "x", cut(brackets(7), 3))
    (tmp_path / "y" / "z").mkdir(parents=True)
    paths[1] = paths[1].rename(tmp_path / "y" / "z" / "2.eval")
    [log] = read_ranking_logs([paths[2], paths[1].parent, paths[0]])
    assert log.path == f"{tmp_path}/ (3 shards: x/1.eval, y/z/2.eval, x/3.eval)"
    assert log.files == tuple(map(str, paths))
    assert (log.run, log.n_expected, len(log.items)) == ("f00d", 7, 7)
    assert (log.status, log.created) == ("success", "2026-01-01T00:00:01+00:00")
    assert (log.eval_id, log.task_id, log.notes) == ("E1", "f00d-T1", ())
    [ballots] = read_ballots(tmp_path)
    assert ballots.items == tuple(f"q{number}" for number in range(1, 8))
    assert len(set(ballots.reviewers)) == 1


@pytest.mark.slow
def test_a_remote_folder(tmp_path: Path) -> None:
    local = write_shards(tmp_path, cut(brackets(5), 4))
    # A file system that is reached by its address alone, as S3 is.
    remote = fsspec.filesystem("memory")
    remote.put([str(path) for path in local], [f"/of-a-test/{n}.eval" for n in range(1, 5)])
    try:
        [log] = read_ranking_logs(["memory://of-a-test"])
        with pytest.raises(RankingLogError, match=r"Shards 1/4, 2/4, 4/4 are missing"):
            read_ranking_logs(["memory://of-a-test/3.eval"])
    finally:
        remote.rm("/of-a-test", recursive=True)
    assert log.path == "memory:///of-a-test/ (4 shards: 1.eval, …, 4.eval)"
    assert [one.item_id for one in log.items] == ["q1", "q2", "q3", "q4", "q5"]


@pytest.mark.parametrize(("paths", "shown"), cases(__file__, "names of shards"))
def test_how_shards_are_named_together(paths: list[str], shown: str) -> None:
    [run] = join_shards(
        shard(f"{number}/{len(paths)}", path=path) for number, path in enumerate(paths, start=1)
    )
    assert run.path == shown


names = st.lists(st.text("abc019", min_size=1, max_size=4), unique=True, max_size=20)


@pytest.mark.slow
@settings(deadline=None)
@given(names, st.integers(1, 6), st.randoms(use_true_random=False))
def test_joining_undoes_cutting(ids: list[str], total: int, chance: random.Random) -> None:
    parts = enumerate(cut(ids, total), start=1)
    logs = [shard(f"{number}/{total}", sorted(part)) for number, part in parts]
    chance.shuffle(logs)
    [run] = join_shards(logs)
    assert ids_of(run) == sorted(run.planned) == sorted(ids)
    assert (run.n_expected, run.shard, run.status) == (len(ids), None, "success")


# --- what is refused ---


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(1, n)))))
@example((40, set(range(1, 21))))  # as many as are listed, there and missing
@example((42, set(range(22, 43))))  # one more
@example((10**12, {1}))
def test_any_hole_is_refused_and_named(case: tuple[int, set[int]]) -> None:
    total, there = case
    logs = [shard(f"{number}/{total}", [f"q{number}"]) for number in there]
    if len(there) in (0, total):
        assert len(join_shards(logs)) == bool(there)
        return
    with pytest.raises(RankingLogError, match="missing from a ") as error:
        join_shards(logs)
    first, *files, remedy = str(error.value).splitlines()
    # There are at most 30, so among the first 60 are more than are listed, or all of them.
    some = range(1, min(total, 60) + 1)
    missing = [f"{number}/{total}" for number in some if number not in there]
    assert re.findall(r"\d+/\d+", first) == missing[:20]
    assert ("…" in first) == (len(missing) > 20)
    shown = [f"{number}/{total}" for number in sorted(there)]
    shown = shown if len(shown) <= 20 else [*shown[:20], "…"]
    assert [line.split()[0] for line in files] == shown
    assert remedy.endswith(f"-T shard={missing[0]}")


def test_a_shard_that_cannot_be_read_is_missing_and_named(tmp_path: Path) -> None:
    first, torn, _ = write_shards(tmp_path, cut(brackets(6), 3))
    torn.write_bytes(torn.read_bytes()[:500])
    with pytest.raises(RankingLogError) as error:
        read_ranking_logs([tmp_path])
    assert str(error.value).startswith("Shard 2/3 is missing from a seal run (2 of 3 are there):")
    assert f"Left out: {torn} cannot be read as an Inspect log" in str(error.value)
    with pytest.raises(RankingLogError, match=r"^Shards 2/3, 3/3 are missing from a seal run \(1"):
        leaderboards([first])


AGAIN = shard("2/2", ["q2"], "logs/again.eval", task_id="another")


ONE, TWO = shard("1/2", ["q1"]), shard("2/2", ["q2"])
OVERLAPS: dict[str, list[RankingLog]] = {
    "judged twice": [ONE, TWO, AGAIN],
    # The overlap is what must be solved first, even if a shard is missing too.
    "judged twice, one missing": [TWO, AGAIN],
    "cut otherwise": [TWO, ONE, shard("3/4", ["q3"])],
    "the same item": [
        shard("1/3", ["q1", "q4"]),
        shard("2/3", ["q2"]),
        shard("3/3", ["q3", "q4"]),
    ],
    # Planned for both, though judged in one only so far.
    "the same item planned": [shard("1/2", ["q1"], planned=("q1", "q2")), TWO],
    # Judged in both, though the log does not say what was planned.
    "the same item judged": [shard(f"{n}/2", ["q1"], planned=()) for n in (1, 2)],
    "a hole": [shard("4/4", path="logs/d.eval"), shard("2/4", path="logs/b.eval")],
}


def test_overlaps_are_refused_and_named() -> None:
    lines = []
    for name, logs in OVERLAPS.items():
        said = set()
        for order in (logs, logs[::-1]):
            with pytest.raises(RankingLogError) as error:
                join_shards(order)
            said.add(str(error.value))
        [text] = said
        lines.append(f"{name}: {text}\n")
    check(__file__, "overlaps.txt", "".join(lines))


# --- which logs belong together ---


def test_two_runs_in_a_folder_are_two_logs() -> None:
    first = [shard("1/2", ["q1"], run="a"), shard("2/2", ["q2"], run="a")]
    second = [shard("1/2", ["q1"], run="b"), shard("2/2", ["q2"], run="b")]
    runs = join_shards([first[1], second[0], second[1], first[0]])
    assert [(run.run, ids_of(run)) for run in runs] == [("a", ["q1", "q2"]), ("b", ["q1", "q2"])]
    with pytest.raises(RankingLogError, match="Shard 1/2"):
        join_shards([*first, second[1]])
    # A whole log of the same run is a repeated run.
    whole = shard(None, ["q1", "q2"])
    runs = join_shards([ONE, whole, TWO])
    assert runs[0] is whole
    assert ids_of(runs[1]) == ["q1", "q2"]
    with pytest.raises(RankingLogError, match="by different tasks"):
        join_shards([shard("1/1", path="a", task_id=""), shard("1/1", path="b", task_id="")])


@pytest.mark.slow
def test_the_runs_come_by_age_whole_or_in_shards(tmp_path: Path) -> None:
    write_shards(tmp_path, cut(brackets(2), 2))
    write_log(tmp_path / "new.eval", brackets(2), created=LATE, metadata=None)
    early = "2025-01-01T00:00:00+00:00"
    write_log(tmp_path / "old.eval", brackets(2), created=early, task_id="T2")
    logs = read_ranking_logs([tmp_path])
    assert [Path(log.files[0]).name for log in logs] == ["old.eval", "1.eval", "new.eval"]


@pytest.mark.parametrize(
    "metadata",
    [{}, {SHARD_KEY: "1/2"}, {RUN_KEY: "f00d"}, {RUN_KEY: "f00d", SHARD_KEY: None}],
    ids=["earlier version", "no run", "whole", "whole, said aloud"],
)
def test_a_log_that_is_no_shard_is_read_as_it_is(tmp_path: Path, metadata: dict[str, Any]) -> None:
    metadata = {"tiebreak_protocol": "seal"} | metadata
    path = write_log(tmp_path / "r.eval", brackets(2), metadata=metadata)
    [log] = read_ranking_logs([path])
    assert (log.path, log.files) == (str(path), (str(path),))
    assert (log.run, len(log.items)) == (metadata.get(RUN_KEY, ""), 2)


def test_a_shard_without_sense(tmp_path: Path) -> None:
    metadata = shard_metadata(9, 8)
    path = write_log(tmp_path / "r.eval", brackets(2), metadata=metadata)
    with pytest.raises(RankingLogError, match=rf"^{path} cannot .* shard is '9/8': it must be K/N"):
        read_ranking_logs([path])


# --- attempts at one shard, and runs that did not end well ---


@pytest.mark.parametrize(("early", "late", "kept"), cases(__file__, "attempts"))
def test_the_fullest_attempt_counts(early: list[str], late: list[str], kept: str) -> None:
    planned = {"planned": ("q2", "q4"), "n_expected": 2}
    attempts = [
        shard("2/2", early, "early", **planned),
        shard("2/2", late, "late", created=LATE, **planned),
    ]
    [other] = {"early", "late"} - {kept}
    for order in (attempts, attempts[::-1]):
        [run] = join_shards([ONE, *order])
        assert run.files == ("logs/1of2.eval", kept)
        assert (run.n_expected, run.created) == (3, EARLY)
        [note] = run.notes
        assert note.startswith(f"shard 2/2: {other} is left out: it judged ")


@pytest.mark.parametrize(("statuses", "status"), cases(__file__, "status of a run"))
def test_a_run_ends_as_badly_as_its_worst_shard(statuses: str, status: str) -> None:
    logs = [shard(f"{k}/3", status=one) for k, one in enumerate(statuses.split(), start=1)]
    assert [run.status for run in join_shards(logs)] == [status]


@pytest.mark.parametrize(
    ("fields", "n_expected", "advice"),
    [
        ({"status": "error", "created": LATE}, 3, " (status: error); run `inspect eval-retry "),
        ({}, 3, ". Run the same `inspect eval` again"),
    ],
)
def test_what_to_do_is_said_for_each_shard(
    tmp_path: Path, fields: dict[str, Any], n_expected: int, advice: str
) -> None:
    """Of two shards of two items the second judged one."""
    write_shards(tmp_path, cut(brackets(2), 2))
    metadata = shard_metadata(2, 2)
    write_log(tmp_path / "2.eval", brackets(2)[1:], expected=2, metadata=metadata, **fields)
    [log] = read_ranking_logs([tmp_path])
    assert log.status == fields.get("status", "success")
    assert (log.n_expected, len(log.items)) == (n_expected, 2)
    [note] = log.notes
    assert note.startswith(f"shard 2/2: 1 of 2 items judged{advice}")
    assert note.endswith("Then remove this log: a shard counts once") == (not fields)
