"""CPU time of a judged call, compared with the same call through bare Inspect.

Run `python benchmarks/calls.py` (some five minutes), or `make bench`. The goal is at most twice the
bare call. There are 8 nearly tied models, whose answers have 1,500 characters.

The replies of a planted judge are recorded first. Then a provider in this process replays them to
`inspect eval tiebreak/…`, and to a task whose solver only makes the same calls, with the same
messages and schemas, and as many at once: once without and once with Inspect's cache, which judging
always uses. All runs write logs that can be watched, which is the default of `inspect eval`. They
run three times in turn; the medians count, less the time of a run of one item. The bare runs
collect garbage with Python's own thresholds, because judging raises them for the whole process.

Then one, two and four processes of this machine judge the same items in shards, with a judge on
loopback and Inspect's real client. By the CPU time of the processes, less that of a run of one
item, two cores are to make at least 1.8 × the calls per second of one process, and the joined
boards are to be those of the one process to the last digit.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # the script's own folder, whose statistics.py would hide Python's
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "plugin"))

import argparse
import gc
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from statistics import median
from typing import Any

import anyio
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo
from rich.console import Console
from rich.table import Table

from tests.candidates.builders import write_inspect_log
from tests.faults.openai_server import FakeOpenAI
from tiebreak.analysis.leaderboard import leaderboards

MODELS, CHARACTERS, TIMES = 8, 1500, 3
PROCESSES, CORES, FASTER = (1, 2, 4), 2, 1.8
PROTOCOLS = {"seal": {}, "full_pairwise": {}, "round_robin": {"rounds": 2}, "stars": {}}
SEARCHES = gc.get_threshold()
Asked = tuple[list[ChatMessage], GenerateConfig]

replies: dict[str, str] = {}
calls_by_item: dict[str | int, list[Asked]] = {}


@modelapi(name="recorded")
class Recorded(ModelAPI):
    """A model that replays recorded replies, found by the text of the messages."""

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        output = ModelOutput.from_content(self.model_name, replies[_key(input)])
        output.usage = ModelUsage(input_tokens=1000, output_tokens=200, total_tokens=1200)
        return output


def _key(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(message.text for message in messages)


def write_pool(folder: Path, items: int) -> None:
    """Write a log for each model; the models are nearly tied."""
    random = Random(2026)
    for model in range(MODELS):
        rows = []
        for item in range(items):
            words = " ".join(str(random.randrange(10**6)) for _ in range(CHARACTERS // 7))
            answer = f"{words} quality={random.gauss(model / 20, 0.2):.3f}"
            asked = {"id": f"q{item}", "question": f"What is {item}?", "target": f"key {item}"}
            rows.append({**asked, "answer": answer, "native": 1.0})
        write_inspect_log(folder / f"m{model}.eval", f"m{model}", rows, task="gsm8k")


@solver
def only_calls(cached: bool) -> Solver:
    """Make the calls in `calls_by_item` for the sample, all at once, and nothing else.

    The calls are not an argument, because Inspect writes a solver's arguments into the header of
    the log, and a header of some megabytes costs as much as the calls.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        cache = CachePolicy(expiry=None, per_epoch=False) if cached else False

        async def call(messages: list[ChatMessage], config: GenerateConfig) -> None:
            await model.generate(messages, config=config, cache=cache)

        async with anyio.create_task_group() as group:
            for messages, config in calls_by_item[state.sample_id]:
                group.start_soon(call, messages, config)
        state.completed = True
        return state

    return solve


def calls_of(log: EvalLog) -> dict[str | int, list[Asked]]:
    """Return the calls about each item in a log, and record their replies in `replies`."""
    found: dict[str | int, list[Asked]] = {}
    for sample in log.samples or []:
        events = [event for event in sample.events if isinstance(event, ModelEvent)]
        found[sample.id] = [
            (event.input, GenerateConfig(response_schema=event.config.response_schema))
            for event in events
        ]
        replies.update({_key(event.input): event.output.completion for event in events})
    return found


def cpu(run: Callable[[Path], Sequence[EvalLog]]) -> tuple[float, EvalLog]:
    """Run with a new cache and folder; returns the CPU seconds and the log."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["INSPECT_CACHE_DIR"] = str(Path(folder) / "cache")
        start = time.process_time()
        [log] = run(Path(folder))
        taken = time.process_time() - start
        assert log.status == "success", [s.error for s in log.samples or []][:1]
        return taken, read_eval_log(log.location, resolve_attachments=True)


def judged(
    protocol: str, pool: Path, judge: str, limit: int | None = None
) -> Callable[[Path], Sequence[EvalLog]]:
    def run(folder: Path) -> Sequence[EvalLog]:
        arguments = {"candidates": str(pool), **PROTOCOLS[protocol]}
        return _eval(f"tiebreak/{protocol}", folder, {"judge": judge}, arguments, limit)

    return run


def bare(asked: dict[str | int, list[Asked]], cached: bool) -> Callable[[Path], Sequence[EvalLog]]:
    def run(folder: Path) -> Sequence[EvalLog]:
        calls_by_item.update(asked)
        samples = [Sample(id=item, input=str(item)) for item in asked]
        gc.set_threshold(*SEARCHES)
        return _eval(Task(samples, solver=only_calls(cached), model="recorded/x"), folder)

    return run


def _eval(
    task: Any, folder: Path, roles: Any = None, arguments: Any = None, limit: int | None = None
) -> Sequence[EvalLog]:
    return eval(
        task,
        task_args=arguments or {},
        model_roles=roles,
        limit=limit,
        log_dir=str(folder / "logs"),
        display="none",
        log_level="warning",
    )


def answering(wire: Connection) -> None:
    """Serve a judge on loopback until a message comes; sends its address first."""
    with FakeOpenAI().running() as api:
        wire.send(api.url)
        wire.recv()


@contextmanager
def served() -> Iterator[str]:
    """Serve a judge in a process of its own during the block; yields its address."""
    context = get_context("spawn")
    wire, other = context.Pipe()
    process = context.Process(target=answering, args=(other,))
    process.start()
    try:
        yield wire.recv()
    finally:
        wire.send("end")
        process.join()


def at_once(pool: Path, out: Path, url: str, n: int, *options: str) -> list[float]:
    """Judge n shards in n processes at the same time; returns the CPU seconds of each."""
    command = [
        *(sys.executable, "-m", "inspect_ai", "eval", "tiebreak/round_robin"),
        *("-T", f"candidates={pool}", "-T", "rounds=2", "--log-dir", str(out / "logs")),
        *("--model-role", "judge=openai-api/fake/judge", "--display", "none", *options),
    ]
    env = os.environ | {
        **{"FAKE_API_KEY": "none", "FAKE_BASE_URL": f"{url}/v1"},
        "INSPECT_CACHE_DIR": str(out / "cache"),
    }
    processes = [
        subprocess.Popen([*command, "-T", f"shard={k}/{n}"], env=env, stderr=subprocess.DEVNULL)
        for k in range(1, n + 1)
    ]
    times = []
    for process in processes:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, process.args
        times.append(used.ru_utime + used.ru_stime)
    return times


def sharded(folder: Path, items: int) -> bool:
    """Print how much faster shards are; returns whether that is enough and the boards are equal."""
    write_pool(folder / "pool", items)
    seconds, boards = {}, {}
    table = Table("processes", "CPU, s", "ms a call", "× one process, 2 cores", "by the clock")
    with served() as url:
        [start] = at_once(folder / "pool", folder / "start", url, 1, "--limit", "1")
        for n in PROCESSES:
            began = time.perf_counter()
            times = at_once(folder / "pool", folder / str(n), url, n)
            clock = time.perf_counter() - began
            [board] = leaderboards([folder / str(n) / "logs"])
            boards[n] = repr((board.rows, board.pairs))
            calls = board.receipt.n_calls
            net = [taken - start for taken in times]
            seconds[n] = max(*net, sum(net) / CORES) if n > 1 else net[0]
            table.add_row(
                str(n),
                f"{sum(times):.1f}",
                f"{1000 * sum(net) / calls:.1f}",
                f"{seconds[1] / seconds[n]:.2f}",
                f"{calls / clock:.0f} calls a second",
            )
    Console().print(table)
    same = len(set(boards.values())) == 1
    Console().print("The boards are the same." if same else "The boards DIFFER.")
    return same and all(seconds[1] / seconds[n] >= FASTER for n in PROCESSES[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--items", type=int, default=40)
    parser.add_argument("--only", choices=[*PROTOCOLS, "shards"])
    given = parser.parse_args()
    headings = ("judged, ms", "bare, ms", "ratio", "bare with a cache, ms", "ratio")
    table = Table("protocol", "calls", *headings)
    with tempfile.TemporaryDirectory() as folder:
        pool = Path(folder) / "pool"
        write_pool(pool, given.items)
        for protocol in PROTOCOLS:
            if given.only not in (None, protocol):
                continue
            _, log = cpu(judged(protocol, pool, "planted/noise=0.2"))
            asked = calls_of(log)
            first = dict(list(asked.items())[:1])
            calls = sum(map(len, asked.values())) - sum(map(len, first.values()))
            runs = [
                (judged(protocol, pool, "recorded/x"), judged(protocol, pool, "recorded/x", 1)),
                *((bare(asked, cached), bare(first, cached)) for cached in (False, True)),
            ]
            times = [
                [1000 * (cpu(whole)[0] - cpu(one)[0]) / calls for whole, one in runs]
                for _ in range(TIMES)
            ]
            cells = [f"{median(mine for mine, *_ in times):.1f}"]
            for peer in (1, 2):
                cells.append(f"{median(row[peer] for row in times):.1f}")
                cells.append(f"{median(row[0] / row[peer] for row in times):.2f}")
            table.add_row(protocol, str(calls), *cells)
        if table.rows:
            Console().print(table)
        if given.only not in (None, "shards"):
            return 0
        return 0 if sharded(Path(folder) / "shards", 3 * given.items) else 1


if __name__ == "__main__":
    sys.exit(main())
