"""A run in shards: each judges its part, and together they are the run in one go."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, write_eval_log

from tests.harness import ROOT, forks
from tests.harness import run as run_command
from tests.inspect_tasks.reviews import answer
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    logs_in,
    write_pool,
)
from tiebreak.candidates import RUN_KEY, SHARD_KEY
from tiebreak.ranking_logs import RankingLogError, read_ranking_logs

TASKS = ["fixed_rubric", "swiss"]
ITEMS = 7
# A judge whose verdicts differ from item to item, but not from call to call.
JUDGE = "planted/bias=0.3"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pool(tmp_path_factory.mktemp("pool") / "logs", 5, ITEMS, answer)


def run_of(log: EvalLog) -> str:
    return str((log.eval.metadata or {})[RUN_KEY])


@pytest.mark.slow
def test_shards_are_one_run(pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = judge_in_process(TASKS, pool, tmp_path / "whole", JUDGE)
    for shard in ("2/3", "1/3", "3/3"):
        # As on three machines: each with a cache of its own.
        monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / shard[0]))
        judge_in_process(TASKS, pool, tmp_path / "shards", JUDGE, shard=shard)

    logs = logs_in(tmp_path / "shards")
    assert len(logs) == 6
    for one in whole:
        parts = [log for log in logs if log.eval.task == one.eval.task]
        assert {run_of(part) for part in parts} == {run_of(one)}
        assert {(part.eval.metadata or {})[SHARD_KEY] for part in parts} == {"1/3", "2/3", "3/3"}
        # Every item once, with the same ballots; the rubric's author is asked on each machine.
        judged = [item for part in parts for item in ballots_of(part).items()]
        assert len(judged) == ITEMS
        assert {name: item.model_dump(exclude={"calls"}) for name, item in judged} == {
            name: item.model_dump(exclude={"calls"}) for name, item in ballots_of(one).items()
        }
    together = boards_by_protocol(tmp_path / "shards")
    for name, board in boards_by_protocol(tmp_path / "whole").items():
        assert together[name].n_items == ITEMS
        assert repr(together[name].rows) == repr(board.rows)
        assert repr(together[name].views) == repr(board.views)

    # What is lost or too much is named.
    third = [log for log in logs if (log.eval.metadata or {})[SHARD_KEY] == "3/3"]
    swiss = next(log for log in third if log.eval.task == "swiss")
    place = Path(swiss.location.removeprefix("file://"))
    place.rename(tmp_path / "away.eval")
    with pytest.raises(RankingLogError, match=r"Shard 3/3 is missing from a swiss run"):
        read_ranking_logs([tmp_path / "shards"])
    Path(tmp_path / "away.eval").rename(place)
    twice = judge_in_process("swiss", pool, tmp_path / "shards", JUDGE, shard="2/3")
    with pytest.raises(RankingLogError, match=r"Shard 2/3 was judged more than once"):
        read_ranking_logs([tmp_path / "shards"])
    Path(twice[0].location.removeprefix("file://")).unlink()
    # A copy of the same file in another folder is the same attempt at it.
    (tmp_path / "copy").mkdir()
    write_eval_log(swiss, str(tmp_path / "copy" / "copy.eval"))
    runs = read_ranking_logs([tmp_path / "shards", tmp_path / "copy"])
    assert [len(run.items) for run in runs] == [ITEMS, ITEMS]


@pytest.mark.slow
def test_shards_in_processes_of_this_machine_give_the_same_board(
    pool: Path, tmp_path: Path
) -> None:
    """As the page has it: at the same time, with one cache, into one folder."""
    page = (ROOT / "docs/how-to/clusters.md").read_text(encoding="utf-8")
    script = page.partition("```sh\n")[2].partition("```")[0].replace("openai/gpt-5", JUDGE)
    beside, after = script.split("wait\n")
    assert beside.count(" &\n") == len(beside.splitlines()) == 2
    (tmp_path / "logs").symlink_to(pool)
    cache = str(tmp_path / "cache")

    def run_line(line: str) -> None:
        run_command(*shlex.split(line.removesuffix(" &")), cwd=tmp_path, INSPECT_CACHE_DIR=cache)

    forks()  # once, and not for each of two threads
    with ThreadPoolExecutor(2) as processes:
        list(processes.map(run_line, beside.splitlines()))
    for line in after.splitlines():
        run_line(line)
    logs = logs_in(tmp_path / "here")
    assert {(log.eval.metadata or {})[SHARD_KEY] for log in logs} == {"1/2", "2/2"}
    judge_in_process("round_robin", pool, tmp_path / "one", JUDGE)
    [together], [board] = (
        [*boards_by_protocol(tmp_path / name).values()] for name in ("here", "one")
    )
    assert together.n_items == ITEMS
    for part in ("rows", "pairs", "views", "verdict"):
        assert repr(getattr(together, part)) == repr(getattr(board, part)), part


@pytest.mark.slow
def test_another_run_is_another_run(pool: Path, tmp_path: Path) -> None:
    """The fingerprint follows from all that can change a result, and from nothing else."""
    log_dir = tmp_path / "out"

    def run(candidates: Path = pool, judge: str = JUDGE, **arguments: Any) -> str:
        first: dict[str, Any] = {"eval_args": {"limit": 1}}
        [log] = judge_in_process(
            "listwise",
            candidates,
            log_dir,
            judge,
            **first,
            **arguments,
        )
        return run_of(log)

    base = run()
    assert run(shard="2/5") == run(max_calls=5) == run(mode="intersect") == base
    others = [
        run(seed=1),
        run(repeat=2),
        run(merge_identical=False),
        run(task_type="general_qa"),
        run(judge="planted/x"),
        run(write_pool(tmp_path / "logs", 5, ITEMS - 1, answer)),
    ]
    assert len({base, *others}) == 1 + len(others)


@pytest.mark.slow
def test_as_many_shards_as_items(pool: Path, tmp_path: Path) -> None:
    [log] = judge_in_process("listwise", pool, tmp_path, shard="7/7")
    assert [*ballots_of(log)] == ["q6"]
