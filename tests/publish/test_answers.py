"""The answers behind a run: found, checked against what was judged, and cut to it."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog

from tests.candidates.builders import write_lm_eval_run
from tests.publish.judged_runs import (
    FEW,
    change_log,
    judged_item,
    told,
    with_contest,
    write_both,
    write_candidates,
    write_ranking,
)
from tests.ranking_logs.builders import write_log
from tiebreak.candidates import CandidatePool, load_candidates, read_parquet
from tiebreak.publish.answers import judged_pool, places_of, pool_file
from tiebreak.publish.errors import PublishError
from tiebreak.publish.runs import Run, read_runs

pytestmark = pytest.mark.slow


def run_in(path: Path) -> Run:
    [run], _ = read_runs([path], how=FEW)
    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A ranking log; its answers are in `candidates/`."""
    return write_both(tmp_path)


@pytest.fixture
def run(log: Path) -> Run:
    return run_in(log)


def texts(pool: CandidatePool) -> dict[tuple[str, str], str]:
    return {
        (key.item_id, m): c.text for key, row in pool.candidates.items() for m, c in row.items()
    }


def test_where_answers_are_looked_for(
    run: Run, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = [str(path) for path in sorted((tmp_path / "candidates").glob("*.eval"))]
    assert places_of(run, ["here"], [tmp_path]) == [["here"]]
    assert places_of(run, [], [log]) == [sources]  # where the log says that they came from
    assert places_of(run, [], [tmp_path, log]) == [[tmp_path], sources]
    (tmp_path / "logs").mkdir()  # what the task was given
    assert places_of(run, [], [log]) == [sources, ["logs"]]
    shutil.rmtree(tmp_path / "candidates")
    shutil.rmtree(tmp_path / "logs")
    assert places_of(run, [], [log]) == []


def test_answers_that_came_from_the_hub_are_looked_for_there(tmp_path: Path) -> None:
    address = "hf://datasets/me/ranks"
    pool = load_candidates(write_candidates(tmp_path / "candidates"))
    about: dict[str, Any] = {
        "metadata": {"candidate_sources": ["x.eval"]},
        "task_args": {"candidates": [address]},
    }
    run = run_in(write_ranking(tmp_path / "seal.eval", pool, **about))
    assert places_of(run, [], []) == [[address]]


def test_the_pool_is_cut_to_what_was_judged(tmp_path: Path) -> None:
    folder = write_candidates(tmp_path / "candidates", "abcd", n_items=5)
    run = run_in(write_ranking(tmp_path / "seal.eval", load_candidates(folder), items=[3, 1]))
    pool = judged_pool(run, [[folder]])
    assert pool.models == ("a", "b", "c")
    assert texts(pool) == {(f"q{i}", m): f"{m} says {i}" for i in (1, 3) for m in "abc"}
    sources = {c.source for row in pool.candidates.values() for c in row.values()}
    assert sources == {"gsm8k-0.eval", "gsm8k-1.eval", "gsm8k-2.eval"}
    assert pool.notes == ()


def test_a_secret_of_a_candidates_log_stays_there(run: Run, tmp_path: Path) -> None:
    def planted(log: EvalLog) -> None:
        log.eval.model_args = {"api_key": "a says 0"}

    change_log(tmp_path / "candidates" / "gsm8k-0.eval", planted)
    with pytest.raises(PublishError, match=r"^candidates/.* \(api_key\) in gsm8k-0\.eval"):
        judged_pool(run, [[tmp_path / "candidates"]])


def test_a_secret_beside_the_answers_of_lm_eval_stays_there(tmp_path: Path) -> None:
    key = "sk-hidden"  # the builder writes it into the summary
    for model in "abc":
        rows = [{"id": "q", "question": "?", "answer": f"{model}: {key * (model == 'b')}"}]
        samples = write_lm_eval_run(tmp_path / "out", model, rows)
    run = run_in(write_ranking(tmp_path / "x.eval", load_candidates(tmp_path / "out")))
    with pytest.raises(PublishError, match=r"^candidates/.* \(api_key\) in results_") as found:
        judged_pool(run, [[tmp_path / "out"]])
    assert key not in str(found.value)
    for summary in samples.parents[1].rglob("results*.json"):
        summary.write_text("[damaged")
    assert judged_pool(run, [[tmp_path / "out"]])


def test_the_file_gives_the_pool_back(run: Run, tmp_path: Path) -> None:
    found = judged_pool(run, [[tmp_path / "candidates"]])
    path, content = pool_file(found)
    assert (path, content) == pool_file(found)
    assert str(tmp_path) not in told(content, path)
    (tmp_path / "pool.parquet").write_bytes(content)
    assert read_parquet(tmp_path / "pool.parquet") == found
    fewer = run_in(write_both(tmp_path / "other", n_items=2))
    other = judged_pool(fewer, [[tmp_path / "other" / "candidates"]])
    assert pool_file(other)[0] != path


@pytest.mark.parametrize(
    ("contests", "answer"),
    [(True, "{}{} says {}"), (False, "{}{} says {}"), (True, "{}{} said {}")],
    ids=["texts", "lengths", "texts of the same length"],
)
def test_other_answers_are_refused(tmp_path: Path, contests: bool, answer: str) -> None:
    run = run_in(write_both(tmp_path, contests=contests))
    others = write_candidates(
        tmp_path / "new",
        answer=lambda model, i: answer.format(model, "!" * (model == "b" and "says" in answer), i),
    )
    with pytest.raises(PublishError, match=r"other answers.*3 of 3 judged items.*q0, q1, q2"):
        judged_pool(run, [[others]])
    # The next place is tried.
    assert len(judged_pool(run, [[others], [tmp_path / "candidates"]])) == 3
    # Two runs of one model: the message says what is wrong there, by its name.
    with pytest.raises(PublishError, match=r"(?s)cannot be found.*3 problems.*'a'"):
        judged_pool(run, [[tmp_path]])


def test_identical_answers_must_be_identical(tmp_path: Path) -> None:
    """Only one of a group was judged; the others must have said the same, up to blanks."""

    def answered(name: str, **answers: str) -> Path:
        return write_candidates(tmp_path / name, answer=lambda model, i: answers[model])

    same = answered("candidates", a="x", b="x", c="y")
    pool = load_candidates(same)
    groups = {"groups": (("a", "b"), ("c",))}
    grouped = [judged_item(pool, n).model_copy(update=groups) for n in range(3)]
    run = run_in(write_log(tmp_path / "1.eval", [with_contest(one, pool) for one in grouped]))
    for folder in (same, answered("blanks", a="x", b="x \n", c="y")):
        assert judged_pool(run, [[folder]]).models == ("a", "b", "c")
    with pytest.raises(PublishError, match="holds other answers than"):
        judged_pool(run, [[answered("parted", a="x", b="y", c="y")]])


def test_what_is_not_there(run: Run, tmp_path: Path) -> None:
    fewer = write_candidates(tmp_path / "fewer", n_items=2)
    alone = write_candidates(tmp_path / "alone", "ab")
    with pytest.raises(PublishError, match="judged cannot be found") as found:
        judged_pool(run, [[fewer], [alone], [tmp_path / "nowhere"]])
    for part in (
        "1 of 3 judged items (q2) not there",
        "3 of 3 judged items (q0, q1, q2) not there",
        "nowhere",
        "--candidates PATH",
    ):
        assert part in str(found.value)
    with pytest.raises(PublishError, match="no place is known"):
        judged_pool(run, [])
    assert len(judged_pool(run, [[fewer], [tmp_path / "candidates"]])) == 3


@pytest.mark.parametrize(("n", "shown"), [(5, "nowhere4: "), (6, "nowhere4 and 1 more: ")])
def test_of_many_paths_five_are_named(run: Run, tmp_path: Path, n: int, shown: str) -> None:
    paths = [tmp_path / f"nowhere{number}" for number in range(n)]
    with pytest.raises(PublishError) as found:
        judged_pool(run, [paths])
    first = ", ".join(map(str, paths[:4]))
    assert f"{first}, {tmp_path}/{shown}" in str(found.value)


def test_models_have_public_names(tmp_path: Path) -> None:
    names = ("hf//home/me/x", "b", "c")
    pool = load_candidates(write_candidates(tmp_path / "candidates", names))
    run = run_in(write_ranking(tmp_path / "seal.eval", pool, ranked=names))
    found = judged_pool(run, [[tmp_path / "candidates"]])
    assert found.models == ("b", "c", "hf/x")
    [row, *_] = found.candidates.values()
    assert {name: one.model for name, one in row.items()} == {name: name for name in found.models}
