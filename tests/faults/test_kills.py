"""kill -9 at any time: what a run comes to after a retry, and what is paid for twice."""

import json
import pickle
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, list_eval_logs

from tests.faults.record import FULL, Tried, amount, record
from tests.harness import forks
from tests.inspect_tasks.reviews import answer
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    logs_in,
    real_calls,
    without_receipt,
    write_pool,
)
from tiebreak.analysis.comparison import compare
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.rankers import Resampling

pytestmark = pytest.mark.slow

N, CONNECTIONS = 4, 3
ITEMS = amount(quick=6, full=10)
AT_ONCE = 4 * CONNECTIONS
"""As many calls are under way at most: there are up to four models."""

JUDGE = "planted/noise=0.3+malformed=0.05+scale=2+seed=4"
BROKEN = "planted/fails=1"
PEERS = [f"planted/noise=0.3+seed={number}" for number in range(N)]


@dataclass(frozen=True)
class Kind:
    """A kind of run: its task, who judges, how many items, and what else it is given."""

    task: str
    roles: str
    items: int
    options: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        return [
            *("inspect", "eval", f"tiebreak/{self.task}", "-T", "candidates=../pool"),
            *("--model-role", self.roles, "--max-connections", str(CONNECTIONS), *self.options),
        ]


ONE = f"judge={JUDGE}"
KINDS = {
    "seal": Kind("seal", ONE, 6),
    "round_robin": Kind(
        "round_robin", f"judge=[{JUDGE}, planted/bias=9, {BROKEN}]", ITEMS, ("-T", "swap=always")
    ),
    "full_pairwise": Kind("full_pairwise", ONE, 6),
    "peer_review": Kind(
        "peer_review",
        f"peers=[{', '.join(PEERS)}]",
        ITEMS,
        ("-T", "reviewers=[m0, m1, m2, m3]"),
    ),
    # One item at a time: how many are under way when the ranking is decided is not left to chance.
    "settle": Kind("listwise", ONE, 40, ("-T", "settle=1", "--max-samples", "1")),
}


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a run: a judge that takes its time, and a cache for it alone."""
    return {
        "PLANTED_CALLS": str(folder / "calls"),
        "PLANTED_DELAY": "0.02",
        "INSPECT_CACHE_DIR": str(folder / "cache"),
    }


class Attempts:
    """Attempts at a run, each in a process of its own that may be killed on the way."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        folder.mkdir()
        self.folder, self._kind = folder, kind
        self._calls = folder / "calls"

    @property
    def made(self) -> list[str]:
        """The calls that really happened, over all attempts, but for those that had to fail."""
        return [call for call in real_calls(self._calls) if "fails" not in call]

    @property
    def kept(self) -> int:
        """How many replies are in the cache, all of them."""
        files = (self.folder / "cache" / "generate").rglob("*")
        return sum(path.is_file() and _is_whole(path) for path in files)

    @property
    def last(self) -> EvalLog | None:
        """The log of the latest attempt, if it got as far as that."""
        return next(reversed(logs_in(self.folder / "out")), None)

    def run(self, *more: str, kill: Callable[[], bool] = lambda: False) -> bool:
        """The run's command, with more options; whether it was killed."""
        return self._run([*self._kind.command, *more], kill)

    def go_on(self, kill: Callable[[], bool] = lambda: False) -> bool:
        """Retry the latest attempt; whether that was killed."""
        if not list_eval_logs(str(self.folder / "out")):
            return self.run(kill=kill)
        log = self.last
        assert log is not None
        if log.status == "success":
            return False
        return self._run(["inspect", "eval-retry", log.location], kill)

    def _run(self, command: list[str], kill: Callable[[], bool]) -> bool:
        return forks().run(
            *command,
            *("--log-dir", "out"),
            cwd=self.folder,
            env=surroundings(self.folder),
            kill=kill,
        )


def _is_whole(path: Path) -> bool:
    """Whether Inspect had written all of a reply when it died."""
    try:
        pickle.loads(path.read_bytes())
    except (EOFError, pickle.UnpicklingError):
        return False
    return True


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Moments for kills, which follow from the test's name."""
    return random.Random(request.node.name)


def moment(rng: random.Random, seconds: float) -> Callable[[], bool]:
    """The end of a time from nothing to so many seconds from now."""
    end = time.monotonic() + rng.uniform(0, seconds)
    return lambda: time.monotonic() >= end


def found(attempts: Attempts) -> str:
    """What a run came to, in bytes: every ballot, every score, and the leaderboard."""
    log = attempts.last
    assert log is not None
    assert log.status == "success"
    [board] = boards_by_protocol(Path(log.location.removeprefix("file://"))).values()
    scores = {str(s.id): s.scores["ranking"].value for s in log.samples or [] if s.scores}
    ballots = {name: without_receipt(item) for name, item in ballots_of(log).items()}
    return json.dumps([ballots, scores, repr(board.rows)], sort_keys=True, default=repr)


only_full = pytest.mark.skipif(not FULL, reason="make faults tries it")


@pytest.mark.parametrize(
    "name",
    [
        *("seal", "round_robin", "peer_review"),
        pytest.param("full_pairwise", marks=only_full),
        pytest.param("settle", marks=only_full),
    ],
)
def test_killed_and_retried_it_comes_to_the_same_and_pays_for_nothing_twice(
    name: str, tmp_path: Path, rng: random.Random, request: pytest.FixtureRequest
) -> None:
    kind, kills = KINDS[name], amount(quick=1, full=17)
    write_pool(tmp_path / "pool", N, kind.items, answer)
    whole = Attempts(tmp_path / "whole", kind)
    began = time.monotonic()
    assert not whole.run()
    took = time.monotonic() - began
    wanted = Counter(whole.made)

    # A question that is asked twice gets another reply, and not after a kill.
    assert set(wanted.values()) == {1}

    repeated = 0
    for number in range(kills):
        attempts = Attempts(tmp_path / str(number), kind)
        kill = moment(rng, took) if number % 2 else calls(attempts, rng, len(whole.made))
        killed = attempts.run(kill=kill)
        under_way = len(set(attempts.made)) - attempts.kept if killed else 0
        assert not attempts.go_on()
        assert found(attempts) == found(whole)
        again = Counter(attempts.made) - wanted
        assert set(attempts.made) == set(wanted)
        # What is paid for twice was under way when the process died.
        assert again.total() <= under_way <= AT_ONCE
        repeated += again.total()
    record(request, Tried(f"kill -9: {name}", kills, kills, 0, repeated))


@pytest.mark.parametrize("how", ["go_on", pytest.param("run", marks=only_full)])
def test_all_attempts_together_stay_within_the_budget(
    how: str, tmp_path: Path, rng: random.Random, request: pytest.FixtureRequest
) -> None:
    cap, kills = 44, amount(quick=1, full=8)
    kind = Kind("full_pairwise", ONE, 20, ("-T", f"max_calls={cap}"))
    write_pool(tmp_path / "pool", N, kind.items, answer)
    attempts = Attempts(tmp_path / "run", kind)
    again: Callable[..., bool] = getattr(attempts, how)
    killed = attempts.run(kill=calls(attempts, rng, cap // kills))
    for _ in range(kills - 1):
        killed = killed and again(kill=calls(attempts, rng, cap // kills))
    assert not again()
    log = attempts.last
    assert log is not None
    assert log.status == "success"
    assert log.results
    assert log.results.early_stopping
    paid: Any = log.results.early_stopping.metadata["paid"]
    # What was under way at a kill counts, whether or not it had reached the judge.
    assert cap // 2 < len(attempts.made) <= paid["calls"] <= cap
    assert any(item.complete for item in ballots_of(log).values())
    twice = len(attempts.made) - len(set(attempts.made))
    row = f"kill -9: a budget, {'retried' if how == 'go_on' else 'the same command again'}"
    record(request, Tried(row, kills, kills, 0, twice))
    # The run has ended with its budget spent: the same command goes on with one of its own.
    before = len(attempts.made)
    assert not attempts.run()
    assert before < len(attempts.made) <= before + cap


def calls(attempts: Attempts, rng: random.Random, most: int) -> Callable[[], bool]:
    """The moment at which up to so many calls more have been made than now."""
    enough = len(attempts.made) + rng.randint(1, most)
    return lambda: len(attempts.made) >= enough


def test_a_killed_eval_set_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = write_pool(tmp_path / "logs", N, 8, answer)
    # Close matches and malformed replies, so that there is much that could go another way.
    judge = "planted/noise=0.5+malformed=0.1+scale=2+seed=1"
    whole = tmp_path / "whole-calls"
    monkeypatch.setenv("PLANTED_CALLS", str(whole))
    judge_in_process(["seal", "full_pairwise"], pool, tmp_path / "whole", judge)

    made_calls = tmp_path / "calls"
    env = surroundings(tmp_path)
    command = ["inspect", "eval-set", "tiebreak/seal", "tiebreak/full_pairwise"]
    command += ["-T", "candidates=logs", "--model-role", f"judge={judge}", "--log-dir", "out"]
    command += ["--max-tasks", "1", "--max-connections", "2"]
    # SEAL has ended by then, and the other task is half done.
    enough = len(real_calls(whole)) - 30
    killed = forks().run(
        *command, cwd=tmp_path, env=env, kill=lambda: len(real_calls(made_calls)) >= enough
    )
    assert killed
    states = {log.eval.task: log.status for log in logs_in(tmp_path / "out")}
    assert states == {"seal": "success", "full_pairwise": "started"}

    assert not forks().run(*command, cwd=tmp_path, env=env)
    made = real_calls(made_calls)
    assert set(made) == set(real_calls(whole))
    # Two calls may have been under way when the process died. (A call whose reply and whose repair
    # are both malformed is made again in either run.)
    assert len(made) - len(real_calls(whole)) <= 2

    done = [log for log in logs_in(tmp_path / "out") if log.status == "success"]
    for log in done:
        [same] = [one for one in logs_in(tmp_path / "whole") if one.eval.task == log.eval.task]
        assert {name: without_receipt(item) for name, item in ballots_of(log).items()} == {
            name: without_receipt(item) for name, item in ballots_of(same).items()
        }
    files = [log.location for log in done]
    assert len(files) == 2

    def reported(paths: list[str]) -> tuple[object, object]:
        boards = sorted(
            (board.protocol, board.rows) for board in leaderboards(paths, how=Resampling(draws=100))
        )
        [benchmark] = compare(paths, how=Resampling(draws=100)).benchmarks
        return boards, [(one.name, one.role, one.agreement, one.gain) for one in benchmark.logs]

    # As text, because NaN differs from itself.
    assert repr(reported(files)) == repr(reported([str(tmp_path / "whole")]))
