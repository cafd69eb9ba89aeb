"""Results of finished runs: Inspect logs (really run) and lm-eval's summaries."""

import gzip
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import EvalMetric, EvalScore, HeadlineMetric, read_eval_log, write_eval_log
from inspect_ai.scorer import (
    MetricProtocol,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    includes,
    match,
    mean,
    metric,
    scorer,
    std,
    stderr,
)
from inspect_ai.solver import TaskState

from tests.cases import cases
from tests.ranking_logs.builders import bracket, write_log
from tests.tables.builders import cells, run_inspect, task_values, write, write_summary
from tiebreak.tables import TableError
from tiebreak.tables.reading import NO_SCORE
from tiebreak.tables.results import read_results

NAN = float("nan")


@metric
def longest() -> MetricProtocol:
    def compute(scores: list[SampleScore]) -> float:
        return max(one.score.as_float() for one in scores)

    return compute


def of_length(name: str, *metrics: Any) -> Scorer:
    """A scorer of this name, which says how long an answer is."""

    def made() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=len(state.output.completion))

        return score

    return scorer(metrics=[metric() for metric in metrics], name=name)(made)()


@scorer(metrics=[std(), accuracy()])
def broken() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=NAN)

    return score


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Logs of mock models, by what is special about them."""
    both, spread, words = [match(), includes()], ["1", "333"], "inspect_evals/words"
    # "x1x" holds the answer and does not end with it: match 0, includes 1.
    declared = {"headline_metric": HeadlineMetric(score="includes"), "scorer": both}
    named = {"metadata": {"candidate": "one, hot"}, "scorer": both}
    runs: dict[str, tuple[str, list[str], dict[str, Any]]] = {
        "plain": ("one", ["1", "2", "1", "1"], {}),  # 3 of 4
        "named": ("one", ["1", "2"], named),
        "spread first": (
            "two",
            spread,
            {"task": words, "scorer": of_length("spread_first", stderr, mean)},
        ),
        "declared": ("two", ["x1x", "x1x"], declared),
        "mean second": ("two", spread, {"scorer": of_length("mean_second", longest, mean)}),
        "no mean": ("two", spread, {"scorer": of_length("no_mean", stderr, longest)}),
        "nan": ("three", ["1"], {"scorer": broken()}),
    }
    folder = tmp_path_factory.mktemp("logs")
    return {
        name: run_inspect(folder / name, model, answers, **options)
        for name, (model, answers, options) in runs.items()
    }


@pytest.mark.slow
def test_headline_metrics_of_inspect(logs: Mapping[str, Path]) -> None:
    table = read_results([logs["plain"], logs["named"], logs["spread first"], logs["declared"]])
    assert cells(table) == {
        ("mockllm/one", "gsm8k"): 0.75,
        ("one, hot", "gsm8k"): 0.5,
        ("mockllm/two", "gsm8k"): 1.0,  # includes, as the task declares; match would be 0
        ("mockllm/two", "words"): 2.0,  # the mean of 1 and 3; the log has the standard error first
    }
    assert len(table.sources) == 4
    said = "\n".join(table.notes)
    for words in (
        "gsm8k: the metric is not the same for all models: match.accuracy (such as",
        "gsm8k: the number of items is not the same for all models: 4 (such as",
        "the score is match.accuracy, out of match.accuracy, includes.accuracy",
        "2 of 6 scores are missing",
    ):
        assert words in said


def test_ranks_that_were_written_back_are_no_result(
    logs: Mapping[str, Path], tmp_path: Path
) -> None:
    log = read_eval_log(str(logs["plain"]))
    assert log.results is not None
    borda = EvalMetric(name="borda", value=0.1)
    log.results.scores.insert(
        0, EvalScore(name="tiebreak_seal", scorer="tiebreak_seal", metrics={"borda": borda})
    )
    written = tmp_path / "written.eval"
    write_eval_log(log, str(written))
    assert cells(read_results(written)) == {("mockllm/one", "gsm8k"): 0.75}
    with pytest.raises(TableError, match="borda"):
        read_results(written, metric="borda")


@pytest.mark.parametrize(("log", "score"), [("mean second", 2.0), ("no mean", 3.0)])
def test_usual_metrics_first_and_spread_never(
    logs: Mapping[str, Path], log: str, score: float
) -> None:
    assert cells(read_results(logs[log])) == {("mockllm/two", "gsm8k"): score}


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ("accuracy", 0.0),
        ("includes.accuracy", 1.0),
        ("includes", 1.0),  # as `candidates` calls it
        (["nonsense", "match.accuracy"], 0.0),
    ],
)
def test_a_chosen_metric(logs: Mapping[str, Path], metric: Any, score: float) -> None:
    table = read_results(logs["declared"], metric=metric)
    assert cells(table) == {("mockllm/two", "gsm8k"): score}


def test_several_reducers_of_a_score_are_told_apart(
    logs: Mapping[str, Path], tmp_path: Path
) -> None:
    log = read_eval_log(str(logs["declared"]))
    assert log.results is not None
    for score, reducer in zip(log.results.scores, ("mean", "max"), strict=True):
        score.name, score.reducer = "match", reducer
    log.eval.headline_metric = None
    reduced = tmp_path / "reduced.eval"
    write_eval_log(log, str(reduced))
    for named in (None, "accuracy", "match", "match.accuracy"):
        assert cells(read_results(reduced, metric=named)) == {("mockllm/two", "gsm8k"): 0.0}
    most = read_results(reduced, metric="match[max]")
    assert cells(most) == {("mockllm/two", "gsm8k"): 1.0}
    said = "the score is match[max].accuracy, out of match.accuracy, match[max].accuracy"
    assert said in "\n".join(most.notes)


def test_what_is_no_result_is_left_out(logs: Mapping[str, Path], tmp_path: Path) -> None:
    shutil.copy(logs["plain"], tmp_path / "good.eval")
    write_log(tmp_path / "ranking.eval", [bracket("q1", "a", "b", "c")])
    failed = read_eval_log(str(logs["named"]))
    failed.status = "error"
    write_eval_log(failed, str(tmp_path / "failed.eval"))
    shutil.copy(logs["nan"], tmp_path / "nan.eval")
    write(tmp_path / "cut.eval", "no zip file")
    for name in ("results_2026-01-01T00-00-00.json", ".hidden/results_2026.json", "other.json"):
        write(tmp_path / name, '{"results": ')
    table = read_results(tmp_path)
    assert cells(table) == {("mockllm/one", "gsm8k"): 0.75}
    said = {
        "ranking.eval": "ranking log",
        "failed.eval": "status is 'error'",
        "nan.eval": "broken.accuracy is nan",
        "cut.eval": "Left out:",
        "/results_2026": "cannot be read as JSON",
        "other.json": "holds no results of a run; left out",
    }
    assert len(table.notes) == len(said)
    for file, words in said.items():
        assert any(file in note and words in note for note in table.notes), (file, table.notes)
    assert table.public_notes == ()  # each of these names a file
    with pytest.raises(TableError, match=r"no result of a finished run.*\n  - .*nan\.eval"):
        read_results([tmp_path / "nan.eval", tmp_path / "ranking.eval"])


def test_samples_without_an_end_are_noted(logs: Mapping[str, Path], tmp_path: Path) -> None:
    log = read_eval_log(str(logs["plain"]))
    assert log.results
    log.results.completed_samples = 3
    write_eval_log(log, str(tmp_path / "a.json"))
    [note] = read_results(tmp_path / "a.json").notes
    assert "3 of 4 samples came to an end" in note


def test_the_newest_run_counts(logs: Mapping[str, Path], tmp_path: Path) -> None:
    log = read_eval_log(str(logs["plain"]))
    log.eval.created = "2020-01-01T00:00:00+00:00"
    assert log.results
    log.results.scores[0].metrics["accuracy"].value = 0.1
    write_eval_log(log, str(tmp_path / "z_old.eval"))
    new = tmp_path / "a_new.eval"
    shutil.copy(logs["plain"], new)
    older = task_values(4, exact_match=0.2)  # 2017, by lm-eval
    write_summary(tmp_path / "b" / "results_x.json", "mockllm/one", {"gsm8k": older}, date=1.5e9)
    table = read_results(tmp_path)
    assert cells(table) == {("mockllm/one", "gsm8k"): 0.75}
    assert table.sources == (new.as_posix(),)
    [note] = table.notes
    assert note.startswith(
        f"Of several runs the newest counts: 'mockllm/one' on gsm8k: {new.as_posix()}, not "
    )
    assert "results_x.json" in note
    assert "z_old.eval" in note


def one(folder: Path, values: Mapping[str, Any], task: str = "gsm8k", **more: Any) -> Path:
    return write_summary(folder / "m" / "results_x.json", "org/m", {task: values}, **more)


TWO_FILTERS = task_values(8, exact_match__strict=0.25, exact_match__flexible=0.5, f1__flexible=0.75)


@pytest.mark.parametrize(("options", "score"), cases(__file__, "metric and filter"))
def test_metric_and_filter_of_lm_eval(
    tmp_path: Path, options: dict[str, Any], score: float
) -> None:
    table = read_results(one(tmp_path, TWO_FILTERS), **options)
    assert cells(table) == {("org/m", "gsm8k"): score}
    [note] = table.notes
    assert "out of exact_match,strict, exact_match,flexible, f1,flexible" in note
    assert table.public_notes == (note,)


@pytest.mark.parametrize("options", [{"metric": "acc"}, {"filter": "none"}])
def test_a_metric_that_is_not_there(tmp_path: Path, options: dict[str, Any]) -> None:
    path = one(tmp_path, TWO_FILTERS)
    with pytest.raises(TableError, match="choose out of exact_match,strict, exact_match,flexible"):
        read_results(path, **options)
    write_summary(tmp_path / "n" / "results_y.json", "org/n", {"gsm8k": task_values(acc=0.5)})
    table = read_results(tmp_path, **options)
    assert cells(table) == {("org/n", "gsm8k"): 0.5}
    assert "gsm8k has only exact_match,strict" in "\n".join(table.notes)


def test_better_when_lower_gets_a_minus(tmp_path: Path) -> None:
    values = task_values(odd=12.5)
    table = read_results(one(tmp_path, values, directions={"gsm8k": {"odd": False}}))
    assert cells(table) == {("org/m", "gsm8k"): -12.5}
    assert "a lower odd is better" in table.notes[0]
    assert table.notes[0] in table.public_notes
    with pytest.raises(TableError, match="does not say whether a higher odd is better"):
        read_results(one(tmp_path, values, directions={"gsm8k": {"odd": None}}))
    older = read_results(one(tmp_path, values, higher_is_better={}))
    assert cells(older) == {("org/m", "gsm8k"): 12.5}
    assert "higher odd is better; taken so" in older.notes[0]


GROUPS = cases(__file__, "groups")


@pytest.mark.parametrize(("scores", "groups", "note", "shown"), GROUPS.values(), ids=GROUPS)
def test_a_group_stands_for_its_tasks(
    tmp_path: Path,
    scores: dict[str, float | None],
    groups: dict[str, list[str]],
    note: str,
    shown: set[str],
) -> None:
    results: dict[str, dict[str, Any]] = {
        name: {"alias": name} if score is None else task_values(acc=score)
        for name, score in scores.items()
    }
    table = read_results(write_summary(tmp_path / "results.json", "org/m", results, groups=groups))
    assert cells(table) == {("org/m", name): scores[name] for name in shown}
    assert not note or note in table.notes


@pytest.mark.parametrize("tasks", [3, True, 1.5, "a", {"a": 1}, [["a"]], [{}], [None], None])
def test_a_group_of_something_else_stands_alone(tmp_path: Path, tasks: Any) -> None:
    results = {"g": task_values(5, acc=0.5), "a": task_values(5, acc=0.25)}
    write_summary(tmp_path / "results_x.json", "m", results, groups={"g": tasks})
    assert read_results(tmp_path).benchmarks == ("a", "g")


def test_half_of_a_character_in_a_name_is_replaced(tmp_path: Path) -> None:
    results = {"a\ud800": task_values(5, acc=0.5)}
    write_summary(tmp_path / "results_x.json", "m\ud800", results)
    table = read_results(tmp_path)
    assert (table.models, table.benchmarks) == (("m\ufffd",), ("a\ufffd",))


@pytest.mark.slow
def test_a_chain_of_groups_is_the_first_one(tmp_path: Path) -> None:
    n = 20_000
    results = {f"t{k}": task_values(acc=k / n) for k in range(n)}
    groups = {f"t{k}": [f"t{k + 1}"] for k in reversed(range(n - 1))}
    start = time.process_time()
    table = read_results(write_summary(tmp_path / "results_x.json", "m", results, groups=groups))
    assert cells(table) == {("m", "t0"): 0.0}
    assert table.notes == (f"t0 stands for its {n - 1} tasks",)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("n", [1, 12])
def test_what_has_no_score_is_named_once_for_all_models(tmp_path: Path, n: int) -> None:
    results: dict[str, dict[str, Any]] = {
        "gsm8k": task_values(acc=0.5),
        "code": {"alias": "shown", "sample_len": 0},
        "plans": task_values(bypass=999),
        "both": {"alias": "both"},  # a group leaves values to its tasks
    }
    for k in range(n):
        path = tmp_path / str(k) / "results_x.json"
        write_summary(path, f"m{k}", results, groups={"both": ["gsm8k", "code"], "code": []})
    more = " and 2 more" if n > 10 else ""
    names = ", ".join(f"'m{k}'" for k in sorted(range(n), key=str)[:10])
    assert read_results(tmp_path).notes == (
        f"code is left out for {names}{more}: {NO_SCORE}",
        f"plans is left out for {names}{more}: {NO_SCORE}",
    )


def test_what_another_file_gives_a_score_is_not_left_out(tmp_path: Path) -> None:
    results: dict[str, dict[str, Any]] = {"code": {"alias": "code"}, "gsm8k": task_values(acc=0.5)}
    for model in "ab":
        write_summary(tmp_path / model / "results_x.json", model, results)
    write_summary(tmp_path / "a" / "results_y.json", "a", {"code": task_values(unit_tests=0.25)})
    table = read_results(tmp_path)
    assert cells(table) == {("a", "gsm8k"): 0.5, ("b", "gsm8k"): 0.5, ("a", "code"): 0.25}
    assert table.notes[0] == f"code is left out for 'b': {NO_SCORE}"
    assert read_results(tmp_path, rename={"code": "humaneval"}).notes[0].startswith("humaneval is")


def test_a_log_without_scores_is_named(logs: Mapping[str, Path], tmp_path: Path) -> None:
    log = read_eval_log(str(logs["plain"]))
    log.results = None
    write_eval_log(log, str(tmp_path / "unscored.eval"))
    with pytest.raises(TableError, match="gsm8k is left out for 'mockllm/one': its log has no met"):
        read_results(tmp_path)
    assert read_results([tmp_path, logs["plain"]]).notes == ()


def test_files_that_are_no_results_are_named(tmp_path: Path) -> None:
    """Those that could hold scores; nobody looks for scores in a text or a picture."""
    out = tmp_path / "out"
    date = "2026-01-01T00-00-00.000000"
    write_summary(out / f"results_{date}.json", "m", {"gsm8k": task_values(acc=0.5)})
    for name in (f"samples_gsm8k_{date}.jsonl", "notes.txt", ".hidden.csv"):
        write(out / name, "")
    assert read_results(out).notes == ()
    alone = write(out / "samples_law_2026-01-02T00-00-00.000000.jsonl", "")
    data = [write(out / name, "") for name in ("a.jsonl", "eval-set.json", "scores.csv")]
    (tmp_path / "empty").mkdir()
    names = ", ".join(map(str, data))
    assert read_results([out, tmp_path / "empty"]).notes == (
        f"{names}: holds no results of a run; left out",
        f"{alone}: samples without the results_*.json of their run; left out",
        f"{tmp_path / 'empty'}: no results of a run in this folder",
    )


def test_packed_logs_have_the_results_of_the_logs(logs: Mapping[str, Path], tmp_path: Path) -> None:
    packed = tmp_path / f"{logs['plain'].name}.gz"
    packed.write_bytes(gzip.compress(logs["plain"].read_bytes()))
    # A file that is reached twice counts once.
    plain = read_results([logs["plain"], logs["plain"].parent])
    assert plain.notes == ()
    for given in (packed, tmp_path):
        table = read_results(given)
        assert cells(table) == cells(plain)
        assert table.sources == (packed.as_posix(),)


@pytest.mark.parametrize("value", ["N/A", None, NAN, True, [0.5], 10**400])
def test_values_that_are_no_numbers(tmp_path: Path, value: Any) -> None:
    results = {"gsm8k": task_values(acc=value), "math": task_values(acc=0.5)}
    more = {"date": value, "n_items": value} if value == 10**400 else {}
    table = read_results(write_summary(tmp_path / "results_x.json", "org/m", results, **more))
    assert cells(table) == {("org/m", "math"): 0.5}
    assert f"gsm8k: acc is {value!r}"[:40] in table.notes[0]
    assert "not a finite number; left out" in table.notes[0]


def test_names_of_models_and_benchmarks(tmp_path: Path) -> None:
    values = {"tiebreak_gsm8k": task_values(acc=0.5)}
    write_summary(tmp_path / "org__m" / "results_x.json", None, values)
    write_summary(tmp_path / "b" / "results_x.json", "q10", {"gsm8k_cot": task_values(acc=0.25)})
    write_summary(tmp_path / "c" / "own_2026-01-01T00-00-00.json", "q2", values)
    table = read_results(tmp_path, rename={"gsm8k_cot": "gsm8k"})
    assert table.models == ("org__m", "q2", "q10")
    assert table.benchmarks == ("gsm8k",)
    assert "names no model; it is called after its folder, 'org__m'" in "\n".join(table.notes)
    with pytest.raises(TableError, match="no benchmark 'gsm'; there are: gsm8k, gsm8k_cot"):
        read_results(tmp_path, rename={"gsm": "gsm8k"})


def test_secrets_stay_in_the_file(tmp_path: Path) -> None:
    path = one(tmp_path, TWO_FILTERS)
    assert "sk-hidden" in path.read_text()
    assert "sk-hidden" not in repr(read_results(path))


@pytest.mark.slow
def test_standard_errors_of_inspect(logs: Mapping[str, Path]) -> None:
    # 3 of 4 right: the sample's deviation is .5, over √4.
    assert read_results(logs["plain"]).errors == pytest.approx(np.array([[0.25]]))
    # The standard error of a mean says nothing of another metric.
    other = read_results(logs["no mean"])
    assert other.errors is not None
    assert np.isnan(other.errors).all()


def test_standard_errors_of_lm_eval(tmp_path: Path) -> None:
    values = TWO_FILTERS | {"exact_match_stderr,flexible": 0.05, "f1_stderr,flexible": "N/A"}
    path = one(tmp_path, values)
    cases: list[tuple[dict[str, Any], float]]
    cases = [({}, 0.01), ({"filter": "flexible"}, 0.05), ({"metric": "f1"}, NAN)]
    for options, error in cases:
        found = read_results(path, **options).errors
        assert found == pytest.approx(np.array([[error]]), nan_ok=True)
    # All right is not known for sure: as with one wrong of ten.
    sure = one(tmp_path, task_values(8, acc=1.0) | {"acc_stderr,none": 0.0})
    expected = (0.1 * 0.9 / 8) ** 0.5
    assert read_results(sure).errors == pytest.approx(np.array([[expected]]))
