"""Several attempts at one run at once: one budget is spent once, and nothing goes on unseen."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from inspect_ai import eval_set

from tests.forking import Fork
from tests.harness import environment, forks, run
from tests.inspect_tasks.runs import judge_in_process, logs_in, real_calls, write_pool
from tiebreak.inspect_tasks.settling import AT_ONCE, ONE_BUDGET

pytestmark = pytest.mark.slow

BUDGET, UNDER_WAY = 20, 2
COMMAND = (
    *("inspect", "eval", "tiebreak/full_pairwise", "-T", "candidates=logs"),
    *("--model-role", "judge=planted/x", "--max-connections", str(UNDER_WAY)),
)
LIMITED = (*COMMAND, "-T", f"max_calls={BUDGET}")


@contextmanager
def started(n: int, *command: str, cwd: Path) -> Iterator[list[Fork]]:
    """So many processes with this command at once, whose judge does not reply in our lifetime."""
    env = environment(PLANTED_DELAY="3600")
    processes = []
    for number in range(n):
        with (cwd / f"printed{number}").open("wb") as file:
            files = {"stdout": file.fileno(), "stderr": file.fileno()}
            folder = ("--log-dir", f"out{number}")
            processes.append(forks().start(*command, *folder, cwd=cwd, env=env, **files))
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_for(condition: Callable[[], bool]) -> None:
    """A test that hangs is stopped from without; this one says which."""
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def words(printed: str) -> str:
    return " ".join(printed.split())


@pytest.mark.parametrize("n", [2, 3])
def test_processes_at_once_spend_one_budget(n: int, tmp_path: Path, calls: Path) -> None:
    write_pool(tmp_path / "logs", 4, 10)
    with started(n, *LIMITED, cwd=tmp_path) as processes:
        # Whoever is refused ends; the one that judges has its calls under way.
        wait_for(
            lambda: (
                len(real_calls(calls)) > UNDER_WAY
                or (
                    len(real_calls(calls)) == UNDER_WAY
                    and sum(process.poll() is None for process in processes) == 1
                )
            )
        )
        assert len(real_calls(calls)) == UNDER_WAY
        refused = [number for number in range(n) if processes[number].poll() is not None]
        assert len(refused) == n - 1
        for number in refused:
            printed = (tmp_path / f"printed{number}").read_text()
            assert words(printed) == ONE_BUDGET
            assert processes[number].returncode == 1
            assert logs_in(tmp_path / f"out{number}") == []
        # So is one that comes later.
        late = run(*LIMITED, "--log-dir", "late", cwd=tmp_path, code=1)
        assert words(late.stdout + late.stderr) == ONE_BUDGET
        assert logs_in(tmp_path / "late") == []
    # All have been killed: the next goes on at once, with what is left.
    run(*LIMITED, "--log-dir", "again", cwd=tmp_path)
    assert len(real_calls(calls)) == BUDGET


def test_each_shard_has_a_budget_of_its_own(tmp_path: Path, calls: Path) -> None:
    write_pool(tmp_path / "logs", 4, 10)
    with started(1, *LIMITED, "-T", "shard=1/2", cwd=tmp_path):
        wait_for(lambda: len(real_calls(calls)) == UNDER_WAY)
        run(*LIMITED, "-T", "shard=2/2", "--log-dir", "second", cwd=tmp_path)
        assert len(real_calls(calls)) == UNDER_WAY + BUDGET


def test_without_a_budget_the_second_is_warned(tmp_path: Path, calls: Path) -> None:
    write_pool(tmp_path / "logs", 3, 4)
    with started(1, *COMMAND, "--limit", "1-2", cwd=tmp_path):
        wait_for(lambda: len(real_calls(calls)) == UNDER_WAY)
        other = run(*COMMAND, "--limit", "3-4", "--log-dir", "second", cwd=tmp_path)
        limited = run(*LIMITED, "--log-dir", "third", cwd=tmp_path, code=1)
    alone = run(*COMMAND, "--limit", "1-2", "--log-dir", "fourth", cwd=tmp_path)
    warned = [AT_ONCE[:40] in words(done.stdout) for done in (other, alone)]
    assert warned == [True, False]
    assert ONE_BUDGET in words(limited.stdout + limited.stderr)


def test_attempts_of_one_process_do_not_shut_each_other_out(tmp_path: Path, calls: Path) -> None:
    def answer(model: int, item: int) -> str:
        return f"quality={model + 1}" + (" PROVIDER FAILS" if item == 1 else f" for {item}")

    write_pool(tmp_path / "logs", 3, 4, answer)
    for _ in range(2):
        done, logs = eval_set(
            "tiebreak/listwise",
            log_dir=str(tmp_path / "out"),
            task_args={"candidates": str(tmp_path / "logs"), "max_calls": 20},
            model_roles={"judge": "planted/x"},
            retry_attempts=2,
            retry_wait=0.01,
            log_level="warning",
        )
        assert not done
        assert [log.status for log in logs] == ["error"]
        assert all("being judged" not in str(log.error) for log in logs_in(tmp_path / "out"))
    assert len(set(real_calls(calls))) == 4


def test_tasks_of_one_process_do_not_spend_a_budget_twice(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_DELAY", "1")
    pool = write_pool(tmp_path / "logs", 4, 10)
    twice = ["full_pairwise", "full_pairwise"]
    at_once = {"max_tasks": 2}
    logs = judge_in_process(twice, pool, tmp_path / "out", max_calls=7, eval_args=at_once)
    assert sorted(log.status for log in logs) == ["error", "success"]
    [refused] = [log.error.message for log in logs if log.error]
    assert ONE_BUDGET in refused
    assert len(real_calls(calls)) == 7
    # One after the other, each has the budget.
    logs = judge_in_process(twice, pool, tmp_path / "out", max_calls=7)
    assert [log.status for log in logs] == ["success", "success"]
    assert len(real_calls(calls)) == 21
