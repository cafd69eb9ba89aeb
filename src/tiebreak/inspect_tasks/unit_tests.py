"""HumanEval's native score: the tests of an answer's program, run in one of Inspect's sandboxes."""

import json
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from logging import getLogger
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironment, registry_info, warn_once
from inspect_ai.util import sandbox as current_sandbox

from tiebreak.benchmarks.program import complete_program
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.sandbox import command, harmless_order, order
from tiebreak.sandbox.box import boundary
from tiebreak.sandbox.run_tests import NOT_THERE

logger = getLogger(__name__)

COMPOSE: Final = Path(__file__).with_name("compose.yaml")
UNCONFIRMED: Final = (
    "The sandbox `local` is this machine, without a container. Use bubblewrap, a box that keeps "
    "code from your files, your processes and the network, or docker; or accept this with "
    "-T confirm_run_unsafe_code=true (tiebreak score-code: --confirm-run-unsafe-code)."
)
DEPRECATED: Final = (
    "The sandbox `local` is now called `bubblewrap`, and needs no confirmation; the old name goes "
    "with the next release."
)

# Beyond the program's own limit: the sandbox starts a process, and the examiner reports.
_SLACK_SECONDS: Final = 30
# Errors of Inspect's sandboxes when a command could not be run; limits of a sample are others.
_FAILURES: Final = (TimeoutError, OSError, RuntimeError, ValueError)


def sandbox_of(
    sandbox: str = "docker", confirm_run_unsafe_code: bool = False, trust_code: bool = False
) -> str | tuple[str, str]:
    """The value of `Task(sandbox=)` for the name of a sandbox of Inspect, or for TYPE:CONFIG.

    Docker without its own configuration uses the container described in compose.yaml. `local`, the
    earlier name of bubblewrap, has to be confirmed; with `trust_code` code runs here even without
    bubblewrap, if it is missing.

    Raises:
        PrerequisiteError: there is no such sandbox, or it is not confirmed or cannot be used here.
    """
    kind, _, config = sandbox.partition(":")
    if kind == "local":
        if not confirm_run_unsafe_code:
            raise PrerequisiteError(UNCONFIRMED)
        if (kind := boundary(trust_code)) == "bubblewrap":
            warn_once(logger, DEPRECATED)
        return kind
    if kind == "bubblewrap":
        boundary()
    elif kind != "docker" and kind not in (known := sandboxes()):
        raise PrerequisiteError(f"There is no sandbox {kind!r} here, but {', '.join(known)}.")
    if config:
        return kind, from_working_directory(config)
    return (kind, str(COMPOSE)) if kind == "docker" else kind


def sandboxes() -> list[str]:
    """Names of all installed sandboxes."""
    for extension in entry_points(group="inspect_ai"):
        with suppress(Exception):  # Inspect itself warns of broken extensions
            extension.load()
    names, kinds = set(), [SandboxEnvironment]
    for kind in kinds:
        kinds += kind.__subclasses__()
        with suppress(ValueError):  # a class without a registered name
            names.add(registry_info(kind).name.rpartition("/")[2])
    return sorted(names)


@solver
def confirmed_sandbox(confirm_run_unsafe_code: bool = False, trust_code: bool = False) -> Solver:
    """Refuse an unprotected sandbox on this machine, before anything is generated.

    `sandbox_of` does not see Inspect's `--sandbox local`, which overrides the task's sandbox.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await _is_this_machine(confirm_run_unsafe_code, trust_code)
        return state

    return solve


@metric(scores="unreduced")
def not_there() -> Metric:
    """Number of answers that were stopped for lack of something in the sandbox; they scored 0."""

    def compute(scores: list[SampleScore]) -> int:
        return sum((score.score.explanation or "").startswith(NOT_THERE) for score in scores)

    return compute


@scorer(metrics=[accuracy(), stderr(), not_there()])
def unit_tests(confirm_run_unsafe_code: bool = False, trust_code: bool = False) -> Scorer:
    """HumanEval: whether the program in the answer passes its tests.

    If the sandbox cannot run any program, the answer stays unscored. A caller that has extracted
    the program already passes it as `program` in the sample's metadata.
    """

    async def score(state: TaskState, target: Target) -> Score:
        prompt = str(state.metadata.get("prompt", state.input_text))
        test, entry_point = state.metadata["test"], state.metadata["entry_point"]
        program = state.metadata.get("program")
        if program is None:
            program = await anyio.to_thread.run_sync(
                complete_program, state.output.completion, prompt, entry_point
            )
        if program is None:
            why = f"the answer holds no whole function {entry_point}"
            return Score(value=INCORRECT, explanation=why)
        try:
            here = await _is_this_machine(confirm_run_unsafe_code, trust_code)
            verdict = await _verdict(order(program, prompt, test, entry_point, trusted=here))
        except _FAILURES as error:
            verdict = {"error": f"{type(error).__name__}: {error}"}
        if "error" in verdict:
            why = f"The sandbox is broken: {verdict['error']}"
            return Score.unscored(reason="scoring_failed", answer=program, explanation=why)
        value = CORRECT if verdict["passed"] else INCORRECT
        return Score(value=value, answer=program, explanation=verdict["why"] or None)

    return score


async def _is_this_machine(confirmed: bool, trusted: bool) -> bool:
    """Whether the sample's sandbox, whatever its name, is this machine: it sees our files.

    Raises:
        PrerequisiteError: it is, and code must not run here; or the sample has no sandbox.
    """
    try:
        sandbox = current_sandbox()
    except ProcessLookupError as error:
        raise PrerequisiteError("Tests run in a sandbox: add --sandbox docker.") from error
    with tempfile.NamedTemporaryFile(prefix="tiebreak-") as file:
        here = (await sandbox.exec(["test", "-e", file.name], timeout=60)).success
    if here and await anyio.to_thread.run_sync(sandbox_of, "local", confirmed, trusted) != "local":
        raise PrerequisiteError("Inspect's sandbox `local` has no box: add --sandbox bubblewrap.")
    return here


async def _verdict(order: Mapping[str, Any]) -> Mapping[str, Any]:
    """The examiner's verdict on a program, or {"error": why no program can be run}."""
    verdict = await _examined(order)
    if "silent" not in verdict:
        return verdict
    # Either this program stopped its examiner, or the sandbox can run none at all.
    harmless = await _examined({**harmless_order(), "trusted": order["trusted"]})
    if harmless.get("passed"):
        return {"passed": False, "why": f"stopped: there was no verdict ({verdict['silent']})"}
    return {"error": harmless.get("error") or harmless.get("silent") or harmless["why"]}


async def _examined(order: Mapping[str, Any]) -> Mapping[str, Any]:
    """The examiner's reply, or {"silent": why there is none}."""
    try:
        done = await current_sandbox().exec(
            command(sys.executable if order["trusted"] else "python3"),
            input=json.dumps(order),
            timeout=order["wall_seconds"] + _SLACK_SECONDS,
            timeout_retry=False,
        )
        verdict = json.loads(done.stdout)
    except _FAILURES as error:
        return {"silent": f"{type(error).__name__}: {error}"[:300]}
    if not done.success:
        return {"silent": f"exit status {done.returncode}"}
    if not isinstance(verdict, dict) or verdict.get("nonce") != order["nonce"]:
        return {"silent": f"a verdict of unknown origin: {done.stdout[:200]!r}"}
    return verdict
