"""What a judged call costs beside the same call through bare Inspect, in CPU time.

Run `python benchmarks/calls.py` (some five minutes), or `make bench`. To be reached: at most twice
the bare call. 8 models, near-tied, whose answers have 1,500 characters.

A planted judge's replies are recorded first. Then a provider in this process gives them again: to
`inspect eval tiebreak/…`, and to a task whose solver does nothing but the same calls, with the same
messages and schemas, as many side by side. Both write logs, and show them while they are written,
as `inspect eval` does unless it is told otherwise. They run three times in turn; medians count,
without what a run of one item takes.
"""

import sys
from pathlib import Path

sys.path.pop(0)  # of a script its own folder, whose statistics.py would stand for Python's
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "plugin"))

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from random import Random
from statistics import median
from typing import Any

import anyio
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
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

MODELS, CHARACTERS, TIMES = 8, 1500, 3
PROTOCOLS = {"seal": {}, "full_pairwise": {}, "round_robin": {"rounds": 2}}
Asked = tuple[list[ChatMessage], GenerateConfig]

replies: dict[str, str] = {}
calls_by_item: dict[str | int, list[Asked]] = {}


@modelapi(name="recorded")
class Recorded(ModelAPI):
    """Gives the replies that were recorded."""

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
    """Logs of models whose answers are near-tied."""
    random = Random(2026)
    for model in range(MODELS):
        rows = []
        for item in range(items):
            words = " ".join(str(random.randrange(10**6)) for _ in range(CHARACTERS // 7))
            answer = f"{words} quality={random.gauss(model / 20, 0.2):.3f}"
            rows.append(
                {"id": f"q{item}", "question": f"What is {item}?", "answer": answer, "native": 1.0}
            )
        write_inspect_log(folder / f"m{model}.eval", f"m{model}", rows, task="gsm8k")


@solver
def only_calls() -> Solver:
    """The same calls, side by side, and nothing else.

    They are no argument of it: Inspect writes a solver's arguments into the header of the log, and
    a header of some megabytes costs as much as the calls.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()

        async def call(messages: list[ChatMessage], config: GenerateConfig) -> None:
            await model.generate(messages, config=config)

        async with anyio.create_task_group() as group:
            for messages, config in calls_by_item[state.sample_id]:
                group.start_soon(call, messages, config)
        state.completed = True
        return state

    return solve


def calls_of(log: EvalLog) -> dict[str | int, list[Asked]]:
    """What was asked about each item."""
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
    """CPU seconds of a run with a cache and a folder of its own, and its log."""
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


def bare(asked: dict[str | int, list[Asked]]) -> Callable[[Path], Sequence[EvalLog]]:
    def run(folder: Path) -> Sequence[EvalLog]:
        calls_by_item.update(asked)
        samples = [Sample(id=item, input=str(item)) for item in asked]
        return _eval(Task(samples, solver=only_calls(), model="recorded/x"), folder)

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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--items", type=int, default=40)
    parser.add_argument("--only", choices=PROTOCOLS)
    given = parser.parse_args()
    table = Table("protocol", "calls", "judged, ms", "bare, ms", "ratio")
    with tempfile.TemporaryDirectory() as folder:
        pool = Path(folder)
        write_pool(pool, given.items)
        for protocol in [given.only] if given.only else PROTOCOLS:
            _, log = cpu(judged(protocol, pool, "planted/noise=0.2"))
            asked = calls_of(log)
            first = dict(list(asked.items())[:1])
            calls = sum(map(len, asked.values())) - sum(map(len, first.values()))
            runs = [
                (judged(protocol, pool, "recorded/x"), judged(protocol, pool, "recorded/x", 1)),
                (bare(asked), bare(first)),
            ]
            times = [
                [1000 * (cpu(whole)[0] - cpu(one)[0]) / calls for whole, one in runs]
                for _ in range(TIMES)
            ]
            ours, theirs = (median(own) for own in zip(*times, strict=True))
            ratio = median(judged / bare for judged, bare in times)
            table.add_row(protocol, str(calls), f"{ours:.1f}", f"{theirs:.1f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
