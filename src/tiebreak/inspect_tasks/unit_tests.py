"""HumanEval's native score: the tests of an answer's program, run in one of Inspect's sandboxes."""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox as current_sandbox

from tiebreak.benchmarks.program import complete_program
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.inspect_tasks.sandboxed import command, order
from tiebreak.prerequisite import PrerequisiteError

COMPOSE: Final = Path(__file__).with_name("compose.yaml")
UNCONFIRMED: Final = (
    "The sandbox `local` runs the code of answers on this machine: with limits and checks, but "
    "without a container, so nothing stops code that means harm. Use docker, or accept this with "
    "-T confirm_run_unsafe_code=true (tiebreak score-code: --confirm-run-unsafe-code)."
)

_HARMLESS: Final = order(
    "def one():\n    return 1\n", "", "def check(one):\n    assert one() == 1\n", "one"
)
_SLACK_SECONDS: Final = 30
# What Inspect's sandboxes raise when a command could not be run; a sample's limits are others.
_FAILURES: Final = (TimeoutError, OSError, RuntimeError, ValueError)


def sandbox_of(
    sandbox: str = "docker", confirm_run_unsafe_code: bool = False
) -> str | tuple[str, str]:
    """What `Task(sandbox=)` takes.

    Args:
        sandbox: A sandbox of Inspect, or TYPE:CONFIG. For docker without its own configuration it
            is the container described in compose.yaml.
        confirm_run_unsafe_code: Whether code may run without a container.

    Raises:
        PrerequisiteError: the sandbox is `local`, and that was not confirmed.
    """
    kind, _, config = sandbox.partition(":")
    if kind == "local" and not confirm_run_unsafe_code:
        raise PrerequisiteError(UNCONFIRMED)
    if config:
        return kind, from_working_directory(config)
    return (kind, str(COMPOSE)) if kind == "docker" else kind


@solver
def confirmed_sandbox(confirm_run_unsafe_code: bool = False) -> Solver:
    """Refuse a sandbox that is this machine, before anything is generated.

    `sandbox_of` cannot know of Inspect's own `--sandbox local`, which overrides the task's.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await _is_here(confirm_run_unsafe_code)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def unit_tests(confirm_run_unsafe_code: bool = False) -> Scorer:
    """HumanEval: does the program in the answer pass its tests?

    A sandbox that cannot run any program is not the answer's fault: the answer stays unscored. A
    caller that knows the program already puts it into the sample's metadata as `program`.
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
            here = await _is_here(confirm_run_unsafe_code)
            verdict = await _verdict(order(program, prompt, test, entry_point), here)
        except _FAILURES as error:
            verdict = {"error": f"{type(error).__name__}: {error}"}
        if "error" in verdict:
            why = f"The sandbox is broken: {verdict['error']}"
            return Score.unscored(reason="scoring_failed", answer=program, explanation=why)
        value = CORRECT if verdict["passed"] else INCORRECT
        return Score(value=value, answer=program, explanation=verdict["why"] or None)

    return score


async def _is_here(confirmed: bool) -> bool:
    """Whether the sandbox is this very machine, whatever it is called: it sees our files.

    Raises:
        PrerequisiteError: it is, and that was not confirmed; or the sample has no sandbox.
    """
    try:
        sandbox = current_sandbox()
    except ProcessLookupError as error:
        raise PrerequisiteError("Tests run in a sandbox: add --sandbox docker.") from error
    with tempfile.NamedTemporaryFile(prefix="tiebreak-") as file:
        here = (await sandbox.exec(["test", "-e", file.name], timeout=60)).success
    if here and not confirmed:
        raise PrerequisiteError(UNCONFIRMED)
    return here


async def _verdict(order: Mapping[str, Any], here: bool) -> Mapping[str, Any]:
    """The examiner's verdict on a program, or {"error": why no program can be run}."""
    verdict = await _examined(order, here)
    if "silent" not in verdict:
        return verdict
    # Did this program put an end to its examiner, or can the sandbox run none at all?
    harmless = await _examined(_HARMLESS, here)
    if harmless.get("passed"):
        return {"passed": False, "why": f"stopped: there was no verdict ({verdict['silent']})"}
    return {"error": harmless.get("error") or harmless.get("silent") or harmless["why"]}


async def _examined(order: Mapping[str, Any], here: bool) -> Mapping[str, Any]:
    """What the examiner says, or {"silent": why it says nothing}."""
    try:
        done = await current_sandbox().exec(
            command(sys.executable if here else "python3"),
            input=json.dumps(order),
            timeout=order["wall_seconds"] + _SLACK_SECONDS,
            timeout_retry=False,
        )
        verdict = json.loads(done.stdout)
    except _FAILURES as error:
        return {"silent": f"{type(error).__name__}: {error}"[:300]}
    return verdict if isinstance(verdict, dict) else {"silent": done.stdout[:300]}
