"""Answering tasks: one per benchmark, so that a model can become a candidate.

inspect eval tiebreak/gsm8k -T data=gsm8k.jsonl --model openai/gpt-5-mini

Data are JSON lines in the benchmark's original schema. What is kept in the log is what judging
needs later: the raw question, its choices and tool schemas, and the whole written answer.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer

from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.inspect_tasks.native import (
    chosen_letter,
    final_number,
    function_call,
    last_number,
    unit_tests,
)
from tiebreak.inspect_tasks.prompting import LETTERS, ask
from tiebreak.prerequisite import PrerequisiteError

Row = Mapping[str, Any]


@task
def humaneval(data: str | None = None, documentation: bool = True) -> Task:
    """HumanEval: complete a Python function; scored by its tests.

    The code is run on this machine, after a check and with limits (see `run_code`).

    Args:
        data: JSON lines with task_id, prompt, canonical_solution, test and entry_point.
        documentation: Whether the prompt holds the docstring.
    """

    def sample(row: Row, number: int) -> Sample:
        return Sample(
            id=row["task_id"],
            input=row["prompt"],
            target=row["canonical_solution"],
            metadata={"test": row["test"], "entry_point": row["entry_point"]},
        )

    return _task("humaneval", data, documentation, sample, unit_tests(), max_tokens=160)


@task
def gsm8k(data: str | None = None, documentation: bool = True) -> Task:
    """GSM8K: solve a word problem; scored by the final number.

    Args:
        data: JSON lines with question and answer; the answer ends in `#### NUMBER`.
        documentation: Whether the prompt holds a worked example and asks for steps.
    """

    def sample(row: Row, number: int) -> Sample:
        if last_number(row["answer"]) is None:
            raise ValueError("its answer holds no number")
        return Sample(
            id=row.get("id", f"gsm8k_{number}"), input=row["question"], target=row["answer"]
        )

    return _task("gsm8k", data, documentation, sample, final_number(), max_tokens=256)


@task
def mmlu(data: str | None = None, documentation: bool = True) -> Task:
    """MMLU: choose one of several answers; scored by the chosen letter.

    Args:
        data: JSON lines with question, subject, choices and answer (index of the right choice).
        documentation: Whether the prompt holds an example and says what to reply.
    """

    def sample(row: Row, number: int) -> Sample:
        return Sample(
            id=row.get("id", f"mmlu_{number}"),
            input=row["question"],
            choices=list(row["choices"]),
            target=LETTERS[int(row["answer"])],
            metadata={"subject": row.get("subject", "")},
        )

    return _task("mmlu", data, documentation, sample, chosen_letter(), max_tokens=256)


@task
def bfcl(data: str | None = None, documentation: bool = True) -> Task:
    """BFCL, one turn and one call: choose a function and its arguments; scored by ground truth.

    Args:
        data: JSON lines with id, question, function and ground_truth.
        documentation: Whether the prompt holds the descriptions of functions and parameters.
    """

    def sample(row: Row, number: int) -> Sample:
        (turn,) = row["question"]
        return Sample(
            id=row["id"],
            input="\n".join(message["content"] for message in turn if message["role"] == "user"),
            target=json.dumps(row["ground_truth"], ensure_ascii=False),
            metadata={"tools": row["function"], "ground_truth": row["ground_truth"]},
        )

    return _task("bfcl", data, documentation, sample, function_call(), max_tokens=256)


def _task(
    benchmark: str,
    data: str | None,
    documentation: bool,
    sample: Callable[[Row, int], Sample],
    native: Scorer,
    *,
    max_tokens: int,
) -> Task:
    if not data:
        raise PrerequisiteError(
            f"No data: add -T data=FILE, the questions of {benchmark} as JSON lines in their "
            "original schema."
        )
    samples = _samples(Path(from_working_directory(data)), sample)
    return Task(
        dataset=MemoryDataset(samples, name=benchmark, location=data),
        solver=ask(benchmark, documentation),
        scorer=native,
        config=GenerateConfig(max_tokens=max_tokens),
    )


def _samples(path: Path, sample: Callable[[Row, int], Sample]) -> list[Sample]:
    """Samples of a JSON lines file, in its order.

    Raises:
        PrerequisiteError: the file cannot be read, or a line does not fit; the message says where.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PrerequisiteError(f"The data cannot be read: {error}") from error
    samples: list[Sample] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            samples.append(sample(json.loads(line), len(samples)))
        except KeyError as error:
            raise PrerequisiteError(f"{path}, line {number + 1}: it lacks {error}.") from error
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            raise PrerequisiteError(f"{path}, line {number + 1}: {error}.") from error
    if not samples:
        raise PrerequisiteError(f"{path} holds no questions.")
    return samples
