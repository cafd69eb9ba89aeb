"""The disk is full in the middle of a run: what is lost is said, and comes back once there is room.

Where the log lies Inspect ends with an error and exit code 0; where its cache lies it says nothing.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.record import FULL, Tried, amount, record
from tests.inspect_tasks.runs import (
    ballots_of,
    boards_by_protocol,
    judge_in_process,
    real_calls,
    without_receipt,
    write_pool,
)
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.reason import Reason

pytestmark = pytest.mark.slow

N_ITEMS = 16
SAID = re.compile(r"holds (\d+) of (\d+) items that were begun, and (\d+) of (\d+) paid calls are")
# KiB: too few for a log, whose writing takes twice its size, and for 40 replies of a page each.
SIZES = {
    "log": (64, 8, 12, 16, 24, 32, 40, 48, 52, 56, 68, 72),
    "cache": (64, 16, 32, 96, 120, 140),
    "both": (120, 32, 64, 96, 160, 200),
}


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the planted judge notes every call that really happens."""
    monkeypatch.setenv("PLANTED_CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    def answer(model: int, item: int) -> str:
        return f"It is {item}. quality={model + 1} {'x' * 300}"

    return write_pool(tmp_path / "logs", 4, N_ITEMS, answer)


@pytest.mark.parametrize("where", SIZES if FULL else ["log"])
def test_what_is_lost_is_said_and_comes_back(
    where: str,
    disk: Callable[[int], Path],
    pool: Path,
    tmp_path: Path,
    calls: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
) -> None:
    [log] = judge_in_process("round_robin", pool, tmp_path / "whole")
    expected = {name: without_receipt(one) for name, one in ballots_of(log).items()}
    n_calls = len(real_calls(calls))
    lost = repeated = 0
    sizes = SIZES[where][: amount(1, len(SIZES[where]))]
    for size in sizes:
        calls.unlink()
        caplog.clear()
        small = disk(size)
        out = (small if where != "cache" else tmp_path) / f"out{size}"
        cache = (small if where != "log" else tmp_path) / f"cache{size}"
        monkeypatch.setenv("INSPECT_CACHE_DIR", str(cache))
        judge_in_process("round_robin", pool, out)
        paid = len(real_calls(calls))
        check_what_is_said(caplog.text, where, out, paid)

        # Once there is room the same command gives what a run without the fault does.
        disk(64 << 10)
        [log] = judge_in_process("round_robin", pool, out)
        found = {name: without_receipt(one) for name, one in ballots_of(log).items()}
        lost += sum(found.get(name) != one for name, one in expected.items())
        repeated += len(real_calls(calls)) - n_calls
        assert where != "log" or len(real_calls(calls)) == n_calls
        assert boards_by_protocol(out)["round_robin"].n_items == N_ITEMS
        for path in sorted(small.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    assert lost == 0
    fault = {"log": "the log's", "cache": "the cache's", "both": "the only"}[where]
    record(request, Tried(f"{fault} disk is full", len(sizes), len(sizes), lost, repeated))


def check_what_is_said(said: str, where: str, out: Path, paid: int) -> None:
    """The error and the board say what the log lacks, to the call."""
    assert ("The disk of Inspect's cache is full" in said) == (where != "log")
    found = SAID.search(said)
    [board] = leaderboards([out])
    warned = [one for one in board.warnings if one.kind == "ends_early"]
    if where == "cache":
        assert (found, warned, board.receipt.n_calls) == (None, [], paid)
        return
    assert found is not None, said
    held, begun, missing, of = map(int, found.groups())
    assert held == board.n_items < begun <= N_ITEMS
    # A call that is cut off in the middle has no usage.
    assert missing == of - board.receipt.n_calls
    assert 0 < of <= paid
    assert warned == [Reason("ends_early", n=N_ITEMS - held, of=N_ITEMS)]
