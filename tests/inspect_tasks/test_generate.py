"""The answering tasks: questions as samples, and logs that candidates come from."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from tests.benchmarks.hub import ITEMS, items, write_copy
from tests.cases import cases
from tiebreak.benchmarks import load_questions
from tiebreak.benchmarks.bfcl.questions import prompt
from tiebreak.candidates import load_candidates
from tiebreak.inspect_tasks import generate
from tiebreak.prerequisite import PrerequisiteError

TASKS: dict[str, Callable[..., Task]] = {
    "humaneval": generate.humaneval,
    "gsm8k": generate.gsm8k,
    "mmlu": generate.mmlu,
    "bfcl": generate.bfcl,
}
# No container is needed for what is tested here.
OWN: dict[str, dict[str, Any]] = {
    "humaneval": {"sandbox": "bubblewrap"},
    "bfcl": {"calls": "text"},
}
RIGHT = {
    "humaneval": str(items("humaneval")[0]["canonical_solution"]),
    "gsm8k": "3 + 4 = 7\n#### 7",
    "mmlu": "It is the capital.\nAnswer: A",
    "bfcl": '{"name": "get_weather", "arguments": {"city": "Paris"}}',
}
ROW: dict[str, Any] = cases(__file__, "two calls")


class Model:
    """A model that gives one output and keeps what it was asked."""

    def __init__(self, text: str = "", calls: Sequence[tuple[str, dict[str, Any]]] = ()) -> None:
        self.message = ChatMessageAssistant(
            content=text,
            tool_calls=[ToolCall(str(n), name, given) for n, (name, given) in enumerate(calls)],
        )

    def __call__(
        self,
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        self.messages, self.tools, self.config = messages, tools, config
        output = ModelOutput.from_message(self.message, "tool_calls" if tools else "stop")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


def task(benchmark: str, data: Path | None = None, **arguments: Any) -> Task:
    path = str(data or ITEMS / f"{benchmark}.jsonl")
    return TASKS[benchmark](data=path, **{**OWN.get(benchmark, {}), **arguments})


def run(task: Task, log_dir: Path, model: Model, name: str = "m") -> EvalLog:
    [log] = inspect_eval(
        task,
        model=get_model("mockllm/model", custom_outputs=model, memoize=False),
        limit=1,
        log_dir=str(log_dir),
        metadata={"candidate": name},
        display="none",
    )
    assert log.status == "success"
    return log


def only(log: EvalLog) -> Any:
    [sample] = log.samples or []
    [score] = (sample.scores or {}).values()
    return score


@pytest.mark.parametrize("benchmark", TASKS)
def test_samples_are_the_questions(benchmark: str) -> None:
    questions = load_questions(benchmark, ITEMS / f"{benchmark}.jsonl")
    samples: list[Sample] = list(task(benchmark).dataset)
    assert len(samples) == len(questions) >= 8
    for sample, question in zip(samples, questions, strict=True):
        assert (sample.id, sample.input, sample.target) == (
            question.id,
            question.text,
            question.target,
        )
        assert tuple(sample.choices or ()) == question.choices
        assert (sample.metadata or {}).items() >= question.details.items()


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", TASKS)
def test_documentation_changes_the_prompt_and_not_the_item(benchmark: str, tmp_path: Path) -> None:
    models = {name: Model(RIGHT[benchmark]) for name in ("with", "without")}
    for name, model in models.items():
        run(task(benchmark, documentation=name == "with"), tmp_path, model, name)
    shown = [model.messages[-1].text for model in models.values()]
    assert len(shown[0]) > len(shown[1])
    pool = load_candidates([tmp_path])
    [(item, candidates)] = list(pool)
    assert set(candidates) == {"with", "without"}
    assert item.benchmark == benchmark
    assert {c.text for c in candidates.values()} == {RIGHT[benchmark]}
    assert {c.native_score for c in candidates.values()} == {1.0}


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", TASKS)
def test_a_wrong_answer_scores_nothing_and_is_kept_whole(benchmark: str, tmp_path: Path) -> None:
    log = run(task(benchmark), tmp_path, Model("I do not know.\n\nSorry."))
    assert only(log).value == "I"
    assert only(log).explanation
    [sample] = log.samples or []
    assert sample.output.completion == "I do not know.\n\nSorry."


@pytest.mark.slow
def test_the_log_holds_what_judging_needs(tmp_path: Path) -> None:
    for benchmark in ("bfcl", "mmlu"):
        for name in ("a", "b"):
            run(task(benchmark), tmp_path / benchmark, Model(RIGHT[benchmark]), name)
    by_benchmark = {item.benchmark: item for item, _ in load_candidates([tmp_path])}
    assert by_benchmark["bfcl"].tools == tuple(items("bfcl")[0]["function"])
    assert by_benchmark["bfcl"].prompt == "What is the weather in Paris?"
    assert by_benchmark["mmlu"].choices == ("Paris", "Rome", "Oslo", "Cairo")


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["humaneval", "gsm8k", "mmlu"])
def test_a_copy_in_hub_layout_will_do(
    benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "hf")
    copy = write_copy(tmp_path / "copy", benchmark)
    dataset = task(benchmark, copy).dataset
    assert [sample.id for sample in dataset] == [sample.id for sample in task(benchmark).dataset]
    assert dataset.location == str(copy)


def several_calls(folder: Path) -> Path:
    path = folder / "bfcl.jsonl"
    path.write_text(json.dumps(ROW))
    return path


@pytest.mark.slow
def test_functions_are_offered_as_tools_and_calls_captured(tmp_path: Path) -> None:
    made = [("kitchen_set_timer", {"minutes": 7}), ("kitchen_set_timer", {"minutes": 5})]
    for name in ("a", "b"):
        model = Model("Gladly.", made)
        log = run(task("bfcl", several_calls(tmp_path), calls="tools"), tmp_path, model, name)
        assert only(log).value == "C"
    [tool] = model.tools
    assert (tool.name, tool.description) == ("kitchen_set_timer", "Start a timer.")
    assert tool.parameters.required == ["minutes"]
    assert tool.parameters.properties["minutes"].type == "integer"
    assert tool.parameters.properties["tags"].type == "array"
    assert [(m.role, m.text) for m in model.messages] == [
        ("system", "You are a cook."),
        ("user", "Two timers: 5 and 7 minutes."),
    ]
    [(item, candidates)] = list(load_candidates([tmp_path]))
    assert item.prompt == "System: You are a cook.\n\nUser: Two timers: 5 and 7 minutes."
    assert candidates["a"].text == "Gladly."
    assert [call["arguments"] for call in candidates["a"].tool_calls] == [g for _, g in made]


@pytest.mark.parametrize(
    "made",
    [
        [("kitchen_set_timer", {"minutes": 5})],
        [("kitchen_set_timer", {"minutes": 5})] * 2,
        [("kitchen_set_timer", {"minutes": minutes}) for minutes in ("5", 7)],
        [("set_timer", {"minutes": minutes}) for minutes in (5, 7)],
        [],
    ],
)
def test_wrong_tool_calls(made: list[tuple[str, dict[str, Any]]], tmp_path: Path) -> None:
    log = run(task("bfcl", several_calls(tmp_path), calls="tools"), tmp_path, Model("", made))
    assert only(log).value == "I"


def test_undocumented_tools_have_no_words_of_the_data(tmp_path: Path) -> None:
    model = Model()
    run(task("bfcl", calls="tools", documentation=False), tmp_path, model)
    [tool] = model.tools
    assert tool.description == tool.name == "get_weather"
    assert "Name of the city" not in tool.model_dump_json()


def test_written_calls_see_the_whole_conversation(tmp_path: Path) -> None:
    answer = "[kitchen.set_timer(minutes=5), kitchen.set_timer(minutes=7)]"
    model = Model(answer)
    log = run(task("bfcl", several_calls(tmp_path), calls="text"), tmp_path, model)
    assert only(log).value == "C"
    [message] = model.messages
    assert "system: You are a cook.\nuser: Two timers: 5 and 7 minutes." in message.text
    assert '"name": "kitchen.set_timer"' in message.text
    assert model.tools == []
    assert model.config.response_schema is None


@pytest.mark.slow
def test_what_the_assistant_said_before_is_part_of_the_question(tmp_path: Path) -> None:
    turns = [("user", "A timer."), ("assistant", "How long?"), ("user", "5 minutes.")]
    turn = [{"role": role, "content": content} for role, content in turns]
    truth = ROW["ground_truth"][:1]
    path = tmp_path / "bfcl.jsonl"
    path.write_text(
        json.dumps({**ROW, "id": "simple_0", "question": [turn], "ground_truth": truth})
    )
    model = Model()
    log = run(task("bfcl", path, calls="text"), tmp_path, model)
    assert model.messages[0].text == prompt(load_questions("bfcl", path)[0])
    [sample] = log.samples or []
    assert isinstance(sample.input, list)
    assert [(m.role, m.text) for m in sample.input] == turns


def test_a_schema_holds_small_models_to_one_call(tmp_path: Path) -> None:
    model = Model(RIGHT["bfcl"])
    run(task("bfcl", calls="schema"), tmp_path, model)
    assert model.config.response_schema is not None
    schema = model.config.response_schema.json_schema
    assert schema.properties is not None
    assert schema.properties["name"].enum == ["get_weather"]
    arguments = schema.properties["arguments"]
    assert (arguments.required, arguments.additionalProperties) == (["city"], False)


@pytest.mark.parametrize(("benchmark", "arguments", "words"), cases(__file__, "wrong arguments"))
def test_wrong_arguments(benchmark: str, arguments: dict[str, Any], words: str) -> None:
    given = {"data": str(ITEMS / f"{benchmark}.jsonl"), **OWN.get(benchmark, {}), **arguments}
    with pytest.raises(PrerequisiteError, match=words):
        TASKS[benchmark](**given)


@pytest.mark.parametrize("subjects", ["geography, astronomy", ["geography", "astronomy"]])
def test_some_subjects(subjects: str | list[str]) -> None:
    details = [sample.metadata or {} for sample in task("mmlu", subjects=subjects).dataset]
    assert {metadata["subject"] for metadata in details} == {"geography", "astronomy"}


def test_code_runs_in_docker_unless_told_otherwise() -> None:
    sandbox = generate.humaneval(data=str(ITEMS / "humaneval.jsonl")).sandbox
    assert sandbox is not None
    assert sandbox.type == "docker"
    assert str(sandbox.config).endswith("compose.yaml")
