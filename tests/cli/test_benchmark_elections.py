"""`tiebreak aggregate` over folders that both harnesses really wrote, against every order.

Five models answer four benchmarks of eight questions, in Inspect with its mock model and in lm-eval
with one that answers from a file. How many answers are right is planted, and all that is expected
is counted from these numbers alone.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.harness import run_lm_eval
from tests.rankers.kemeny.plain import by_sets
from tests.ranking_logs.builders import bracket, write_log
from tests.tables.builders import run_inspect, write
from tiebreak.cli.verbs import main

pytestmark = pytest.mark.slow

N = 8
# Right answers; a and b are equal on arc, two runs are missing, and majorities go round.
RIGHT: Mapping[str, Mapping[str, int]] = {
    "arc": {"a": 6, "b": 6, "c": 3, "d": 5, "e": 2},
    "gsm": {"a": 4, "b": 7, "c": 6, "d": 5},
    "law": {"a": 2, "b": 3, "c": 6, "e": 5},
    "qa": {"a": 7, "b": 3, "c": 4, "d": 6, "e": 5},
}
MODELS = "abcde"

YAML = """\
task: {name}
custom_dataset: !function data.{name}
test_split: test
output_type: generate_until
num_fewshot: 0
doc_to_text: "{{{{question}}}}"
doc_to_target: "1"
generation_kwargs: {{until: [], max_gen_toks: 16, temperature: 0.0, do_sample: false}}
filter_list: [{{name: whole, filter: [{{function: take_first}}]}}]
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
metadata: {{version: 1.0}}
"""
LOADER = """

def {name}(**_):
    rows = [{{"question": f"{name} {{i}}"}} for i in range({n})]
    return {{"test": datasets.Dataset.from_list(rows)}}
"""


def answers(right: int) -> list[str]:
    return ["1"] * right + ["0"] * (N - right)


@pytest.fixture(scope="module")
def inspect_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inspect")
    for task, right in RIGHT.items():
        for model, k in right.items():
            run_inspect(folder / model, model, answers(k), task=task)
    return folder


@pytest.fixture(scope="module")
def lm_eval_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lm_eval")
    loaders = (LOADER.format(name=name, n=N) for name in RIGHT)
    write(folder / "tasks" / "data.py", "import datasets\n" + "".join(loaders))
    for name in RIGHT:
        write(folder / "tasks" / f"{name}.yaml", YAML.format(name=name))
    runs = []
    for model in MODELS:
        tasks = [task for task, right in RIGHT.items() if model in right]
        said = {
            f"{task} {i}": answer
            for task in tasks
            for i, answer in enumerate(answers(RIGHT[task][model]))
        }
        file = write(folder / f"{model}.json", json.dumps(said))
        given = ("--tasks", ",".join(tasks), "--include_path", str(folder / "tasks"))
        args = ("--model_args", f"answers={file},pretrained=org/{model}")
        runs.append((*given, *args, "--output_path", str(folder / "out")))
    run_lm_eval(*runs, cwd=folder, model="answering")
    return folder / "out"


@pytest.fixture(params=["inspect", "lm_eval"])
def logs(request: pytest.FixtureRequest) -> Path:
    name = {"inspect": "inspect_logs", "lm_eval": "lm_eval_results"}[request.param]
    folder: Path = request.getfixturevalue(name)
    return folder


def aggregate(*arguments: str | Path) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["aggregate", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return list(json.loads(done.output)["elections"])


def contradicted(order: Sequence[str]) -> int:
    """How many benchmarks put a model strictly before one that the order prefers, pair by pair."""
    return sum(
        own[below] > own[above]
        for own in RIGHT.values()
        for above, below in combinations(order, 2)
        if above in own and below in own
    )


def names(paths: Iterable[Any]) -> set[str]:
    return {str(one).rpartition("/")[2] for one in paths}


def test_kemeny_over_benchmarks(logs: Path) -> None:
    [election] = aggregate(logs)
    assert election["name"] == "5 models · 4 benchmarks"
    assert names(election["candidates"]) == set(MODELS)
    assert any("2 of 20 scores are missing" in note for note in election["notes"])
    [result] = election["results"]
    kemeny = result["kemeny"]
    costs = {order: contradicted(order) for order in permutations(MODELS)}
    assert (kemeny["cost"], kemeny["optimal"]) == (min(costs.values()), True)
    named = {tuple(name.rpartition("/")[2] for name in order) for order in kemeny["orders"]}
    assert named == {order for order, cost in costs.items() if cost == kemeny["cost"]}
    assert result["used"] == len(RIGHT)


def test_all_eight_methods(logs: Path) -> None:
    [election] = aggregate(logs, "--method", "all", "--also", "csd")
    assert set(election["failed"]) == {"csd"}  # a score is missing
    used = {one["method"]: (one["used"], one["dropped"]) for one in election["results"]}
    assert len(used) == 8
    assert used.pop("kendall") == (2, 2)
    assert set(used.values()) == {(4, 0)}
    # The mean rank over the ballots that rank the model.
    [average] = [one for one in election["results"] if one["method"] == "average"]
    for row in average["ranking"]:
        model = row["candidate"].rpartition("/")[2]
        ranks = [
            sum((k > right[model]) + (k == right[model]) / 2 for k in right.values()) + 0.5
            for right in RIGHT.values()
            if model in right
        ]
        assert row["score"] == pytest.approx(sum(ranks) / len(ranks))


def test_both_harnesses_make_one_table(inspect_logs: Path, lm_eval_results: Path) -> None:
    [election] = aggregate(inspect_logs, lm_eval_results)
    assert election["name"] == "10 models · 4 benchmarks"
    wins = [
        [
            sum(own.get(one[-1], -1) > own.get(other[-1], N) for own in RIGHT.values())
            for other in election["candidates"]
        ]
        for one in election["candidates"]
    ]
    kemeny = election["results"][0]["kemeny"]
    assert (kemeny["cost"], kemeny["n_optima"]) == by_sets(wins)
    # The same log twice is one log.
    [again] = aggregate(inspect_logs, *sorted(inspect_logs.rglob("*.eval")), lm_eval_results)
    assert again["results"] == election["results"]


def test_beside_ranking_logs(logs: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(logs, tmp_path / "logs")
    [alone] = aggregate(folder)
    items = [bracket(f"q{k}", "x", "y", "z") for k in range(3)]
    write_log(folder / "judged" / "seal.eval", items)
    seal, benchmarks = aggregate(folder)
    assert seal["name"] == "gsm8k · seal"
    assert seal["results"][0]["kemeny"]["order"] == ["x", "y", "z"]
    assert benchmarks["results"] == alone["results"]
    assert benchmarks["notes"] == alone["notes"]
    assert [seal] == aggregate(folder / "judged")
