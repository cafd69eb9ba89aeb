"""Documents, prompts and native scores of the lm-eval tasks, without the harness."""

import ast
import json
import math
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cases import cases
from tests.harness import ROOT
from tiebreak.benchmarks import BENCHMARKS, Benchmark, load_questions
from tiebreak.benchmarks.lm_eval_tasks import utils
from tiebreak.benchmarks.question import Question
from tiebreak.candidates.question import (
    Asked,
    Turn,
    bare_id,
    conversation,
    function_names,
    questions,
    tools_of,
    without_tools,
)

ITEMS = ROOT / "examples" / "items"
COLUMNS = {
    "gsm8k": ["id", "question", "answer"],
    "mmlu": ["id", "question", "subject", "choices", "answer"],
    "humaneval": ["task_id", "prompt", "canonical_solution", "test", "entry_point"],
    "bfcl": ["id", "category", "question", "function", "ground_truth"],
}
METRICS = {"gsm8k": "final_number", "mmlu": "chosen_letter", "bfcl": "function_call"}
LOADERS = {name: getattr(utils, f"load_{name}") for name in COLUMNS}
PROMPTS = {name: getattr(utils, f"{name}_prompt") for name in COLUMNS}
RESULTS = {name: getattr(utils, f"{name}_results") for name in METRICS}

WEATHER = cases(__file__, "weather")
PLAY = cases(__file__, "play")
MORE_BFCL = cases(__file__, "more_bfcl")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A file of each benchmark; BFCL's has every shape of a row."""
    bfcl = tmp_path_factory.mktemp("data") / "bfcl.jsonl"
    rows = [*(ITEMS / "bfcl.jsonl").read_text("utf-8").splitlines(), *map(json.dumps, MORE_BFCL)]
    bfcl.write_text("\n".join(rows), encoding="utf-8")
    others = {name: str(ITEMS / f"{name}.jsonl") for name in ("gsm8k", "mmlu", "humaneval")}
    return {**others, "bfcl": str(bfcl)}


def documents(benchmark: str, **metadata: Any) -> list[dict[str, Any]]:
    return list(LOADERS[benchmark](**metadata)["test"])


def pairs(benchmark: str, data: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], Question]]:
    questions = load_questions(benchmark, data[benchmark])
    yield from zip(documents(benchmark, data=data[benchmark]), questions, strict=True)


def asked_in(docs: list[dict[str, Any]], benchmark: str) -> list[Asked]:
    prompts = [[Turn("user", PROMPTS[benchmark](doc))] for doc in docs]
    names = [function_names(tools_of(doc)) for doc in docs]
    return questions([without_tools(doc) for doc in docs], prompts, functions=names, shots=0)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_document_is_its_question(benchmark: str, data: dict[str, str]) -> None:
    docs = [doc for doc, _ in pairs(benchmark, data)]
    for (doc, question), asked in zip(
        pairs(benchmark, data), asked_in(docs, benchmark), strict=True
    ):
        assert list(doc) == COLUMNS[benchmark]
        # What the loader of candidates finds in it, on which fingerprints stand.
        assert bare_id(doc) == question.id
        assert asked.known
        turns = [Turn(message["role"], message["content"]) for message in question.messages]
        assert asked.text == (conversation(turns) or question.text.strip())
        assert asked.choices == question.choices
        assert list(tools_of(doc)) == list(question.tools)
        # What a prompt is made of, so nothing was lost on the way through the data set.
        prompt = PROMPTS[benchmark](doc)
        assert prompt == BENCHMARKS[benchmark].prompt(question, True)
        assert question.id not in prompt or benchmark == "humaneval"


def test_targets(data: dict[str, str]) -> None:
    for doc, question in pairs("mmlu", data):
        assert utils.mmlu_letter(doc) == question.target == "ABCD"[doc["answer"]]
    columns = {"gsm8k": "answer", "humaneval": "canonical_solution", "bfcl": "ground_truth"}
    for benchmark, column in columns.items():
        for doc, question in pairs(benchmark, data):
            assert doc[column] == question.target


def test_nested_columns_are_texts(data: dict[str, str]) -> None:
    # `datasets` would give every function the parameters of all others, as nulls.
    *_, parallel, live, irrelevance = documents("bfcl", data=data["bfcl"])
    assert json.loads(parallel["function"]) == [WEATHER, PLAY]
    assert json.loads(live["question"]) == MORE_BFCL[1]["question"]
    assert json.loads(parallel["ground_truth"]) == MORE_BFCL[0]["ground_truth"]
    assert irrelevance["ground_truth"] == "[]"
    assert "Ålesund" in parallel["question"]
    assert [doc["category"] for doc in (parallel, live, irrelevance)] == [
        "parallel",
        "live_simple",
        "irrelevance",
    ]


def test_data_of_one_benchmark_or_of_all(data: dict[str, str]) -> None:
    both = {"gsm8k": data["gsm8k"], "mmlu": data["mmlu"]}
    assert documents("gsm8k", data=both) == documents("gsm8k", data=data["gsm8k"])
    assert documents("mmlu", data=both) == documents("mmlu", data=data["mmlu"])


@pytest.mark.parametrize("given", [["geography"], "geography", ("geography",), " geography "])
def test_some_subjects(given: Any, data: dict[str, str]) -> None:
    chosen = documents("mmlu", data=data["mmlu"], subjects=given)
    every = documents("mmlu", data=data["mmlu"])
    assert chosen == [doc for doc in every if doc["subject"] == "geography"]
    assert 0 < len(chosen) < len(every)


def test_some_categories(data: dict[str, str]) -> None:
    chosen = documents("bfcl", data=data["bfcl"], categories="parallel,irrelevance")
    assert [doc["id"] for doc in chosen] == ["parallel_0", "irrelevance_0"]


def test_what_the_harness_and_other_benchmarks_are_told_is_ignored(data: dict[str, str]) -> None:
    # The group hands everything to every task, the arguments of the model among it.
    more = {"pretrained": "org/m", "version": 1.0, "config_source": "x.yaml", "dtype": "float32"}
    doc = documents("gsm8k", data=data, subjects=["virology"], categories=["simple"], **more)
    assert doc == documents("gsm8k", data=data["gsm8k"])


def model_arguments() -> set[str]:
    """Names of all parameters of lm-eval's models: what `--model_args` may bring."""
    spec = find_spec("lm_eval")
    assert spec is not None
    folder = next(iter(spec.submodule_search_locations or ()))
    trees = [ast.parse(file.read_bytes()) for file in Path(folder, "models").glob("*.py")]
    return {
        argument.arg
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
        for argument in (*node.args.args, *node.args.kwonlyargs)
    }


@pytest.mark.slow
def test_no_argument_of_a_model_is_taken_for_a_slip(data: dict[str, str]) -> None:
    names = model_arguments()
    assert {"pretrained", "base_url", "data_parallel_size", "dtype"} <= names
    assert documents("gsm8k", data=data["gsm8k"], **dict.fromkeys(names, 1))


@pytest.mark.parametrize(
    ("metadata", "message"),
    cases(__file__, "wrong_metadata"),
)
def test_wrong_metadata(metadata: dict[str, Any], message: str, data: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=message):
        utils.load_mmlu(**{"data": data["mmlu"], **metadata})


def one(benchmark: str, data: Mapping[str, str], number: int = 0) -> dict[str, Any]:
    return documents(benchmark, data=data[benchmark])[number]


@pytest.mark.parametrize("benchmark", RESULTS)
@pytest.mark.parametrize(
    ("results", "why"),
    cases(__file__, "no_text"),
)
def test_no_text_is_no_score_and_no_zero(
    benchmark: str,
    results: list[Any],
    why: str,
    data: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    doc, metric = one(benchmark, data), METRICS[benchmark]
    assert math.isnan(RESULTS[benchmark](doc, results)[metric])
    assert f"{benchmark} {doc['id']} is not scored" in caplog.text
    assert why in caplog.text


def test_a_metric_that_fails_loses_one_score_only(
    data: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(answer: str, question: Question) -> Any:
        raise RecursionError("too deep")

    gsm8k: Benchmark = BENCHMARKS["gsm8k"]
    monkeypatch.setitem(BENCHMARKS, "gsm8k", gsm8k._replace(score=broken))
    assert math.isnan(utils.gsm8k_results(one("gsm8k", data), ["#### 7"])["final_number"])
    assert "too deep" in caplog.text


def test_a_program_is_neither_run_nor_scored(data: dict[str, str], tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    program = f"open({str(trace)!r}, 'w')\ndef add(a, b):\n    return a + b"
    assert utils.humaneval_results(one("humaneval", data), [program]) == {}
    assert not trace.exists()
