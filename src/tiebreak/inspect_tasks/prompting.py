"""From a raw benchmark question to the prompt that a model sees.

A sample's input stays the question as the data has it, so that its fingerprint is the same however
it was asked. The solver here puts the wording around it: with guidance (`documentation`) or bare.
"""

import ast
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from inspect_ai.model import ResponseSchema
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from tiebreak.inspect_tasks.run_code import parse_program

LETTERS: Final = "ABCDEFGHIJ"

_GSM8K_GUIDE: Final = """\
Solve the problem step by step. End with a line "#### " and the number.

Problem: A shelf holds 2 books. Ida adds 6 more. How many books are on the shelf?
Solution: There are 2 books and 6 more, so 2 + 6 = 8.
#### 8

Problem: {question}
Solution:"""
_MMLU_GUIDE: Final = """\
Answer the question with the letter of the right choice and one short sentence that says why.

Question: What do bees make?
A) Milk
B) Honey
C) Paper
D) Glass
Answer: B) Honey. Bees make honey from the nectar of flowers.

Question: {question}
{choices}
Answer:"""
_HUMANEVAL_GUIDE: Final = """\
Complete this Python function so that it does what its docstring says. Reply with the whole \
function in Python and nothing else.

```python
{program}
```"""
_HUMANEVAL_BARE: Final = "Complete this Python function.\n\n```python\n{program}\n```"
_BFCL: Final = """\
Call the function that answers the request. Reply with JSON: {{"name": ..., "arguments": {{...}}}}

Functions:
{functions}

Request: {question}"""

# BFCL's names of types, where they differ from those of JSON schema.
_TYPES: Final = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}


def gsm8k_prompt(state: TaskState, documentation: bool) -> str:
    """A word problem; the guidance is a worked example and the form of the last line."""
    question = state.input_text
    return _GSM8K_GUIDE.format(question=question) if documentation else question


def mmlu_prompt(state: TaskState, documentation: bool) -> str:
    """A question with lettered choices; the guidance is an example and what to reply."""
    choices = "\n".join(
        f"{letter}) {choice.value}" for letter, choice in zip(LETTERS, state.choices, strict=False)
    )
    if documentation:
        return _MMLU_GUIDE.format(question=state.input_text, choices=choices)
    return f"{state.input_text}\n{choices}"


def humaneval_prompt(state: TaskState, documentation: bool) -> str:
    """The beginning of a program; without documentation its docstrings are gone."""
    program = state.input_text.rstrip()
    if documentation:
        return _HUMANEVAL_GUIDE.format(program=program)
    return _HUMANEVAL_BARE.format(program=without_docstrings(program))


def bfcl_prompt(state: TaskState, documentation: bool) -> str:
    """A request and the functions on offer; without documentation nothing describes them."""
    tools = state.metadata["tools"]
    shown = tools if documentation else [without_descriptions(tool) for tool in tools]
    functions = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in shown)
    return _BFCL.format(functions=functions, question=state.input_text)


PROMPTS: Final[Mapping[str, Callable[[TaskState, bool], str]]] = {
    "gsm8k": gsm8k_prompt,
    "mmlu": mmlu_prompt,
    "humaneval": humaneval_prompt,
    "bfcl": bfcl_prompt,
}


@solver
def ask(benchmark: str, documentation: bool = True) -> Solver:
    """Ask a benchmark's question in its own wording and keep the whole answer.

    Args:
        benchmark: One of `PROMPTS`.
        documentation: Whether the prompt holds its guidance.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text = PROMPTS[benchmark](state, documentation)
        if benchmark != "bfcl":
            return await generate(state)
        return await generate(state, response_schema=call_schema(state.metadata["tools"]))

    return solve


def without_docstrings(program: str) -> str:
    """A program's text without docstrings; it stays as it is when it does not parse."""
    try:
        tree = parse_program(program)
    except SyntaxError:
        return program
    lines: list[str | None] = list(program.split("\n"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            lines[text.lineno - 1 : text.end_lineno] = [None] * (
                (text.end_lineno or text.lineno) - text.lineno + 1
            )
    return "\n".join(line for line in lines if line is not None).rstrip()


def without_descriptions(tool: Any) -> Any:
    """A function's schema without its descriptions; a parameter of that name stays."""
    if isinstance(tool, list):
        return [without_descriptions(part) for part in tool]
    if not isinstance(tool, Mapping):
        return tool
    return {
        key: without_descriptions(value)
        for key, value in tool.items()
        if not (key == "description" and isinstance(value, str))
    }


def call_schema(tools: list[dict[str, Any]]) -> ResponseSchema:
    """JSON schema of one call to one of the functions."""
    calls = [_call(tool) for tool in tools]
    schema = calls[0] if len(calls) == 1 else JSONSchema(anyOf=calls)
    return ResponseSchema(name="function_call", json_schema=schema)


def _call(tool: Mapping[str, Any]) -> JSONSchema:
    arguments = _json_schema(tool.get("parameters") or {})
    return JSONSchema(
        type="object",
        properties={
            "name": JSONSchema(type="string", enum=[tool["name"]]),
            "arguments": JSONSchema.model_validate(arguments),
        },
        required=["name", "arguments"],
        additionalProperties=False,
    )


def _json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A BFCL type as JSON schema; what the data leaves open becomes a string or no further key."""
    kind = str(schema.get("type", "string"))
    result: dict[str, Any] = {"type": _TYPES.get(kind, kind)}
    if result["type"] == "object":
        properties = schema.get("properties") or {}
        result["properties"] = {name: _json_schema(part) for name, part in properties.items()}
        result["required"] = [name for name in schema.get("required", ()) if name in properties]
        result["additionalProperties"] = False
    if result["type"] == "array":
        result["items"] = _json_schema(schema.get("items") or {})
    if schema.get("enum"):
        result["enum"] = schema["enum"]
    return result
