"""Native scores in Inspect: the benchmarks' own metrics as scorers over the whole answer.

What they find right and wrong is decided in `tiebreak.benchmarks`, for both harnesses. HumanEval's
scorer is in `unit_tests`, since it needs a sandbox.
"""

from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from tiebreak.benchmarks import Verdict, bfcl, gsm8k, mmlu
from tiebreak.inspect_tasks.prompting import question_of


@scorer(metrics=[accuracy(), stderr()])
def final_number() -> Scorer:
    """GSM8K: is the number that the answer ends with the target's?"""

    async def score(state: TaskState, target: Target) -> Score:
        return _score(gsm8k.score(state.output.completion, question_of(state, target.text)))

    return score


@scorer(metrics=[accuracy(), stderr()])
def chosen_letter() -> Scorer:
    """MMLU: is the chosen letter the target's?"""

    async def score(state: TaskState, target: Target) -> Score:
        return _score(mmlu.score(state.output.completion, question_of(state, target.text)))

    return score


@scorer(metrics=[accuracy(), stderr()])
def function_call() -> Scorer:
    """BFCL: does the ground truth admit the calls, made as tool calls or written out?"""

    async def score(state: TaskState, target: Target) -> Score:
        question, answer = question_of(state, target.text), state.output.completion
        made = [] if state.output.empty else state.output.message.tool_calls or []
        if not made:
            return _score(bfcl.score(answer, question))
        calls = [bfcl.Call(call.function, call.arguments) for call in made]
        return _score(bfcl.score_calls(calls, answer, question))

    return score


def _score(verdict: Verdict) -> Score:
    return Score(
        value=CORRECT if verdict.right else INCORRECT,
        answer=verdict.found,
        explanation=verdict.why or None,
    )
