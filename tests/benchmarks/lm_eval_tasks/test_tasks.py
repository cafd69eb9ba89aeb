"""The group in a real lm-eval run, and one pool of it and of the same answers from Inspect."""

import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner, Result
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

from tests.benchmarks.answers import CASES, Case, write_cases
from tests.harness import run
from tiebreak.benchmarks import BENCHMARKS, load_questions
from tiebreak.benchmarks.lm_eval_tasks import utils
from tiebreak.candidates import CandidatePool, load_candidates
from tiebreak.cli.score_code import score_code
from tiebreak.cli.verbs import main
from tiebreak.inspect_tasks import generate
from tiebreak.tables import read_scores

pytestmark = pytest.mark.slow

MODEL = "org/m:1"


def tiebreak(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return done.output.strip()


class Runs(NamedTuple):
    """Outputs of both harnesses, and what is to be found in them."""

    lm_eval: Path
    inspect: Path
    cache: Path
    printed: str
    cases: dict[tuple[str, str], Case]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("both")
    data = {benchmark: write_cases(folder, benchmark) for benchmark in BENCHMARKS}
    questions = {
        (benchmark, question.id): (question, case)
        for benchmark, path in data.items()
        for question, case in zip(load_questions(benchmark, path), CASES[benchmark], strict=True)
    }
    answers = {question.text.strip(): case.answer for question, case in questions.values()}
    assert len(answers) == sum(map(len, CASES.values()))
    cache = tiebreak("lm-eval-cache", MODEL, "--root", str(folder / "caches"))
    printed = _run_lm_eval(folder, data, answers, cache)
    _run_inspect(folder / "inspect", data, answers)
    cases = {key: case for key, (_, case) in questions.items()}
    return Runs(folder / "lm_eval", folder / "inspect", Path(cache), printed, cases)


def _run_lm_eval(
    folder: Path, data: Mapping[str, Path], answers: Mapping[str, str], cache: str
) -> str:
    file = folder / "answers.json"
    file.write_text(json.dumps(answers), encoding="utf-8")
    tasks = tiebreak("lm-eval-tasks")
    # The data are named relative to where the command is run.
    names = {benchmark: path.name for benchmark, path in data.items()}
    done = run(
        *("python", "-m", "answering_lm", "run", "--include_path", tasks, "--tasks", "tiebreak"),
        *("--model", "answering", "--model_args", f"answers={file},pretrained={MODEL}"),
        *("--metadata", json.dumps({"data": names}), "--use_cache", cache),
        *("--log_samples", "--output_path", str(folder / "lm_eval")),
        cwd=folder,
        HF_HUB_OFFLINE="1",
    )
    return done.stdout


def _run_inspect(folder: Path, data: Mapping[str, Path], answers: Mapping[str, str]) -> None:
    def answer(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        asked = max((text for text in answers if text in messages[-1].text), key=len)
        output = ModelOutput.from_content("mockllm/model", answers[asked])
        output.usage = ModelUsage()  # else the mock counts tokens, with a vocabulary of the network
        return output

    tasks = [
        generate.gsm8k(str(data["gsm8k"])),
        generate.mmlu(str(data["mmlu"])),
        generate.bfcl(str(data["bfcl"]), calls="text"),
        generate.humaneval(str(data["humaneval"]), sandbox="bubblewrap"),
    ]
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    logs = inspect_eval(tasks, model=model, log_dir=str(folder))
    assert [log.status for log in logs] == ["success"] * len(tasks)


@pytest.fixture(scope="module")
def pool(runs: Runs) -> CandidatePool:
    # Strict: an item that one of the two harnesses asks otherwise is an error.
    return load_candidates([runs.lm_eval, runs.inspect])


def samples(runs: Runs, benchmark: str) -> list[dict[str, Any]]:
    [file] = runs.lm_eval.glob(f"*/samples_tiebreak_{benchmark}_*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_one_pool_of_the_same_questions(runs: Runs, pool: CandidatePool) -> None:
    assert set(pool.models) == {MODEL, "mockllm/model"}
    assert {(item.benchmark, item.item_id) for item in pool.items} == set(runs.cases)
    for item, row in pool:
        case = runs.cases[item.benchmark, item.item_id]
        assert {candidate.text for candidate in row.values()} == {case.answer}


def test_native_scores_agree(runs: Runs, pool: CandidatePool) -> None:
    wrong = {
        (item.item_id, name): candidate.native_score
        for item, row in pool
        for name, candidate in row.items()
        if item.benchmark != "humaneval" or name != MODEL
        if (candidate.native_score, candidate.native_metric)
        != (runs.cases[item.benchmark, item.item_id].right, BENCHMARKS[item.benchmark].metric)
    }
    assert wrong == {}


def test_programs_are_scored_in_a_second_step(
    runs: Runs, pool: CandidatePool, tmp_path: Path
) -> None:
    assert all(row["metrics"] == [] for row in samples(runs, "humaneval"))
    programs = [row[MODEL] for item, row in pool if item.benchmark == "humaneval"]
    assert all(math.isnan(program.native_score) for program in programs)
    assert {program.native_metric for program in programs} == {None}
    out = tmp_path / "pool.parquet"
    boxed = ("--sandbox", "bubblewrap")
    sources = (str(runs.lm_eval), str(runs.inspect))
    done = CliRunner().invoke(score_code, [*sources, "--out", str(out), "--no-results", *boxed])
    assert done.exit_code == 0, done.output
    scored = {item.key: row[MODEL] for item, row in load_candidates(out)}
    for item, row in pool:
        right = runs.cases[item.benchmark, item.item_id].right
        assert scored[item.key].native_score == right
        # From the same metric as in the other harness.
        assert scored[item.key].native_metric == row["mockllm/model"].native_metric


def contest(*paths: Path) -> Result:
    return CliRunner().invoke(main, ["csd", *map(str, paths), "--iterations", "100", "--json"])


def test_programs_stand_in_a_contest_after_the_second_step(runs: Runs, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(runs.lm_eval, out)
    written = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    left_out = f"humaneval is left out for {MODEL!r}: its answers have no score"
    done = contest(out, runs.inspect)
    assert done.exit_code == 1
    assert f"{MODEL!r} has no score on 'humaneval'" in done.output
    assert left_out in done.output
    assert "tiebreak score-code" in done.output
    assert left_out in read_scores(out).notes[0]
    before = load_candidates([out, runs.inspect])

    boxed = ("--sandbox", "bubblewrap")
    pool = tmp_path / "pool.parquet"
    tiebreak("score-code", str(out), str(runs.inspect), "--out", str(pool), *boxed)
    done = contest(out, runs.inspect)
    assert done.exit_code == 0, done.output
    assert left_out not in done.output
    assert "humaneval" in str(json.loads(done.output)["rounds"])
    table = read_scores(out)
    assert table.notes == ()
    assert (table.models, table.benchmarks) == ((MODEL,), tuple(sorted(BENCHMARKS)))
    assert table.errors is not None
    right = [case.right for (benchmark, _), case in runs.cases.items() if benchmark == "humaneval"]
    column = table.benchmarks.index("humaneval")
    assert table.scores[0, column] == pytest.approx(np.mean(right))
    assert table.errors[0, column] == pytest.approx(np.std(right, ddof=1) / len(right) ** 0.5)
    # Nothing of the run is another, and the answers are read as before.
    assert all(path.read_bytes() == text for path, text in written.items())
    after = load_candidates([out, runs.inspect])
    assert (after.items, after.models, after.notes) == (before.items, before.models, before.notes)

    # Logs and the pool of the same answers agree, apart and together.
    apart, together = read_scores(pool), read_scores([out, runs.inspect, pool])
    assert (together.models, together.benchmarks) == (apart.models, apart.benchmarks)
    np.testing.assert_array_equal(together.scores, apart.scores)
    np.testing.assert_array_equal(together.errors, apart.errors)
    np.testing.assert_allclose(read_scores([out, runs.inspect]).scores, apart.scores)
    assert not any(note.startswith("Scores differ") for note in together.notes)
    assert any(note.startswith("A pool counts rather than a log") for note in together.notes)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_how_it_was_asked(benchmark: str, runs: Runs) -> None:
    rows = samples(runs, benchmark)
    assert len(rows) == len(CASES[benchmark])
    for row in rows:
        request = row["arguments"]["gen_args_0"]
        assert request["arg_0"] == getattr(utils, f"{benchmark}_prompt")(row["doc"])
        assert request["arg_1"] == {
            "until": [],  # nothing may cut an answer off
            "max_gen_toks": 2048,
            "temperature": 0.0,
            "do_sample": False,
        }
        assert row["filter"] == "none"


def test_means_and_the_cache(runs: Runs) -> None:
    [file] = runs.lm_eval.glob("*/results_*.json")
    results = json.loads(file.read_text(encoding="utf-8"))
    for benchmark, known in BENCHMARKS.items():
        found = results["results"][f"tiebreak_{benchmark}"]
        scores = {name: value for name, value in found.items() if name.endswith(",none")}
        if benchmark == "humaneval":
            assert scores == {}
            continue
        right = [case.right for case in CASES[benchmark]]
        assert results["higher_is_better"][f"tiebreak_{benchmark}"] == {known.metric: True}
        assert scores[f"{known.metric},none"] == pytest.approx(sum(right) / len(right))
    assert set(results["group_subtasks"]["tiebreak"]) == {f"tiebreak_{name}" for name in BENCHMARKS}
    assert runs.cache.with_name(f"{runs.cache.name}_rank0.db").is_file()
