"""Six processes publish at once to one Hub, which errs, and each is killed at some request.

The Hub is one on loopback that real clients talk to; the runs, cards and tables are real, too. A
process that was killed, or gave up, is started again with the same command, as a person would.
"""

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from multiprocessing.connection import wait
from typing import Any

import pytest

from tests.faults.record import Tried, amount, record
from tests.publish import fake_hub
from tests.publish.fake_hub import FakeHub, Fault
from tests.publish.fake_repo import Answer, Commit
from tests.publish.hub_client import COMMIT, REPO
from tests.publish.judged_runs import bundle, write_both
from tests.publish.test_hub_faults import AFTER, BEFORE, STAGES
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.card import README
from tiebreak.publish.errors import PublishError
from tiebreak.publish.hub import RetryPolicy, publish_bundle
from tiebreak.publish.latest import LATEST, changing_files
from tiebreak.rankers import MissingPackageError, Resampling

TOKENS = [f"hf_write_{number}" for number in range(6)]
GAVE_UP = 3
# A process is forked from one that has these.
PRELOADED = [
    *(__name__, "tiebreak.publish.dataset", "pandas", "pyarrow.compute", "pyarrow.parquet"),
    *("huggingface_hub.hf_api", "huggingface_hub.repocard", "huggingface_hub.file_download"),
]


class KillingHub(FakeHub):
    """Kills a process with signal 9 at its n-th request, before the work is done or after it."""

    def __init__(self, kills: Mapping[tuple[str, int], bool]) -> None:
        super().__init__()
        self.kills = dict(kills)  # by token and number of the request: whether it is done
        self.pids: dict[str, int] = {}
        self.asked: Counter[str] = Counter()
        self.killed = 0

    def answer(self, method: str, target: str, token: str | None, body: bytes) -> Answer:
        with self.lock:
            name = token or ""
            self.asked[name] += 1
            done = self.kills.pop((name, self.asked[name]), None)
            answer = Answer(503) if done is False else super().answer(method, target, token, body)
            # Once only: its number may be another process's by then.
            if done is not None and (pid := self.pids.pop(name, None)) is not None:
                os.kill(pid, signal.SIGKILL)
                self.killed += 1
            return answer


def publish(made: Bundle, url: str, token: str) -> None:
    """What a process does. Chance is in the waiting only."""
    import huggingface_hub.constants
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    disable_progress_bars()
    policy = RetryPolicy(tries=6, sleep=lambda seconds: time.sleep(seconds / 50), timeout=5)
    try:
        publish_bundle(made, REPO, endpoint=url, token=token, wait=policy)
    except PublishError:
        raise SystemExit(GAVE_UP) from None


def together(hub: KillingHub, bundles: tuple[Bundle, ...]) -> None:
    """Publish all at once, each again until it is done."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(PRELOADED)
    running: dict[Any, tuple[Any, int]] = {}
    starts = 0

    def start(number: int) -> None:
        nonlocal starts
        starts += 1
        with hub.lock:  # nothing is answered before its process is known
            process = processes.Process(
                target=publish, args=(bundles[number], hub.url, TOKENS[number]), daemon=True
            )
            process.start()
            assert process.pid is not None
            hub.pids[TOKENS[number]] = process.pid
            running[process.sentinel] = process, number

    for number in range(len(bundles)):
        start(number)
    while running:
        ended = wait(list(running), timeout=300)
        assert ended, "a process hangs"
        for sentinel in ended:
            process, number = running.pop(sentinel)
            process.join()
            assert process.exitcode in (0, GAVE_UP, -signal.SIGKILL), process.exitcode
            if process.exitcode:
                assert starts < 100
                start(number)


def disturbed(seed: int) -> KillingHub:
    """A Hub that kills each process once or twice, and has eight troubles on the way.

    It answers the first commits late: by then the others have looked, too.
    """
    chance = random.Random(seed)
    # An undisturbed publication sends about fifteen requests.
    kills = {
        (token, chance.randint(1, 15) + 15 * again): chance.random() < 0.5
        for token in TOKENS
        for again in range(amount(1, 2))
    }
    hub = KillingHub(kills)
    hub.faults.append(Fault(COMMIT, None, len(TOKENS), delay=0.3))
    for _ in range(8):
        landed = chance.random() < 0.5
        what = chance.choice(AFTER if landed else BEFORE)
        stage = chance.choice([COMMIT, COMMIT, *STAGES.values()])
        times = chance.randint(1, 3)
        hub.faults.append(Fault(stage, what, times, landed))  # type: ignore[arg-type]
    return hub


def lost(history: list[Commit], bundles: tuple[Bundle, ...]) -> list[str]:
    """What is not as it would be after six publications one after the other."""
    found = []
    for earlier, later in pairwise(history):
        gone = earlier.tree.keys() - later.tree.keys()
        found += [f"{path} has gone" for path in sorted(gone)]
    head = history[-1].tree
    for made in bundles:
        [(run_id, files)] = made.runs.items()
        there = [sum(path in commit.tree for path in files) for commit in history]
        if set(there) != {0, len(files)}:
            found.append(f"{run_id} is there in parts: {there}")
        if any(head.get(path) != content for path, content in files.items()):
            found.append(f"{run_id} has changed")
    runs = {run_id: files for made in bundles for run_id, files in made.runs.items()}
    everything = Bundle(runs, {})
    at_once = changing_files(everything, {}, license=None, repo_id=REPO)
    found += [f"{path} is another" for path in (README, LATEST) if head.get(path) != at_once[path]]
    titles = [commit.title for commit in history[1:]]
    expected = [f"Add 1 run: {run_id}" for run_id in runs]
    if sorted(titles) != sorted(expected):
        found.append(f"commits: {titles}")
    return found


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, ...]:
    """Six real runs, each a publication of its own."""

    def undrawn() -> None:  # drawing takes most of the time
        raise MissingPackageError("no matplotlib")

    folder = tmp_path_factory.mktemp("runs")
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiebreak.publish.bundle.require_matplotlib", undrawn)
        for number in range(len(TOKENS)):
            created = f"2026-0{number + 1}-01T00:00:00+00:00"
            log = write_both(folder / str(number), created=created)
            made.append(bundle([log], how=Resampling(draws=20)))
    return tuple(made)


@pytest.mark.slow
def test_six_processes_at_once_lose_and_double_nothing(
    bundles: tuple[Bundle, ...], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for token in TOKENS:
        monkeypatch.setitem(fake_hub.TOKENS, token, ("alice", "write"))
    killed, troubles, refused = 0, 0, 0
    wrong: dict[int, list[str]] = {}
    for seed in range(rounds := amount(1, 40)):
        hub = disturbed(seed)
        ordered = sum(fault.times for fault in hub.faults[1:])
        with hub.running():
            together(hub, bundles)
        killed += hub.killed
        troubles += ordered - sum(fault.times for fault in hub.faults[1:])
        history = hub.repos[REPO].history()[::-1]
        refused += len(hub.requests(COMMIT)) - (len(history) - 1)
        if found := lost(history, bundles):
            wrong[seed] = found
    gone = sum(map(len, wrong.values()))
    for fault, tried in (("kill -9", killed), ("errors of the Hub", troubles)):
        record(request, Tried(f"{fault}, six publish", tried, 0 if wrong else tried, gone))
    assert wrong == {}
    assert killed >= 3 * rounds
    assert troubles >= 3 * rounds
    assert refused >= 3 * rounds, "they were in each other's way"
