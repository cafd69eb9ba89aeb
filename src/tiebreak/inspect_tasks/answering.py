"""From a sample to a model's answer, and from the answer to its native score.

A sample's input is the question exactly as in the data, so that its fingerprint does not depend on
how it was asked. The prompt around it and the scoring come from `tiebreak.benchmarks`, for both
harnesses. HumanEval's scorer is in `unit_tests`, since it needs a sandbox.
"""

from collections.abc import Mapping
from typing import Any, Literal

from inspect_ai.model import ChatMessageUser, ResponseSchema
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef, ToolParams
from inspect_ai.util import JSONSchema

from tiebreak.benchmarks import BENCHMARKS, gsm8k, mmlu
from tiebreak.benchmarks.bfcl import check
from tiebreak.benchmarks.bfcl import questions as bfcl
from tiebreak.benchmarks.question import Question, Verdict

Calls = Literal["tools", "text", "schema"]
"""How functions are called: by the provider's tool calling; in the text of the reply; or in a reply
that a JSON schema restricts to one call, for small models."""


@solver
def ask(benchmark: str, documentation: bool = True) -> Solver:
    """Ask a benchmark's question with the benchmark's prompt, and keep the whole answer.

    `benchmark` is a key of `BENCHMARKS`; `documentation` includes the guidance in its prompt.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(_worded(state, benchmark, documentation))

    return solve


@solver
def ask_for_calls(calls: Calls = "tools", documentation: bool = True) -> Solver:
    """Ask which functions to call, described or by name alone; no function is called."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        tools = state.metadata["tools"]
        if calls == "tools":
            shown = tools if documentation else bfcl.without_descriptions(tools)
            state.tools = [offered(tool) for tool in shown]
            return await generate(state, tool_calls="none")
        state = _worded(state, "bfcl", documentation)
        if calls == "text":
            return await generate(state)
        schema = JSONSchema.model_validate(bfcl.call_schema(tools))
        return await generate(
            state, response_schema=ResponseSchema(name="function_call", json_schema=schema)
        )

    return solve


@scorer(metrics=[accuracy(), stderr()])
def final_number() -> Scorer:
    """GSM8K: whether the number at the end of the answer equals the target's."""

    async def score(state: TaskState, target: Target) -> Score:
        return _score(gsm8k.score(state.output.completion, question_of(state, target.text)))

    return score


@scorer(metrics=[accuracy(), stderr()])
def chosen_letter() -> Scorer:
    """MMLU: whether the chosen letter is the target."""

    async def score(state: TaskState, target: Target) -> Score:
        return _score(mmlu.score(state.output.completion, question_of(state, target.text)))

    return score


@scorer(metrics=[accuracy(), stderr()])
def function_call() -> Scorer:
    """BFCL: whether the ground truth admits the calls, made as tool calls or written out."""

    async def score(state: TaskState, target: Target) -> Score:
        question, answer = question_of(state, target.text), state.output.completion
        made = [] if state.output.empty else state.output.message.tool_calls or []
        if not made:
            return _score(check.score(answer, question))
        calls = [check.Call(call.function, call.arguments) for call in made]
        return _score(check.score_calls(calls, answer, question))

    return score


def offered(tool: Mapping[str, Any]) -> ToolDef:
    """A BFCL function as a tool that is never run."""

    async def never_run(**arguments: Any) -> str:
        raise NotImplementedError(f"{tool['name']} is on offer only")

    # Inspect requires descriptions, so a missing one is replaced by the name.
    parameters = ToolParams.model_validate(bfcl.tool_schema(tool))
    for parameter, schema in parameters.properties.items():
        schema.description = schema.description or parameter
    name = bfcl.tool_name(tool)
    return ToolDef(never_run, name, tool.get("description") or name, parameters)


def question_of(state: TaskState, target: str = "") -> Question:
    """The question of a sample, as stored in its log."""
    messages = state.input if isinstance(state.input, list) else []
    return Question(
        id=str(state.sample_id),
        text="\n".join(m.text for m in messages if m.role != "system")
        if messages
        else state.input_text,
        target=target,
        choices=tuple(choice.value for choice in state.choices),
        tools=tuple(state.metadata.get("tools", ())),
        messages=tuple({"role": m.role, "content": m.text} for m in messages),
        details=state.metadata,
    )


def _worded(state: TaskState, benchmark: str, documentation: bool) -> TaskState:
    prompt = BENCHMARKS[benchmark].prompt(question_of(state), documentation)
    state.messages = [ChatMessageUser(content=prompt)]
    return state


def _score(verdict: Verdict) -> Score:
    return Score(
        value=CORRECT if verdict.right else INCORRECT,
        answer=verdict.found,
        explanation=verdict.why or None,
    )
