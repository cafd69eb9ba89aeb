import json
import math
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
from tests.cases import cases
from tiebreak.candidates import (
    Candidate,
    CandidateError,
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


def kinds(pool: CandidatePool) -> set[str]:
    return {note.kind for note in pool.notes}


def test_what_a_candidate_and_an_item_hold(tmp_path: Path) -> None:
    rows = make_rows(1)
    rows[0] |= {"choices": ["0", "1"], "metadata": {"subject": "sums"}, "target": ["0", "zero"]}
    pool = pair(tmp_path, rows, task="inspect_evals/gsm8k")
    (item,) = pool.items
    assert item.key == ItemKey("gsm8k", "q0", 1)
    assert item.prompt == "What is 0 + 0?"
    assert item.target == "0\nzero"
    assert item.choices == ("0", "1")
    assert item.metadata == {"subject": "sums"}
    assert item.input_hash == input_hash("What is 0 + 0?", ["0", "1"])
    found = answer(pool)
    assert found == Candidate(
        key=item.key,
        model="a",
        text="The answer is 0.",
        native_score=1.0,
        native_metric="match",
        stop_reason="stop",
        input_tokens=7,
        output_tokens=11,
        source=(tmp_path / "a.eval").as_posix(),
    )


@pytest.mark.parametrize(
    ("value", "score"), cases(__file__, "native scores mean what inspect means")
)
def test_native_scores_mean_what_inspect_means(tmp_path: Path, value: Any, score: float) -> None:
    assert answer(pair(tmp_path, make_rows(1, native=value))).native_score == score


def test_a_log_without_scores_has_undefined_ones_and_says_so(tmp_path: Path) -> None:
    pool = pair(tmp_path, make_rows(2, native=None))
    assert math.isnan(answer(pool).native_score)
    assert answer(pool).native_metric is None
    assert "native_choice" in kinds(pool)


def scored_twice() -> list[dict[str, Any]]:
    rows = make_rows(2, native=None)
    for row in rows:
        row["scores"] = {"match": "I", "judge": {"style": 0.25, "truth": 0.75}}
    return rows


@pytest.mark.parametrize(
    ("native", "metric", "score"),
    [
        (None, "match", 0.0),
        ("judge.truth", "judge.truth", 0.75),
        (["exact_match", "judge.style"], "judge.style", 0.25),
    ],
)
def test_choice_among_several_scores(
    tmp_path: Path, native: Any, metric: str, score: float
) -> None:
    rows = scored_twice()
    for model in "ab":
        write_inspect_log(tmp_path / f"{model}.eval", model, rows)
    pool = load_candidates(tmp_path, native=native)
    assert (answer(pool).native_metric, answer(pool).native_score) == (metric, score)
    assert ("native_choice" in kinds(pool)) == (native is None)


def test_a_dict_score_alone_gives_its_first_value(tmp_path: Path) -> None:
    rows = make_rows(1, native=None)
    rows[0]["scores"] = {"judge": {"style": 0.25, "truth": 0.75}}
    found = answer(pair(tmp_path, rows))
    assert (found.native_metric, found.native_score) == ("judge.style", 0.25)


def test_a_dict_score_is_none_without_its_part(tmp_path: Path) -> None:
    write_inspect_log(tmp_path / "a.eval", "a", scored_twice())
    with pytest.raises(
        CandidateError, match=r"no 'judge'; its scores: match, judge\.style, judge\."
    ):
        load_candidates(tmp_path, native="judge", alone=True)


def test_the_native_score_is_one_that_all_logs_have(tmp_path: Path) -> None:
    scores = {"multi": {"acc": 1.0, "style": 0.25}, "match": "C"}
    turned = {"multi": {"style": 0.25, "acc": 1.0}}
    for model, held in (("a", scores), ("b", turned)):
        rows = [row | {"scores": held} for row in make_rows(2, native=None)]
        write_inspect_log(tmp_path / f"{model}.eval", model, rows)
    pool = load_candidates(tmp_path)
    assert {c.native_metric for _, row in pool for c in row.values()} == {"multi.acc"}
    assert {c.native_score for _, row in pool for c in row.values()} == {1.0}


@pytest.mark.slow
def test_the_first_epoch_is_kept_and_told_or_all_are(tmp_path: Path) -> None:
    first, second = make_rows(2), make_rows(2, answer="Second try.")
    rows = [row | {"epoch": 2} for row in second] + first
    pool = pair(tmp_path, rows, epochs=2)
    assert answer(pool).text == "The answer is 0."
    assert len(pool) == 2
    assert {note.what for note in pool.notes if note.kind == "epochs"} == {
        "2 epochs, the first is kept"
    }
    both = load_candidates(tmp_path, epochs="all")
    assert [item.key.epoch for item in both.items] == [1, 2, 1, 2]
    assert both.candidates[ItemKey("gsm8k", "q0", 2)]["a"].text == "Second try."
    assert "epochs" not in kinds(both)


def test_an_epoch_that_a_model_lacks_is_a_hole(tmp_path: Path) -> None:
    rows = make_rows(1)
    write_inspect_log(tmp_path / "a.eval", "a", [*rows, rows[0] | {"epoch": 2}])
    write_inspect_log(tmp_path / "b.eval", "b", rows)
    assert len(load_candidates(tmp_path)) == 1
    with pytest.raises(ValueError, match=r"item 'q0' \(epoch 2\) has no answer by b"):
        load_candidates(tmp_path, epochs="all")


def test_metadata_names_two_settings_of_one_model(tmp_path: Path) -> None:
    for name in ("cold", "hot @ T=1"):
        path = tmp_path / f"{name[:3]}.eval"
        write_inspect_log(path, "openai/gpt", make_rows(2), metadata={"candidate": name})
    assert load_candidates(tmp_path).models == ("cold", "hot @ T=1")


def test_model_names_are_kept_as_they_are(tmp_path: Path) -> None:
    names = ["openai/azure/gpt-4", "ollama/llama3:8b", "m@2026-01-01", "my model [v2]"]
    for name in names:
        write_inspect_log(tmp_path, name, make_rows(1))
    assert load_candidates(tmp_path).models == tuple(sorted(names))


def test_no_sample_of_a_ranking_log_is_read(tmp_path: Path) -> None:
    pair(tmp_path, make_rows(2))
    path = write_inspect_log(
        tmp_path / "ranking.eval", "j", make_rows(2), metadata={"tiebreak_protocol": "seal"}
    )
    content = bytearray(path.read_bytes())
    at = content.index(b"samples/q1_epoch_1.json") + 40  # inside the compressed sample
    content[at : at + 20] = b"\0" * 20
    path.write_bytes(bytes(content))
    assert kinds(load_candidates(tmp_path)) == {"ranking_log"}


@pytest.mark.parametrize(
    ("row", "text", "stop_reason"),
    [
        ({"answer": ""}, "", "stop"),
        ({"stop_reason": "max_tokens"}, "The answer is 0.", "max_tokens"),
        ({"limit": "token"}, "The answer is 0.", "token_limit"),
    ],
)
def test_a_bad_answer_is_an_answer(
    tmp_path: Path, row: dict[str, Any], text: str, stop_reason: str
) -> None:
    found = answer(pair(tmp_path, [make_rows(1)[0] | row]))
    assert (found.text, found.stop_reason) == (text, stop_reason)


def test_the_end_of_a_run_that_a_limit_stopped_is_marked(tmp_path: Path) -> None:
    row = make_rows(1)[0] | {"limit": "message"}
    pool = pair(tmp_path, [row])
    mark = "(The run was stopped here by its message limit.)"
    assert answer(pool).answer == f"The answer is 0.\n{mark}"
    assert {note.what for note in pool.notes if note.kind == "stopped"} == {
        "1 answer of runs that a limit stopped, such as that of item 'q0': judges read the last "
        "words, with a mark"
    }


def test_tool_calls_and_schemas(tmp_path: Path) -> None:
    call = {"function": "gcd", "arguments": {"a": 4, "b": 6}}
    tool = {"name": "gcd", "parameters": {"properties": {"a": {}, "b": {}}}}
    rows = [make_rows(1)[0] | {"answer": "", "tool_calls": [call], "tools": [tool]}]
    pool = pair(tmp_path, rows, task="bfcl")
    assert answer(pool).tool_calls == (call,)
    assert json.loads(answer(pool).answer) == call
    assert pool.items[0].tools == (tool,)
    assert pool.items[0].input_hash == input_hash(rows[0]["question"], (), [tool], "0")


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


def test_metadata_that_is_not_in_the_prompt_is_not_the_question(tmp_path: Path) -> None:
    rows = [row | {"metadata": {"question": "other"}} for row in make_rows(1)]
    assert pair(tmp_path, rows).items[0].input_hash == input_hash("What is 0 + 0?", target="0")


def test_system_messages_of_a_sample_are_part_of_the_question(tmp_path: Path) -> None:
    rows = [row | {"system": "Be brief."} for row in make_rows(1)]
    assert pair(tmp_path, rows).items[0].prompt == "System: Be brief.\n\nUser: What is 0 + 0?"


@pytest.mark.slow
def test_unicode_and_a_megabyte(tmp_path: Path) -> None:
    assert answer(pair(tmp_path, make_rows(1, answer=MEGABYTE))).text == MEGABYTE


@solver
def think_first() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages.insert(0, ChatMessageSystem(content="Think."))
        return await generate(state)

    return solve


def mock(name: str, *answers: str) -> Model:
    outputs = [ModelOutput.from_content(f"mockllm/{name}", text) for text in answers]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=3, output_tokens=5, total_tokens=8)
    return get_model(f"mockllm/{name}", custom_outputs=outputs, memoize=False)


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


def mocked(output: ModelOutput) -> Model:
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=[output])


@pytest.mark.slow
def test_an_agents_submitted_answer_reaches_a_judge_once(tmp_path: Path) -> None:
    submitted = ModelOutput.for_tool_call("model", "submit", {"answer": "42"}, content="So: 42.")
    task = Task([Sample("What is 6 × 7?", target="42")], solver=react(), scorer=includes())
    model = mocked(submitted)
    [log] = eval(task, model=model, log_dir=str(tmp_path), display="none")
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
    roles = {"examinee": mocked(ModelOutput.from_content("model", "42"))}
    [log] = eval(task, model=None, model_roles=roles, log_dir=str(tmp_path), display="none")
    assert (log.status, log.eval.model) == ("success", "none/none")
    assert load_candidates(tmp_path, alone=True).models == ("mockllm/model",)
