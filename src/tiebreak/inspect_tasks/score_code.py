"""Run code that was never run: HumanEval's native score for the answers of a whole pool.

lm-eval must not run code that models write, so its answers have no native score. They get it here,
in one of Inspect's sandboxes, from the same scorer that Inspect's own task uses.
"""

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import DisplayType

from tiebreak.benchmarks import humaneval
from tiebreak.benchmarks.program import complete_program
from tiebreak.candidates import CandidatePool, Item
from tiebreak.inspect_tasks.unit_tests import confirmed_sandbox, sandbox_of, unit_tests
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.progress import watch
from tiebreak.sandbox.run_tests import NOT_THERE

METRIC = humaneval.METRIC
"""Name of the native score."""


class Run(NamedTuple):
    """One program to run: an item, an answer to it, and the models that gave this program.

    `program` is None for answers without a program; nothing is run for them.
    """

    item: Item
    answer: str
    program: str | None
    models: tuple[str, ...]


class Unscored(NamedTuple):
    """An answer without a score, or scored 0 without checking its result, and the reason."""

    item: Item
    model: str
    why: str


@dataclass(frozen=True, slots=True)
class CodeScores:
    """Result of running a pool's programs.

    Attributes:
        pool: the pool, with the native scores.
        n_runs: number of programs run; identical programs of an item are run once.
        unscored: answers whose sandbox failed; their native score is still undefined.
        not_there: answers scored 0 because they needed something that the sandbox lacks.
    """

    pool: CandidatePool
    n_runs: int
    unscored: tuple[Unscored, ...]
    not_there: tuple[Unscored, ...] = ()

    def passed(self) -> Mapping[str, tuple[int, int, int]]:
        """By model: answers that passed, answers with a score, answers to items with tests."""
        counts: dict[str, tuple[int, int, int]] = {}
        for item, candidates in self.pool:
            if not has_tests(item):
                continue
            for model, candidate in candidates.items():
                passed, scored, answers = counts.get(model, (0, 0, 0))
                known = not math.isnan(candidate.native_score)
                right = known and candidate.native_score == 1
                counts[model] = passed + right, scored + known, answers + 1
        return dict(sorted(counts.items()))


def score_code(
    pool: CandidatePool,
    sandbox: str = "docker",
    *,
    confirm_run_unsafe_code: bool = False,
    trust_code: bool = False,
    again: bool = False,
    log_dir: str | Path | None = None,
    display: DisplayType | None = None,
) -> CodeScores:
    """Run the tests of a pool's programs, and put the native scores into the pool.

    Items with tests have `test` and `entry_point` in their metadata. Answers to other items are
    left unchanged, and so are those that have a native score, unless `again` is set. Answers
    without a program get 0, and need no sandbox. `sandbox` and its confirmations are as for
    `sandbox_of`. Without `log_dir` Inspect's log of the runs is not kept.

    Raises:
        PrerequisiteError: no item has tests, the sandbox is unknown or cannot be used, or it is
            `local` and was not confirmed.
    """
    where = sandbox_of(sandbox, confirm_run_unsafe_code, trust_code)
    if not any(has_tests(item) for item in pool.items):
        raise PrerequisiteError(
            "No item has tests: programs are run for benchmarks such as HumanEval, whose items "
            "hold `test` and `entry_point`."
        )
    all_runs = list(runs_of(pool, again))
    pool = _with_scores(pool, [(run, 0.0) for run in all_runs if run.program is None])
    runs = [run for run in all_runs if run.program is not None]
    if not runs:
        return CodeScores(pool, 0, ())
    task = Task(
        dataset=MemoryDataset([_sample(run, number) for number, run in enumerate(runs)]),
        setup=confirmed_sandbox(confirm_run_unsafe_code, trust_code),
        solver=give_answer(),
        scorer=unit_tests(confirm_run_unsafe_code, trust_code),
        sandbox=where,
        name="score_code",
    )
    # Inspect shows by itself how far it is.
    with watch(None), tempfile.TemporaryDirectory() as folder:
        [log] = inspect_eval(
            task,
            model="none/none",
            log_dir=str(log_dir or folder),
            display=display,
            fail_on_error=False,
        )
        # Samples are read lazily from the file, so before its folder is deleted.
        samples = {str(sample.id): sample for sample in log.samples or ()}
    if len(samples) < len(runs):
        reason = log.error.message if log.error else f"the run was {log.status}"
        raise PrerequisiteError(f"The programs could not be run: {reason}")
    return _scored(pool, [(run, samples[str(number)]) for number, run in enumerate(runs)])


def has_tests(item: Item) -> bool:
    """Whether an item has the tests of a program."""
    return all(isinstance(item.metadata.get(name), str) for name in ("test", "entry_point"))


def runs_of(pool: CandidatePool, again: bool = False) -> Iterator[Run]:
    """The distinct programs of every item, for answers without a native score, or for all."""
    for item, candidates in pool:
        if not has_tests(item):
            continue
        models: dict[str | None, list[str]] = {}
        for model, candidate in sorted(candidates.items()):
            if again or math.isnan(candidate.native_score):
                program = complete_program(
                    candidate.text, _prompt(item), item.metadata["entry_point"]
                )
                models.setdefault(program, []).append(model)
        for program, same in models.items():
            yield Run(item, candidates[same[0]].text, program, tuple(same))


@solver
def give_answer() -> Solver:
    """Use a stored answer as the output of this sample."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("none/none", state.metadata["answer"])
        return state

    return solve


def _prompt(item: Item) -> str:
    return str(item.metadata.get("prompt", item.prompt))


def _sample(run: Run, number: int) -> Sample:
    return Sample(
        id=str(number),
        input=_prompt(run.item),
        metadata={
            "item": run.item.item_id,
            "models": list(run.models),
            "answer": run.answer,
            "program": run.program,
            "test": run.item.metadata["test"],
            "entry_point": run.item.metadata["entry_point"],
        },
    )


def _scored(pool: CandidatePool, done: Sequence[tuple[Run, EvalSample]]) -> CodeScores:
    values: list[tuple[Run, float]] = []
    unscored: list[Unscored] = []
    not_there: list[Unscored] = []
    for run, sample in done:
        score = (sample.scores or {}).get(METRIC)
        why = (score and score.explanation) or ""
        if sample.error is None and score is not None and score.value in (CORRECT, INCORRECT):
            values.append((run, float(score.value == CORRECT)))
        else:
            reason = sample.error.message if sample.error else why or "it has no score"
            unscored += [Unscored(run.item, model, reason) for model in run.models]
        if why.startswith(NOT_THERE):
            reason = why.removeprefix(NOT_THERE)
            not_there += [Unscored(run.item, model, reason) for model in run.models]
    return CodeScores(_with_scores(pool, values), len(done), tuple(unscored), tuple(not_there))


def _with_scores(pool: CandidatePool, values: Sequence[tuple[Run, float]]) -> CandidatePool:
    rows = {key: dict(row) for key, row in pool.candidates.items()}
    for run, value in values:
        row = rows[run.item.key]
        for model in run.models:
            row[model] = replace(row[model], native_score=value, native_metric=METRIC)
    return replace(pool, candidates=rows)
