import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver

from tests.candidates.builders import make_rows, write_inspect_log
from tiebreak.candidates import (
    Candidate,
    CandidatePool,
    ItemKey,
    input_hash,
    load_candidates,
)

MEGABYTE = "π ≈ 3.14159, 日本語, 🦊\n" * 45_000  # over 1 MB as UTF-8


def pair(folder: Path, rows: list[dict[str, Any]], **options: Any) -> CandidatePool:
    """A pool of two models with the same rows; `options` go to the writer."""
    write_inspect_log(folder / "a.eval", "a", rows, **options)
    write_inspect_log(folder / "b.eval", "b", rows, **options)
    return load_candidates(folder)


def answer(pool: CandidatePool, model: str = "a", item: str = "q0") -> Candidate:
    return pool.candidates[ItemKey(pool.benchmarks[0], item)][model]


def test_no_sample_of_a_ranking_log_is_read(tmp_path: Path) -> None:
    pair(tmp_path, make_rows(2))
    path = write_inspect_log(
        tmp_path / "ranking.eval", "j", make_rows(2), metadata={"tiebreak_protocol": "seal"}
    )
    content = bytearray(path.read_bytes())
    at = content.index(b"samples/q1_epoch_1.json") + 40  # inside the compressed sample
    content[at : at + 20] = b"\0" * 20
    path.write_bytes(bytes(content))
    assert [note.kind for note in load_candidates(tmp_path).notes] == ["ranking_log"]


def test_tools_and_metadata_that_is_not_in_the_prompt(tmp_path: Path) -> None:
    tool = {"name": "gcd", "parameters": {"properties": {"a": {}, "b": {}}}}
    more = {"metadata": {"question": "other"}, "tools": [tool]}
    [item] = pair(tmp_path, [row | more for row in make_rows(1)]).items
    assert item.input_hash == input_hash("What is 0 + 0?", (), [tool], "0")


def test_the_bare_question_in_the_metadata_is_what_is_hashed(tmp_path: Path) -> None:
    bare = [f"def f(x):\n    ... {i}" for i in range(2)]
    wrapped = [
        {"id": f"HumanEval/{i}", "question": f"Complete:\n{code}", "metadata": {"prompt": code}}
        for i, code in enumerate(bare)
    ]
    pool = pair(tmp_path, wrapped, task="humaneval")
    assert [item.prompt for item in pool.items] == [f"Complete:\n{code}" for code in bare]
    assert [item.input_hash for item in pool.items] == list(map(input_hash, bare))


def test_an_instruction_in_the_metadata_is_not_the_question(tmp_path: Path) -> None:
    told = {"metadata": {"prompt": "Answer with one word."}}
    rows = [
        row | told | {"question": f"Answer with one word.\n{row['question']}"}
        for row in make_rows(3)
    ]
    hashes = {item.input_hash for item in pair(tmp_path, rows).items}
    assert len(hashes) == 3


def test_what_differs_around_the_question_belongs_to_it(tmp_path: Path) -> None:
    asked = {"question": "What is the main idea?"}
    rows = [
        row | {"metadata": asked, "question": f"Passage {row['id']}.\n\nWhat is the main idea?"}
        for row in make_rows(2)
    ]
    [first, second] = pair(tmp_path, rows).items
    assert first.input_hash == input_hash(first.prompt, target="0")
    assert first.input_hash != second.input_hash


@pytest.mark.slow
def test_unicode_and_a_megabyte(tmp_path: Path) -> None:
    assert answer(pair(tmp_path, make_rows(1, answer=MEGABYTE))).text == MEGABYTE


@solver
def think_first() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages.insert(0, ChatMessageSystem(content="Think."))
        return await generate(state)

    return solve


def mock(name: str, *outputs: ModelOutput | str) -> Model:
    made = [
        ModelOutput.from_content(f"mockllm/{name}", output) if isinstance(output, str) else output
        for output in outputs
    ]
    for output in made:
        output.usage = ModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
    return get_model(f"mockllm/{name}", custom_outputs=made, memoize=False)


@pytest.mark.slow
def test_logs_of_a_real_run(tmp_path: Path) -> None:
    """Two models; a megabyte, and a data URI, which Inspect moves to the attachments."""
    image = "data:image/png;base64," + "iVBORw0K" * 40
    samples = [
        Sample(id=1, input="Long " * 200 + "?", target="42"),
        Sample(id=2, input=[ChatMessageUser(content=image)], target="43"),
    ]
    task = Task(dataset=samples, solver=think_first(), scorer=includes(), name="gsm8k")
    for name in ("one", "two"):
        model = mock(name, MEGABYTE + "42", image)
        (log,) = eval(task, model=model, log_dir=str(tmp_path), max_samples=1)
        assert log.status == "success"
    raw = zipfile.ZipFile(log.location.removeprefix("file://")).read("samples/2_epoch_1.json")
    assert json.loads(raw)["input"][0]["content"].startswith("attachment://")
    pool = load_candidates(tmp_path)
    assert pool.models == ("mockllm/one", "mockllm/two")
    long, uri = pool.items
    assert (long.item_id, uri.item_id) == ("1", "2")
    assert (long.prompt, uri.prompt) == ("Long " * 200 + "?", image)
    answers = pool.candidates[long.key]["mockllm/one"], pool.candidates[uri.key]["mockllm/one"]
    assert [found.text for found in answers] == [MEGABYTE + "42", image]
    assert [found.native_score for found in answers] == [1.0, 0.0]
    assert [found.output_tokens for found in answers] == [5, 5]


@pytest.mark.slow
def test_an_agents_submitted_answer_reaches_a_judge_once(tmp_path: Path) -> None:
    submitted = ModelOutput.for_tool_call("model", "submit", {"answer": "42"}, content="So: 42.")
    task = Task([Sample("What is 6 × 7?", target="42")], solver=react(), scorer=includes())
    [log] = eval(task, model=mock("model", submitted), log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    pool = load_candidates(tmp_path, alone=True)
    answered = pool.candidates[pool.items[0].key]["mockllm/model"]
    assert answered.answer == "So: 42.\n\n42"


@pytest.mark.slow
def test_a_log_of_roles_is_of_the_models_behind_them(tmp_path: Path) -> None:
    @solver
    def asks_a_role() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = await get_model(role="examinee").generate(state.messages)
            return state

        return solve

    task = Task([Sample("What is 6 × 7?", target="42")], solver=asks_a_role(), scorer=includes())
    roles = {"examinee": mock("model", "42")}
    [log] = eval(task, model=None, model_roles=roles, log_dir=str(tmp_path), display="none")
    assert (log.status, log.eval.model) == ("success", "none/none")
    assert load_candidates(tmp_path, alone=True).models == ("mockllm/model",)
