"""Answering tasks: one per benchmark, which make a model a candidate, and one for own prompts.

inspect eval tiebreak/gsm8k --model openai/gpt-5-mini
inspect eval tiebreak/prompts -T prompts=prompts.jsonl --model openai/gpt-5-mini

The log contains everything that judging needs later: the raw question, its choices and tool
schemas, the whole written answer or the tool calls, and the native score. Answers to own prompts
are not scored.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, get_args

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver, generate

from tiebreak.benchmarks import load_questions
from tiebreak.benchmarks.question import Question
from tiebreak.benchmarks.sources import origin
from tiebreak.candidates import OWN_PROMPTS_KEY, CandidateError, Prompt, read_prompts
from tiebreak.candidates.prompts import BENCHMARK
from tiebreak.inspect_tasks.answering import (
    Calls,
    ask,
    ask_for_calls,
    chosen_letter,
    final_number,
    function_call,
)
from tiebreak.inspect_tasks.arguments import flag, names, one_of
from tiebreak.inspect_tasks.contests import from_working_directory
from tiebreak.inspect_tasks.unit_tests import confirmed_sandbox, sandbox_of, unit_tests
from tiebreak.prerequisite import PrerequisiteError, task


@task
def humaneval(
    data: str | None = None,
    documentation: bool = True,
    sandbox: str = "docker",
    confirm_run_unsafe_code: bool = False,
    trust_code: bool = False,
) -> Task:
    """HumanEval: complete a Python function; scored by its tests, which run in a sandbox.

    Args:
        data: a JSON lines or Parquet file with task_id, prompt, canonical_solution, test and
            entry_point, or a local copy of the repository; by default the Hub, pinned.
        documentation: whether the prompt contains the docstring.
        sandbox: docker, bubblewrap (a box on this machine), or another sandbox of Inspect.
        confirm_run_unsafe_code: needed for the sandbox local, bubblewrap's earlier name.
        trust_code: also needed for the sandbox local if bubblewrap cannot be used.
    """
    if not isinstance(sandbox, str):
        raise PrerequisiteError(f"sandbox is {sandbox!r}: it must be a name, such as docker.")
    accepted = (
        flag("confirm_run_unsafe_code", confirm_run_unsafe_code),
        flag("trust_code", trust_code),
    )
    return _task(
        "humaneval",
        data,
        ask("humaneval", flag("documentation", documentation)),
        unit_tests(*accepted),
        setup=confirmed_sandbox(*accepted),
        sandbox=sandbox_of(sandbox, *accepted),
    )


@task
def gsm8k(data: str | None = None, documentation: bool = True) -> Task:
    """GSM8K: solve a word problem; scored by the final number.

    Args:
        data: a JSON lines or Parquet file with question and answer (it ends in `#### NUMBER`), or a
            local copy of the repository; by default the Hub, pinned.
        documentation: whether the prompt contains a worked example and asks for steps.
    """
    return _task("gsm8k", data, ask("gsm8k", flag("documentation", documentation)), final_number())


@task
def mmlu(
    data: str | None = None, documentation: bool = True, subjects: str | list[str] | None = None
) -> Task:
    """MMLU: explain, then choose one of several answers; scored by the chosen letter.

    Args:
        data: a JSON lines or Parquet file with question, subject, choices and answer (index of the
            right choice), or a local copy of the repository; by default the Hub, pinned.
        documentation: whether the prompt contains an example and describes the form of the reply.
        subjects: some of the 57 subjects, separated by commas.
    """
    return _task(
        "mmlu",
        data,
        ask("mmlu", flag("documentation", documentation)),
        chosen_letter(),
        names("subjects", subjects),
    )


@task
def bfcl(
    data: str | None = None,
    documentation: bool = True,
    categories: str | list[str] | None = None,
    calls: Calls = "tools",
) -> Task:
    """BFCL, questions of one turn: choose functions and arguments; scored by the ground truth.

    Args:
        data: a JSON lines file with id, question, function and ground_truth, or a folder with
            BFCL's own files; by default those of the installed package bfcl-eval.
        documentation: whether functions and parameters are described.
        categories: some categories, separated by commas, e.g. simple,live_parallel.
        calls: tools (the provider's tool calling), text (written in the reply) or schema (a reply
            that a JSON schema restricts to one call, for small models).
    """
    one_of("calls", calls, get_args(Calls))
    return _task(
        "bfcl",
        data,
        ask_for_calls(calls, flag("documentation", documentation)),
        function_call(),
        names("categories", categories),
    )


def _task(
    benchmark: str,
    data: str | None,
    solver: Solver,
    native: Scorer,
    parts: Sequence[str] = (),
    **more: Any,
) -> Task:
    if data is not None and not (isinstance(data, str) and data):
        raise PrerequisiteError(f"data is {data!r}: it must be a file or a folder.")
    path = from_working_directory(data) if data else None
    dataset = MemoryDataset(
        [_sample(question) for question in load_questions(benchmark, path, parts)],
        name=benchmark,
        location=origin(benchmark, path),
    )
    return Task(dataset=dataset, solver=solver, scorer=native, **more)


def _sample(question: Question) -> Sample:
    messages: list[ChatMessage] = [
        MESSAGES[message["role"]](content=message["content"]) for message in question.messages
    ]
    tools = {"tools": list(question.tools)} if question.tools else {}
    return Sample(
        id=question.id,
        input=messages or question.text,
        choices=list(question.choices) or None,
        target=question.target,
        metadata={**tools, **question.details},
    )


MESSAGES: Final = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


@task
def prompts(prompts: str | None = None, name: str = BENCHMARK) -> Task:
    """Your own prompts: each is sent unchanged, and no answer is scored.

    Args:
        prompts: a JSON lines, CSV or Parquet file with prompt (a text) or messages (a conversation
            that ends with the user's), and optionally system, id, target and category; or a dataset
            on the Hub (OWNER/NAME, hf://datasets/OWNER/NAME/FILE).
        name: name of these prompts on boards; several files need different names.
    """
    if not (isinstance(prompts, str) and prompts):
        raise PrerequisiteError(
            "No prompts: add -T prompts=FILE, JSON lines, CSV or Parquet with a column prompt."
        )
    if not (isinstance(name, str) and name.strip()):
        raise PrerequisiteError(f"name is {name!r}: it must be a name, such as emails.")
    path = from_working_directory(prompts)
    source = path if Path(path).exists() else prompts
    try:
        samples = [_sample(_question(prompt)) for prompt in read_prompts(source)]
    except CandidateError as error:
        raise PrerequisiteError(str(error)) from error
    return Task(
        dataset=MemoryDataset(samples, name=name, location=source),
        solver=generate(),
        name=name,
        metadata={OWN_PROMPTS_KEY: source},
    )


def _question(prompt: Prompt) -> Question:
    """A prompt as a question: a single user message as text, anything else as messages."""
    turns = tuple({"role": turn.role, "content": turn.text} for turn in prompt.messages)
    return Question(
        prompt.id,
        prompt.text,
        prompt.target,
        messages=turns if len(turns) > 1 else (),
        details={"category": prompt.category} if prompt.category else {},
    )
