"""The steps of the demo: a small model answers in several settings, is judged and ranked.

All settings answer all items; the items on which they differ most are judged by `inspect eval`.
"""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.model import CachePolicy, GenerateConfig

from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.peers.review import peer_report
from tiebreak.candidates import CandidatePool, identical_groups, load_candidates
from tiebreak.demo.words import about_judge, about_reviewers
from tiebreak.inspect_tasks.sandboxed.box import boundary
from tiebreak.local import provider
from tiebreak.local.server import close_servers, require_runtime
from tiebreak.local.weights import DEFAULT_MODEL, find_weights
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.ranking_logs import read_ranking_logs
from tiebreak.report import terminal
from tiebreak.report.sheets.leaderboard import sheets_of as board_sheets
from tiebreak.report.sheets.peers import sheets_of as peers_sheets

LOCAL: Final = provider.DEFAULT
ITEMS: Final = Path(__file__).parent.parent / "inspect_tasks" / "items"
BENCHMARKS: Final = ("gsm8k", "mmlu", "humaneval", "bfcl")

ANSWERED: Final = 8
"""Items of each benchmark that every candidate answers, by default."""
MAX_TOKENS: Final = 72
HEARTBEAT: Final = 15.0
"""Seconds between two signs of life where there is no live display."""
# So small a model does not know when it has answered: it goes on with another problem.
STOP: Final = ("\nProblem:", "\nQuestion:", "\n```\n")
# A computer without Docker must be enough, and so small a model needs a schema to call anything.
_OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "humaneval": {"sandbox": "local", "confirm_run_unsafe_code": True, "trust_code": True},
    "bfcl": {"calls": "schema"},
}

DemoProtocol = Literal["round_robin", "seal", "peer_review"]

JUDGED: Final[Mapping[DemoProtocol, int]] = {"round_robin": 3, "seal": 1, "peer_review": 1}
"""Items of each benchmark that are judged: SEAL's eight calls take two cores close to a minute."""

# Flushed, since `inspect eval` prints to the same terminal from a process of its own.
_say = partial(print, flush=True)


class Setting(NamedTuple):
    """One way to run the same model; each becomes a candidate of its own."""

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


class DemoLogs(NamedTuple):
    """Where the demo put its logs."""

    candidates: Path
    ranking: Path


class DemoError(RuntimeError):
    """A step of the demo failed; the message says which, and where to look."""


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
    """Answer, judge and rank; prints the leaderboards, the bill and the paths of the logs.

    All model calls go through Inspect's cache, so a second run takes seconds. Every run has a
    folder of its own, and nothing is deleted.

    Args:
        out: Folder for the run folders.
        protocol: How the answers are judged: by a judge in a round robin or in SEAL's bracket, or
            by the candidates themselves.
        judge: Model that judges, in Inspect's notation; in peer review the local model stands for
            the candidates, and others, separated by commas, review as outsiders.
        limit: Items of each benchmark that are answered, at most `ANSWERED` by default.
        judged: Items of each benchmark that are judged: those with the most different answers. By
            default what `JUDGED` has for the protocol.
        seed: Seed of every draw; the seeds of the settings count from it.
        settings: The candidates.
        benchmarks: Some of `BENCHMARKS`.

    Raises:
        PrerequisiteError: the runtime or the weights are missing (the message has the command), or
            the demo does not show the protocol.
        DemoError: an evaluation failed.
    """
    if protocol not in get_args(DemoProtocol):
        known = ", ".join(get_args(DemoProtocol))
        raise PrerequisiteError(f"The demo shows {known}, not {protocol!r}.")
    require_runtime()
    find_weights()
    benchmarks = that_can_run(benchmarks)
    logs = _run_folder(out)
    _say(f"[1/3] {DEFAULT_MODEL} answers: {len(settings)} settings × {len(benchmarks)} benchmarks")
    for number, setting in enumerate(settings, start=1):
        _say(f"\n· {number}/{len(settings)} {_described(setting)}")
        _answer(setting, benchmarks, limit or ANSWERED, seed, logs.candidates)
    pool = load_candidates([logs.candidates])
    chosen = most_different(pool, judged or JUDGED[protocol])
    peers = protocol == "peer_review"
    who = f"{judge} {'reviews' if peers else f'judges by {protocol}'}"
    _say(
        f"\n[2/3] {who} {len(chosen)} items, "
        f"those of {len(pool)} on which the {len(settings)} candidates differ most"
    )
    options = _panel(judge, settings, seed) if peers else _alone(protocol, judge)
    _judge(protocol, options, chosen, seed, logs)
    _say("\n[3/3] The ranking\n")
    _report(peers, judge, logs)
    _say(
        f"\nLogs of the candidates: {logs.candidates}"
        f"\nLog of the ranking:     {logs.ranking}"
        f"\nLook at them:           inspect view --log-dir {shlex.quote(str(logs.ranking.parent))}"
        f"\nRank again, for free:   tiebreak {'peers' if peers else 'rank'} "
        f"{shlex.quote(str(logs.ranking))}"
    )
    return logs


def most_different(pool: CandidatePool, number: int) -> list[str]:
    """Sample ids of the items to judge: per benchmark those with the most different answers.

    Among equals the shortest answers go first, because they are judged sooner, then pool order.
    """
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


def that_can_run(benchmarks: Sequence[str]) -> Sequence[str]:
    """The benchmarks, without HumanEval where its tests must not run.

    Raises:
        PrerequisiteError: none is left.
    """
    if "humaneval" not in benchmarks:
        return benchmarks
    try:
        boundary(trust_code=True)
    except PrerequisiteError as error:
        left = [benchmark for benchmark in benchmarks if benchmark != "humaneval"]
        if not left:
            raise
        _say(f"humaneval is left out. {error}")
        return left
    return benchmarks


def _answer(
    setting: Setting,
    benchmarks: Sequence[str],
    limit: int,
    seed: int,
    log_dir: Path,
) -> None:
    """One candidate answers all benchmarks; prints a line for each, with its native score."""
    for benchmark in benchmarks:
        began = time.monotonic()
        (log,) = inspect_eval(
            _task(benchmark, setting),
            model=LOCAL,
            limit=limit,
            log_dir=str(log_dir / setting.name),
            display="none",
            metadata={"candidate": f"{DEFAULT_MODEL}/{setting.name}"},
            cache=CachePolicy(expiry=None, per_epoch=False),
            temperature=setting.temperature,
            seed=seed + setting.seed,
            max_tokens=MAX_TOKENS,
        )
        score = log.results.scores[0] if log.results and log.results.scores else None
        if log.status != "success" or score is None or not score.scored_samples:
            raise DemoError(f"{setting.name} could not answer {benchmark}. Look at {log.location}")
        right = score.metrics["accuracy"].value * score.scored_samples
        _say(
            f"  {benchmark:<10} {round(right)} of {score.scored_samples} right "
            f"({time.monotonic() - began:.1f} s)"
        )


def _task(benchmark: str, setting: Setting) -> Task:
    from tiebreak.inspect_tasks import generate

    build: Callable[..., Task] = getattr(generate, benchmark)
    data = str(ITEMS / f"{benchmark}.jsonl")
    task = build(data=data, documentation=setting.documentation, **_OWN.get(benchmark, {}))
    task.config = task.config.merge(GenerateConfig(stop_seqs=list(STOP)))
    return task


def _alone(protocol: DemoProtocol, judge: str) -> list[str]:
    """The options of `inspect eval` for one judge."""
    role = ["--model-role", f"judge={judge}"]
    if protocol == "round_robin":
        return role
    # Notes on two answers take so small a model minutes, and do not help it.
    critique = ["-T", "critique=false"] if judge == LOCAL else []
    return ["-T", "swap=always", *critique, *role]


def _panel(judge: str, settings: Sequence[Setting], seed: int) -> list[str]:
    """The options of `inspect eval` for the reviewers: the candidates themselves, or outsiders."""
    if judge != LOCAL:
        return ["--model-role", f"peers={judge}"]
    models: list[dict[str, Any]] = [
        {"model": LOCAL, "temperature": setting.temperature, "seed": seed + setting.seed}
        for setting in settings
    ]
    names = [f"{DEFAULT_MODEL}/{setting.name}" for setting in settings]
    return [
        *("-T", f"reviewers={json.dumps(names)}"),
        *("--model-role", f"peers={json.dumps(models)}"),
    ]


def _judge(
    protocol: DemoProtocol,
    options: Sequence[str],
    sample_ids: Sequence[str],
    seed: int,
    logs: DemoLogs,
) -> None:
    """Judge with `inspect eval`, in a process of its own, its output shown."""
    close_servers()  # the judge loads the model again
    command = [
        *("eval", f"tiebreak/{protocol}", "-T", f"candidates={logs.candidates}"),
        *options,
        *("-T", f"seed={seed}", "--sample-id", ",".join(sample_ids), "--max-samples", "2"),
        *("--log-dir", str(logs.ranking)),
        *("--display", "rich" if sys.stdout.isatty() else "plain"),
    ]
    _say(f"\n$ inspect {shlex.join(command)}\n")
    with subprocess.Popen([sys.executable, "-m", "inspect_ai", *command]) as child:
        status = _wait(child)
    if status != 0:
        raise DemoError(f"inspect eval ended with exit status {status}; its output stands above.")


def _wait(child: "subprocess.Popen[bytes]") -> int:
    """Exit status of a process; without a live display a line now and then says that it works."""
    began = time.monotonic()
    while True:
        try:
            return child.wait(timeout=HEARTBEAT)
        except subprocess.TimeoutExpired:
            if not sys.stdout.isatty():
                _say(f"  … judging for {time.monotonic() - began:.0f} s")
        except KeyboardInterrupt:
            # The child got the signal as well, and ends by itself.
            return child.wait()


def _report(peers: bool, judge: str, logs: DemoLogs) -> None:
    items = [item for log in read_ranking_logs([logs.ranking]) for item in log.items]
    if peers:
        terminal.show(peers_sheets(peer_report([logs.ranking])))
        _say("\n" + about_reviewers(judge, items))
    else:
        terminal.show(board_sheets(leaderboards([logs.ranking])))
        _say("\n" + about_judge(judge, items))


def _run_folder(out: Path) -> DemoLogs:
    """A new folder `run-N`: two runs in one folder would be two logs of one candidate."""
    number = 1
    while True:
        run = out / f"run-{number}"
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        return DemoLogs(run / "candidates", run / "ranking")


def _described(setting: Setting) -> str:
    wording = "with" if setting.documentation else "without"
    return f"{setting.name}: temperature {setting.temperature:g}, {wording} documentation"
