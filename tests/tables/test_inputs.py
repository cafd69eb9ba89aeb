"""What files and folders hold: ballots, scores of benchmarks, or both, and nothing is dropped."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.ranking_logs.builders import bracket, sample, write_log
from tests.tables.builders import run_inspect, task_values, write, write_summary
from tests.tables.test_pool_scores import pool
from tiebreak.candidates import write_parquet
from tiebreak.tables import TableError, read_ballots

SCORES = "model,maths,law\nx,1,2\ny,2,1\nz,3,\n"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of two models that answered gsm8k, and of one of them mmlu."""
    folder = tmp_path_factory.mktemp("answers")
    run_inspect(folder, "x", ["1", "1"])
    run_inspect(folder, "y", ["1", "0"])
    run_inspect(folder, "y", ["1", "0"], task="mmlu")
    return folder


@pytest.fixture
def mixed(tmp_path: Path, answers: Path) -> Path:
    """The same folder with a ranking log of other models in it."""
    folder = tmp_path / "logs"
    shutil.copytree(answers, folder)
    write_log(folder / "seal.eval", [bracket("q1", "a", "b", "c")])
    return folder


def test_tables_of_ballots_and_of_scores(tmp_path: Path) -> None:
    ballots = write(tmp_path / "votes.csv", "model-a,b\n1,2\n")
    scores = write(tmp_path / "scores.csv", SCORES.replace("model", "Model"))
    votes, benchmarks = read_ballots([scores, ballots], making={"weights": {"law": 2}})
    assert (votes.profile.names, votes.scores) == (("model-a", "b"), None)
    assert benchmarks.scores is not None
    assert benchmarks.scores.benchmarks == ("maths", "law")
    assert benchmarks.reviewers == ("maths", "law", "law")
    np.testing.assert_array_equal(benchmarks.profile.ranks[:2], [[3, 2, 1], [1, 2, np.nan]])


def test_all_results_make_one_table(answers: Path, tmp_path: Path) -> None:
    lm_eval = {"mmlu": task_values(acc=0.75), "arc": task_values(acc=0.5)}
    write_summary(tmp_path / "lm" / "results_z.json", "z", lm_eval)
    [log] = [path for path in answers.iterdir() if "mmlu" in path.name]
    for given in ([answers, tmp_path / "lm"], [*answers.iterdir(), tmp_path / "lm", log]):
        [read] = read_ballots(given, reading={"rename": {"arc": "gsm8k"}})
        assert read.profile.names == ("mockllm/x", "mockllm/y", "z")
        np.testing.assert_array_equal(read.profile.ranks, [[1, 2.5, 2.5], [np.nan, 2, 1]])
    # The logs' errors tie 2 of 2 with 1 of 2.
    [tied] = read_ballots(answers, making={"ties": "se"})
    np.testing.assert_array_equal(tied.profile.ranks, [[1.5, 1.5]])


def test_ties_of_a_pool_go_by_paired_items(tmp_path: Path) -> None:
    # y is right on 20 of 40 items, x on these and three more. Of two models the errors of a pool
    # are those of the paired difference; errors of each alone would tie them.
    right = {"x": 23, "y": 20}
    items = [{name: float(k < n) for name, n in right.items()} for k in range(40)]
    rows = {("maths", str(k), 1): row for k, row in enumerate(items)}
    path = write_parquet(pool(rows), tmp_path / "pool.parquet")
    [read] = read_ballots(path, making={"ties": "se"})
    np.testing.assert_array_equal(read.profile.ranks, [[1, 2]])
    alone = [np.std([row[name] for row in items], ddof=1) / np.sqrt(40) for name in right]
    errors = "".join(f"{name},{each}\n" for name, each in zip(right, alone, strict=True))
    stderr = write(tmp_path / "errors.csv", f"model,maths\n{errors}")
    [tied] = read_ballots(path, making={"ties": "se"}, reading={"stderr": stderr})
    np.testing.assert_array_equal(tied.profile.ranks, [[1.5, 1.5]])


def test_ranking_logs_among_results_are_merged_on_their_own(mixed: Path) -> None:
    seal, benchmarks = read_ballots(mixed)
    assert seal.name == "gsm8k · seal"
    assert seal.profile.names == ("a", "b", "c")
    assert benchmarks.profile.names == ("mockllm/x", "mockllm/y")
    assert not any("ranking log" in note for note in benchmarks.notes)
    assert any("mmlu: only 'mockllm/y' has a score" in note for note in benchmarks.notes)
    for log in mixed.glob("*.eval"):
        if log.name != "seal.eval":
            log.unlink()
    [alone] = read_ballots(mixed)
    assert (alone.name, alone.notes) == (seal.name, seal.notes)


def test_answers_that_make_no_ranking_do_not_stop_that_of_the_judge(mixed: Path) -> None:
    for log in mixed.glob("*.eval"):
        if "mmlu" not in log.name and log.name != "seal.eval":
            log.unlink()
    [seal] = read_ballots(mixed)
    assert "results beside the ranking logs make no ranking: " in seal.notes[-1]
    # Who asks for scores is told that there are none.
    for given in ([mixed], [mixed / "seal.eval", *mixed.glob("*mmlu*")]):
        with pytest.raises(TableError, match="one model, 'mockllm/y'"):
            read_ballots(given, making={"weights": {"mmlu": 2}})


def test_a_judge_that_came_to_nothing_does_not_stop_the_ranking_by_answers(mixed: Path) -> None:
    write_log(mixed / "seal.eval", [sample(None, "q1", error="it broke")])
    [benchmarks] = read_ballots(mixed, making={"weights": {"gsm8k": 2}})
    assert benchmarks.profile.names == ("mockllm/x", "mockllm/y")
    assert "it broke" in benchmarks.notes[-1]
    with pytest.raises(TableError, match="it broke"):
        read_ballots([mixed, mixed / "seal.eval"])


def test_damaged_files_are_named(mixed: Path, answers: Path, tmp_path: Path) -> None:
    for folder in (mixed, shutil.copytree(answers, tmp_path / "answers")):
        write(folder / "bad.eval", "no zip file")
        for read in read_ballots(folder):
            assert any("bad.eval cannot be read" in note for note in read.notes)
    write(tmp_path / "bad" / "bad.eval", "no zip file")
    with pytest.raises(TableError, match=r"(?s)no result of a finished run.*bad\.eval cannot be"):
        read_ballots(tmp_path / "bad")


def test_what_holds_neither(tmp_path: Path) -> None:
    write(tmp_path / "empty" / "votes.csv", "a,b\n1,2\n")
    scores = write(tmp_path / "one.csv", "model,maths\nx,1\n")
    votes = write(tmp_path / "votes.csv", "a,b\n1,2\n")
    with pytest.raises(TableError, match=r"no results of benchmarks .* by name, not by folder"):
        read_ballots(tmp_path / "empty")
    with pytest.raises(TableError, match=r"one\.csv: one model, 'x', leaves nothing to rank"):
        read_ballots([votes, scores])
    making, reading = {"weights": {"a": 2}, "ties": "se"}, {"metric": "acc", "stderr": None}
    with pytest.raises(TableError, match="weights, ties, metric: for scores of benchmarks, and"):
        read_ballots(votes, making=making, reading=reading)  # type: ignore[arg-type]
