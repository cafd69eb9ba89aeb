"""A score that lm-eval could not give, beside its samples: what lm-eval and our readers find."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lm_eval.api.metrics import mean_stderr
from lm_eval.utils import get_latest_filename, get_results_filenames, sanitize_model_name

from tests.candidates.builders import write_lm_eval_run
from tests.tables.builders import cells
from tiebreak.candidates import CandidatePool, load_candidates
from tiebreak.candidates.lm_eval_runs import model_in
from tiebreak.publish.write_back.lm_eval_results import write_lm_eval_results
from tiebreak.publish.write_back.run import Outcome
from tiebreak.tables import TableError, read_scores

NAN = math.nan
MODELS = ("org/m:1", "org/m:2")
TASK = "tiebreak_humaneval"
SCORES: dict[str, Sequence[float]] = {"org/m:1": (1, 1, 0), "org/m:2": (0, 1, 0)}


def write_run(out: Path, model: str, **more: Any) -> Path:
    rows = [{"id": f"q{k}", "question": f"{k}?", "answer": f"{model} {k}"} for k in range(3)]
    samples = write_lm_eval_run(out, model, rows, task=TASK, **more)
    summary = samples.with_name(samples.name.replace(f"samples_{TASK}_", "results_"))
    run = json.loads(summary.with_suffix(".json").read_text())
    # As lm-eval writes a task without a metric.
    run |= {"results": {TASK: {"alias": TASK, "sample_len": 0}}, "date": 1.7e9}
    run["n-samples"] = {TASK: {"original": 164, "effective": 0}}
    summary.with_suffix(".json").write_text(json.dumps(run))
    return samples


@pytest.fixture
def out(tmp_path: Path) -> Path:
    for model in MODELS:
        write_run(tmp_path / "out", model)
    return tmp_path / "out"


def scored(
    pool: CandidatePool, scores: Mapping[str, Sequence[float]] = SCORES, metric: str = "tests"
) -> CandidatePool:
    """The pool with native scores by model, in the order of items."""
    return CandidatePool(
        pool.items,
        {
            item.key: {
                name: replace(
                    one,
                    native_score=scores[name][k],
                    native_metric=None if math.isnan(scores[name][k]) else metric,
                )
                for name, one in row.items()
            }
            for k, (item, row) in enumerate(pool)
        },
    )


def write(out: Path, scores: Mapping[str, Sequence[float]] = SCORES) -> list[Outcome]:
    return write_lm_eval_results(scored(load_candidates(out), scores), "tests")


def files(folder: Path) -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_summary_as_lm_eval_would_have_written_it(out: Path) -> None:
    from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker

    before, pool = files(out), load_candidates(out)
    with pytest.raises(TableError, match="humaneval is left out for 'org/m:1', 'org/m:2': "):
        read_scores(out)
    done = write(out)
    assert [(one.model, one.state, one.n_scored, one.n_items) for one in done] == [
        (model, "written", 3, 3) for model in MODELS
    ]
    assert before.items() <= files(out).items()
    assert len(files(out)) == len(before) + 2
    for one in done:
        summary = json.loads(Path(one.path).read_text())
        values = list(map(float, SCORES[one.model]))
        assert summary["results"][TASK] == {
            "name": TASK,
            "alias": TASK,
            "sample_len": 3,
            "tests,none": pytest.approx(sum(values) / 3),
            "tests_stderr,none": pytest.approx(mean_stderr(values)),
        }
        assert summary["higher_is_better"] == {TASK: {"tests": True}}
        assert summary["n-samples"] == {TASK: {"original": 164, "effective": 3}}
        # The model is called the same by all who read the file, and keys stay where they were.
        arguments = summary["config"]["model_args"]
        assert GeneralConfigTracker._get_model_name(arguments) == one.model
        assert summary["model_name_sanitized"] == sanitize_model_name(one.model)
        assert model_in(Path(one.path)) == one.model
        assert "sk-hidden" not in Path(one.path).read_text()
        # It is the newest for lm-eval, too.
        assert summary["date"] > 1.7e9
        names = get_results_filenames([path.as_posix() for path in Path(one.path).parent.iterdir()])
        assert get_latest_filename(names) == one.path
    table = read_scores(out)
    assert cells(table) == {
        (model, "humaneval"): pytest.approx(np.mean(SCORES[model])) for model in MODELS
    }
    assert table.errors == pytest.approx(np.array([[mean_stderr(SCORES[m])] for m in MODELS]))
    assert table.notes == ()
    again = load_candidates(out)
    assert (again.items, again.notes, again.models) == (pool.items, pool.notes, pool.models)


def test_the_same_again_changes_nothing_and_other_scores_replace(out: Path) -> None:
    write(out)
    before = files(out)
    assert {one.state for one in write(out)} == {"unchanged"}
    assert files(out) == before
    done = write(out, SCORES | {"org/m:2": (0, 0, 0)})
    assert [one.state for one in done] == ["unchanged", "written"]
    after = files(out)
    [changed] = [path for path in after if after[path] != before[path]]
    assert before.keys() == after.keys()
    assert changed == done[1].path
    assert json.loads(after[changed])["date"] > json.loads(before[changed])["date"]
    assert cells(read_scores(out))["org/m:2", "humaneval"] == 0


def test_answers_that_could_not_be_run_are_counted(out: Path) -> None:
    few, none = (1, NAN, NAN), (NAN, NAN, NAN)
    done = write(out, {"org/m:1": few, "org/m:2": none})
    assert [(one.model, one.n_scored, one.n_items) for one in done] == [("org/m:1", 1, 3)]
    table = read_scores(out)
    assert cells(table) == {("org/m:1", "humaneval"): 1.0}
    assert table.errors is not None
    assert np.isnan(table.errors).all()  # of one answer
    assert [note[:38] for note in table.notes] == [
        "humaneval is left out for 'org/m:2': i",
        "'org/m:1': tiebreak_humaneval: 1 of 3 ",
    ]
    # More answers replace fewer, and fewer do not replace more.
    assert [one.state for one in write(out)] == ["written", "written"]
    before = files(out)
    [one] = write(out, {"org/m:1": few, "org/m:2": none})
    assert one.state == "left_alone"
    assert one.why.endswith("covers more answers (3) and stays")
    assert files(out) == before


def test_models_whose_runs_share_a_folder(tmp_path: Path) -> None:
    """As with an --output_path that names a file."""
    for number, model in enumerate(MODELS):
        samples = write_run(tmp_path / "each", model, date=f"2026-01-01T00-00-0{number}.000000")
        for path in samples.parent.iterdir():
            name = path.name.replace("results_", "own_")
            path.rename((tmp_path / name).with_name(name))
        samples.parent.rmdir()
    done = write(tmp_path)
    assert len({one.path for one in done}) == 2
    assert cells(read_scores(tmp_path)) == {
        (model, "humaneval"): pytest.approx(np.mean(SCORES[model])) for model in MODELS
    }


def test_of_several_runs_of_a_model_the_one_in_the_pool(out: Path) -> None:
    older = write_run(out, "org/m:1", date="2025-01-01T00-00-00.000000")
    others = [path for path in out.glob("*/samples_*") if path.parent != older.parent]
    done = write_lm_eval_results(scored(load_candidates([older, *others])), "tests")
    assert json.loads(Path(done[0].path).read_text())["tiebreak"]["samples"] == older.name
    [newer] = older.parent.glob("results_2026-01-01*")
    newer.write_text(json.dumps(json.loads(newer.read_text()) | {"date": 9e9}))
    table = read_scores(out)
    assert cells(table)["org/m:1", "humaneval"] == pytest.approx(2 / 3)
    [note] = table.notes
    assert note.startswith("humaneval: an earlier run counts for 'org/m:1': in the newest its answ")


def test_what_cannot_be_written(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = scored(load_candidates(out))

    def refuse(path: Path, *_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied", path)

    before = files(out)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", refuse)
        done = write_lm_eval_results(pool, "tests")
    assert {one.state for one in done} == {"left_alone"}
    assert done[0].why == f"{out}/org__m__1 cannot be written to (Permission denied)"
    assert files(out) == before
    other = scored(pool, SCORES | {"org/m:1": (1, NAN, NAN)})
    rows = {k: dict(row) for k, row in other.candidates.items()}
    last = rows[pool.items[-1].key]
    last["org/m:1"] = replace(last["org/m:1"], native_score=1.0, native_metric="pass@1")
    one, two = write_lm_eval_results(CandidatePool(pool.items, rows), "tests")
    assert (one.state, two.state) == ("left_alone", "written")
    assert one.why == "some of its answers have another native score (pass@1)"
    out.rename(tmp_path / "away")
    reasons = {one.why for one in write_lm_eval_results(pool, "tests")}
    assert reasons == {"the samples that its answers come from are not where they were"}
    assert write_lm_eval_results(pool, "pass@1") == []


def test_files_of_others_are_passed_over(out: Path) -> None:
    for folder in out.iterdir():
        for number, text in enumerate(("{", "[]", '{"tiebreak": 1}', '{"date": "x"}')):
            (folder / f"results_{number}.json").write_text(text)
    before = files(out)
    assert {one.state for one in write(out)} == {"written"}
    assert before.items() <= files(out).items()


@pytest.mark.parametrize(
    "summary",
    [b"[" * 100_000, b'{"date": 1e308}', b'{"date": NaN}', b'{"date": 1' + b"0" * 400 + b"}"],
)
def test_whatever_stands_in_the_summary_of_the_run(out: Path, summary: bytes) -> None:
    pool = scored(load_candidates(out))
    for path in out.rglob("results_*.json"):
        path.write_bytes(summary)
    (out / "org__m__1" / "results_pipe.json").unlink(missing_ok=True)
    os.mkfifo(out / "org__m__1" / "results_pipe.json")
    assert [one.state for one in write_lm_eval_results(pool, "tests")] == ["written"] * 2
