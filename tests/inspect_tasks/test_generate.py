"""The answering tasks: original schemas, wording, and logs that candidates come from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from tiebreak.candidates import load_candidates
from tiebreak.inspect_tasks import generate
from tiebreak.inspect_tasks.native import call_problem, last_number
from tiebreak.inspect_tasks.prompting import (
    call_schema,
    without_descriptions,
    without_docstrings,
)
from tiebreak.inspect_tasks.run_code import run_tests
from tiebreak.prerequisite import PrerequisiteError

ITEMS = Path(generate.__file__).parent / "items"
TASKS: dict[str, Callable[..., Task]] = {
    "humaneval": generate.humaneval,
    "gsm8k": generate.gsm8k,
    "mmlu": generate.mmlu,
    "bfcl": generate.bfcl,
}


def items(benchmark: str) -> list[dict[str, Any]]:
    lines = (ITEMS / f"{benchmark}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def task(benchmark: str, **arguments: Any) -> Task:
    return TASKS[benchmark](data=str(ITEMS / f"{benchmark}.jsonl"), **arguments)


def samples(benchmark: str, **arguments: Any) -> list[Sample]:
    return list(task(benchmark, **arguments).dataset)


def answer_of(benchmark: str) -> str:
    """A right answer to the first item."""
    return {
        "humaneval": str(items("humaneval")[0]["canonical_solution"]),
        "gsm8k": "3 + 4 = 7\n#### 7",
        "mmlu": "A) Paris. It is the capital.",
        "bfcl": '{"name": "get_weather", "arguments": {"city": "Paris"}}',
    }[benchmark]


def run(benchmark: str, log_dir: Path, answer: str, model: str = "m", **arguments: Any) -> EvalLog:
    output = ModelOutput.from_content("mockllm/model", answer)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    [log] = inspect_eval(
        task(benchmark, **arguments),
        model=get_model("mockllm/model", custom_outputs=[output]),
        limit=1,
        log_dir=str(log_dir),
        metadata={"candidate": model},
    )
    assert log.status == "success"
    return log


@pytest.mark.parametrize("benchmark", TASKS)
def test_the_items_are_enough_and_told_apart(benchmark: str) -> None:
    found = samples(benchmark)
    assert len(found) >= 8
    assert len({sample.id for sample in found}) == len(found)
    assert len({str(sample.input) for sample in found}) == len(found)


def test_the_items_own_solutions_are_right() -> None:
    for row in items("humaneval"):
        outcome = run_tests(
            row["canonical_solution"],
            prompt=row["prompt"],
            test=row["test"],
            entry_point=row["entry_point"],
        )
        assert outcome.passed, (row["task_id"], outcome.why)
    for row in items("gsm8k"):
        assert last_number(row["answer"]) is not None
    for row in items("mmlu"):
        assert len(row["choices"]) == len(set(row["choices"])) == 4
        assert row["answer"] in range(4)
    for row in items("bfcl"):
        [(name, parameters)] = row["ground_truth"][0].items()
        arguments = {key: values[-1] for key, values in parameters.items()}
        call = json.dumps({"name": name, "arguments": arguments})
        assert call_problem(call, row["ground_truth"]) is None, row["id"]
        assert name in {function["name"] for function in row["function"]}


@pytest.mark.parametrize("benchmark", TASKS)
def test_documentation_changes_the_prompt_and_not_the_item(benchmark: str, tmp_path: Path) -> None:
    logs = [
        run(benchmark, tmp_path, answer_of(benchmark), name, documentation=documentation)
        for name, documentation in (("with", True), ("without", False))
    ]
    shown = [log.samples[0].messages[0].text for log in logs if log.samples]
    assert len(shown[0]) > len(shown[1])
    pool = load_candidates([tmp_path])
    [(item, candidates)] = list(pool)
    assert set(candidates) == {"with", "without"}
    assert item.benchmark == benchmark
    assert {c.text for c in candidates.values()} == {answer_of(benchmark)}
    assert {c.native_score for c in candidates.values()} == {1.0}


@pytest.mark.parametrize("benchmark", TASKS)
def test_a_wrong_answer_scores_nothing(benchmark: str, tmp_path: Path) -> None:
    [sample] = run(benchmark, tmp_path, "I do not know.").samples or []
    [score] = (sample.scores or {}).values()
    assert score.value == "I"
    assert sample.output.completion == "I do not know."


def test_the_log_holds_what_judging_needs(tmp_path: Path) -> None:
    for benchmark in ("bfcl", "mmlu"):
        for model in ("a", "b"):
            run(benchmark, tmp_path / benchmark, answer_of(benchmark), model)
    found = {item.benchmark: item for item, _ in load_candidates([tmp_path])}
    assert found["bfcl"].tools == tuple(items("bfcl")[0]["function"])
    assert found["bfcl"].prompt == "What is the weather in Paris?"
    assert found["mmlu"].choices == ("Paris", "Rome", "Oslo", "Cairo")


def test_a_name_that_looks_like_a_slot_is_only_text(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    row = {"question": "What is {question} + {0}?", "answer": "#### 1"}
    data.write_text(json.dumps(row))
    [sample] = list(generate.gsm8k(data=str(data)).dataset)
    assert sample.input == row["question"]


@pytest.mark.parametrize("benchmark", TASKS)
def test_missing_data_name_the_flag(benchmark: str) -> None:
    with pytest.raises(PrerequisiteError, match="-T data=FILE"):
        TASKS[benchmark]()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", r"line 1: Expecting property name"),
        ('{"question": "?", "answer": "#### 1"}\n{"question": "?"}', r"line 2: it lacks 'answer'"),
        ('{"question": "?", "answer": "seven"}', r"line 1: its answer holds no number"),
        ("[]", r"line 1: list indices"),
        ("\n\n", r"holds no questions"),
    ],
)
def test_bad_data_say_where(text: str, words: str, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text(text)
    with pytest.raises(PrerequisiteError, match=words):
        generate.gsm8k(data=str(data))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"cannot be read.*nowhere\.jsonl"):
        generate.gsm8k(data=str(tmp_path / "nowhere.jsonl"))


def test_docstrings_go_and_code_stays() -> None:
    program = 'import math\n\ndef f(x):\n    """Say\n    much.\n    """\n    # note\n    return x\n'
    assert without_docstrings(program) == ("import math\n\ndef f(x):\n    # note\n    return x")
    assert without_docstrings("def f(:") == "def f(:"
    assert without_docstrings('def f(x):\n    """Only this."""') == "def f(x):"


def test_descriptions_go_and_a_parameter_of_that_name_stays() -> None:
    tool = {
        "name": "f",
        "description": "words",
        "parameters": {"properties": {"description": {"type": "string", "description": "words"}}},
    }
    assert without_descriptions(tool) == {
        "name": "f",
        "parameters": {"properties": {"description": {"type": "string"}}},
    }


def test_the_call_schema_names_functions_and_arguments() -> None:
    number = {"type": "dict", "properties": {"x": {"type": "float"}}, "required": ["x"]}
    one = call_schema([{"name": "f", "parameters": number}]).json_schema
    assert one.properties is not None
    assert one.properties["name"].enum == ["f"]
    arguments = one.properties["arguments"]
    assert arguments.properties is not None
    assert arguments.properties["x"].type == "number"
    assert (arguments.required, arguments.additionalProperties) == (["x"], False)
    two = call_schema([{"name": "f", "parameters": number}, {"name": "g"}]).json_schema
    assert two.anyOf is not None
    assert len(two.anyOf) == 2
