"""The demo: a study of a small model in several settings, run offline.

All settings answer all items; the items with the most different answers are judged.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tiebreak.candidates import CandidatePool, identical_groups
from tiebreak.demo.local.server import DEFAULT_MODEL, LOCAL, find_weights, require_runtime
from tiebreak.demo.screen import DemoLogs, DemoProtocol, require_shown, run_folder, show_ranking
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.sandbox.box import HOW_TO_INSTALL, boundary
from tiebreak.study.design import Study, study_of
from tiebreak.study.run import run_study
from tiebreak.text import split_names

ITEMS: Final = Path(__file__).parent.parent / "inspect_tasks" / "items"
BENCHMARKS: Final = ("gsm8k", "mmlu", "humaneval", "bfcl")

ANSWERED: Final = 10
"""Default number of items per benchmark that every candidate answers: all that ship."""
MAX_TOKENS: Final = 72
# A model this small does not stop after its answer but continues with another problem.
STOP: Final = ("\nProblem:", "\nQuestion:", "\n```\n")
# The demo must run without Docker, and a model this small needs a schema to call tools.
_ARGUMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "humaneval": {"confirm_run_unsafe_code": True, "trust_code": True},
    "bfcl": {"calls": "schema"},
}

JUDGED: Final[Mapping[DemoProtocol, int]] = {"round_robin": 10, "seal": 2, "peer_review": 6}
"""Default number of judged items per benchmark: what fits into five minutes on two cores."""


class Setting(NamedTuple):
    """A way to run the same model; each becomes a separate candidate."""

    name: str
    temperature: float
    seed: int = 0
    documentation: bool = True


SETTINGS: Final = (
    Setting("greedy", 0.0),
    Setting("warm", 0.8, seed=1),
    Setting("hot", 1.5, seed=2),
    Setting("bare", 0.0, documentation=False),
)


def run_demo(
    out: Path = Path("tiebreak-demo"),
    *,
    protocol: DemoProtocol = "round_robin",
    judge: str = LOCAL,
    limit: int | None = None,
    judged: int | None = None,
    seed: int = 0,
    settings: Sequence[Setting] = SETTINGS,
    benchmarks: Sequence[str] = BENCHMARKS,
) -> DemoLogs:
    """Answer, judge, rank and report; print a short board of each benchmark and all paths.

    All model calls go through Inspect's cache, so a second run takes seconds. Every run has its own
    folder, and nothing is deleted.

    Args:
        out: folder for the run folders.
        protocol: how the answers are judged: by a judge in a round robin or in SEAL's bracket, or
            by the candidates themselves.
        judge: model that judges, in Inspect's notation; in peer review the local model means that
            the candidates review, and other models, separated by commas, review as outsiders.
        limit: number of items of each benchmark that are answered, at most `ANSWERED`, the default.
        judged: number of items of each benchmark that are judged: those with the most different
            answers. By default that of the protocol in `JUDGED`.
        seed: seed of every draw; the seeds of the settings are added to it.
        settings: the candidates.
        benchmarks: some of `BENCHMARKS`.

    Raises:
        PrerequisiteError: the runtime or the weights are missing (the message has the command), or
            the demo does not show the protocol.
        StudyError: an evaluation failed.
    """
    require_shown(protocol)
    require_runtime()
    find_weights()
    study = demo_study(
        protocol, judge, min(limit or ANSWERED, ANSWERED), seed, settings, runnable(benchmarks)
    )
    logs = run_folder(out)
    choose = partial(most_different, number=judged or JUDGED[protocol])
    result = run_study(study, logs.report.parent, anyway=True, choose=choose)
    show_ranking(protocol, judge, logs, result.page)
    return logs


def demo_study(
    protocol: DemoProtocol,
    judge: str,
    limit: int,
    seed: int,
    settings: Sequence[Setting],
    benchmarks: Sequence[str],
) -> Study:
    """Make the demo's study; arguments are those of `run_demo`, with no defaults."""
    names = [f"{DEFAULT_MODEL}/{setting.name}" for setting in settings]
    configs = [{"temperature": s.temperature, "seed": seed + s.seed} for s in settings]
    answering = {"max_tokens": MAX_TOKENS, "stop_seqs": list(STOP)}
    models = [
        {
            "model": LOCAL,
            "name": name,
            "config": {**config, **answering},
            "task_args": {"documentation": setting.documentation},
        }
        for name, config, setting in zip(names, configs, settings, strict=True)
    ]
    given: dict[str, Any] = {
        "models": models,
        "benchmarks": [_benchmark(benchmark) for benchmark in benchmarks],
        "limit": limit,
        "seed": seed,
    }
    if protocol == "peer_review":
        reviewers: list[Any] = [{"model": LOCAL, "config": config} for config in configs]
        outsiders = split_names(judge) if judge != LOCAL else []
        args = {} if outsiders else {"reviewers": names}
        protocols = [{"label": protocol, "args": args}]
        return study_of({**given, "peers": outsiders or reviewers, "protocols": protocols})
    # Critiques take a model this small minutes, and do not help it.
    bare = protocol == "seal" and judge == LOCAL
    label = f"{protocol}:critique=false" if bare else protocol
    return study_of({**given, "judge": judge, "protocols": [label]})


def _benchmark(name: str) -> dict[str, Any]:
    args = {"data": str(ITEMS / f"{name}.jsonl"), **_ARGUMENTS.get(name, {})}
    if name == "humaneval":
        args["sandbox"] = boundary(trust_code=True)
    return {"task": f"tiebreak/{name}", "name": name, "args": args}


def most_different(pool: CandidatePool, number: int) -> list[str]:
    """Sample ids of the items to judge: in each benchmark those with the most different answers.

    Ties go to the items with the shortest answers, which are judged faster, then to pool order.
    Empty, meaning no selection, if `number` covers the pool.
    """
    if number >= len(pool):
        return []
    chosen = []
    for benchmark in pool.benchmarks:
        items = sorted(
            pool.items_of(benchmark),
            key=lambda item: (
                -len(identical_groups(pool.candidates[item.key])),
                sum(len(candidate.answer) for candidate in pool.candidates[item.key].values()),
            ),
        )
        prefix = f"{benchmark}:" if len(pool.benchmarks) > 1 else ""
        chosen += [prefix + item.item_id for item in items[:number]]
    return chosen


def runnable(benchmarks: Sequence[str]) -> Sequence[str]:
    """The benchmarks, without HumanEval if its tests cannot be run here.

    Raises:
        PrerequisiteError: no benchmark is left.
    """
    if "humaneval" not in benchmarks:
        return benchmarks
    try:
        if boundary(trust_code=True) == "local":
            print(f"humaneval's programs run on this machine with limits only: {HOW_TO_INSTALL}")
    except PrerequisiteError as error:
        left = [benchmark for benchmark in benchmarks if benchmark != "humaneval"]
        if not left:
            raise
        print(f"humaneval is left out. {error}")
        return left
    return benchmarks
