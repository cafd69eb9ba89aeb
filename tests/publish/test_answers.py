"""The answers behind a run: found, checked against what was judged, and cut to it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog

from tests.candidates.builders import write_lm_eval_run
from tests.publish.judged_runs import (
    change_log,
    judged_item,
    told,
    with_contest,
    write_both,
    write_candidates,
    write_ranking,
)
from tests.ranking_logs.builders import write_log
from tiebreak.candidates import CandidatePool, load_candidates, read_parquet, write_parquet
from tiebreak.publish.answers import judged_pool, places_of, pool_file
from tiebreak.publish.errors import PublishError
from tiebreak.publish.runs import Run, read_runs
from tiebreak.rankers import Resampling


def only_run(*paths: Path) -> Run:
    [run], _ = read_runs(paths, how=Resampling(draws=10))
    return run


def texts(pool: CandidatePool) -> dict[tuple[str, str], str]:
    return {
        (key.item_id, m): c.text for key, row in pool.candidates.items() for m, c in row.items()
    }


@pytest.mark.slow
def test_where_answers_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = write_both(tmp_path)
    run = only_run(log)
    sources = [str(path) for path in sorted((tmp_path / "candidates").glob("*.eval"))]
    assert places_of(run, ["here"], [tmp_path]) == [["here"]]
    assert places_of(run, [], [log]) == [sources]  # where the log says that they came from
    assert places_of(run, [], [tmp_path, log]) == [[tmp_path], sources]
    (tmp_path / "logs").mkdir()  # what the task was given
    assert places_of(run, [], [log]) == [sources, ["logs"]]
    shutil.rmtree(tmp_path / "candidates")
    shutil.rmtree(tmp_path / "logs")
    assert places_of(run, [], [log]) == []


@pytest.mark.slow
def test_answers_that_came_from_the_hub_are_looked_for_there(tmp_path: Path) -> None:
    address = "hf://datasets/me/ranks"
    pool = load_candidates(write_candidates(tmp_path / "candidates"))
    log = write_ranking(
        tmp_path / "seal.eval",
        pool,
        metadata={"candidate_sources": ["x.eval"]},
        task_args={"candidates": [address]},
    )
    run = only_run(log)
    assert places_of(run, [], []) == [[address]]


@pytest.mark.slow
def test_the_pool_is_cut_to_what_was_judged(tmp_path: Path) -> None:
    folder = write_candidates(tmp_path / "candidates", "abcd", n_items=5)
    pool = load_candidates(folder)
    run = only_run(write_ranking(tmp_path / "seal.eval", pool, items=[3, 1]))
    found = judged_pool(run, [[folder]])
    assert found.models == ("a", "b", "c")
    assert texts(found) == {(f"q{i}", m): f"{m} says {i}" for i in (1, 3) for m in "abc"}
    sources = {c.source for row in found.candidates.values() for c in row.values()}
    assert sources == {"gsm8k-0.eval", "gsm8k-1.eval", "gsm8k-2.eval"}
    assert found.notes == ()


def test_metadata_says_nothing_of_a_machine_and_answers_stay(tmp_path: Path) -> None:
    pool = load_candidates(write_candidates(tmp_path / "candidates"))
    here = {"file": "/home/alice/gsm8k.json", "level": 3}
    items = tuple(replace(item, metadata=here) for item in pool.items)
    text = "It is in /home/alice/answer.txt"
    rows = {
        key: {name: replace(one, text=text + name) for name, one in row.items()}
        for key, row in pool.candidates.items()
    }
    path = write_parquet(CandidatePool(items, rows), tmp_path / "pool.parquet")
    found = judged_pool(
        only_run(write_ranking(tmp_path / "x.eval", load_candidates(path))), [[path]]
    )
    assert [item.metadata for item in found.items] == [{"file": "gsm8k.json", "level": 3}] * 3
    assert {one.text for row in found.candidates.values() for one in row.values()} == {
        text + name for name in "abc"
    }


@pytest.mark.slow
def test_a_secret_of_a_candidates_log_stays_there(tmp_path: Path) -> None:
    def plant(log: EvalLog) -> None:
        log.eval.model_args = {"api_key": "a says 0"}

    run = only_run(write_both(tmp_path))
    change_log(tmp_path / "candidates" / "gsm8k-0.eval", plant)
    with pytest.raises(PublishError, match=r"^candidates/.* \(api_key\) in gsm8k-0\.eval"):
        judged_pool(run, [[tmp_path / "candidates"]])


@pytest.mark.slow
def test_a_secret_beside_the_answers_of_lm_eval_stays_there(tmp_path: Path) -> None:
    key = "sk-hidden"  # the builder writes it into the summary
    for model in "abc":
        rows = [{"id": "q", "question": "?", "answer": f"{model}: {key * (model == 'b')}"}]
        samples = write_lm_eval_run(tmp_path / "out", model, rows)
    run = only_run(write_ranking(tmp_path / "x.eval", load_candidates(tmp_path / "out")))
    with pytest.raises(PublishError, match=r"^candidates/.* \(api_key\) in results_") as found:
        judged_pool(run, [[tmp_path / "out"]])
    assert key not in str(found.value)
    for summary in samples.parents[1].rglob("results*.json"):
        summary.write_text("[damaged")
    assert judged_pool(run, [[tmp_path / "out"]])


@pytest.mark.slow
def test_the_file_gives_the_pool_back(tmp_path: Path) -> None:
    run = only_run(write_both(tmp_path))
    found = judged_pool(run, [[tmp_path / "candidates"]])
    path, content = pool_file(found)
    assert (path, content) == pool_file(found)
    assert str(tmp_path) not in told(content, path)
    (tmp_path / "pool.parquet").write_bytes(content)
    assert read_parquet(tmp_path / "pool.parquet") == found
    fewer = only_run(write_both(tmp_path / "other", n_items=2))
    other = judged_pool(fewer, [[tmp_path / "other" / "candidates"]])
    assert pool_file(other)[0] != path


@pytest.mark.slow
@pytest.mark.parametrize("contests", [True, False], ids=["texts", "lengths"])
def test_other_answers_are_refused(tmp_path: Path, contests: bool) -> None:
    log = write_both(tmp_path, contests=contests)
    longer = write_candidates(
        tmp_path / "new", answer=lambda model, i: f"{model} says {i}" + "!" * (model == "b")
    )
    with pytest.raises(PublishError, match=r"other answers.*3 of 3 judged items.*q0, q1, q2"):
        judged_pool(only_run(log), [[longer]])


@pytest.mark.slow
def test_answers_of_the_same_length_are_told_apart_by_their_text(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    other = write_candidates(tmp_path / "new", answer=lambda model, i: f"{model} said {i}")
    with pytest.raises(PublishError, match="holds other answers than"):
        judged_pool(only_run(log), [[other]])


@pytest.mark.slow
def test_identical_answers_must_be_identical(tmp_path: Path) -> None:
    """Only one of a group was judged; the others must have said the same, up to blanks."""
    same = write_candidates(tmp_path / "candidates", answer=lambda m, i: "x" if m != "c" else "y")
    pool = load_candidates(same)
    grouped = [
        judged_item(pool, n).model_copy(update={"groups": (("a", "b"), ("c",))}) for n in range(3)
    ]
    log = write_log(tmp_path / "seal.eval", [with_contest(ballots, pool) for ballots in grouped])
    run = only_run(log)
    assert judged_pool(run, [[same]]).models == ("a", "b", "c")
    blanks = write_candidates(
        tmp_path / "blanks", answer=lambda m, i: {"a": "x", "b": "x \n", "c": "y"}[m]
    )
    assert judged_pool(run, [[blanks]]).models == ("a", "b", "c")
    parted = write_candidates(tmp_path / "parted", answer=lambda m, i: {"a": "x"}.get(m, "y"))
    with pytest.raises(PublishError, match="holds other answers than"):
        judged_pool(run, [[parted]])


@pytest.mark.slow
def test_what_is_not_there(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    fewer = write_candidates(tmp_path / "fewer", n_items=2)
    alone = write_candidates(tmp_path / "alone", "ab")
    with pytest.raises(PublishError, match="judged cannot be found") as found:
        judged_pool(only_run(log), [[fewer], [alone], [tmp_path / "nowhere"]])
    message = str(found.value)
    assert "1 of 3 judged items (q2) not there" in message
    assert "3 of 3 judged items (q0, q1, q2) not there" in message
    assert "nowhere" in message
    assert "--candidates PATH" in message
    with pytest.raises(PublishError, match="no place is known"):
        judged_pool(only_run(log), [])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "shown"), [(5, "nowhere4: "), (6, "nowhere4 and 1 more: ")])
def test_of_many_paths_the_first_five_are_named(tmp_path: Path, n: int, shown: str) -> None:
    paths = [tmp_path / f"nowhere{number}" for number in range(n)]
    with pytest.raises(PublishError) as found:
        judged_pool(only_run(write_both(tmp_path)), [paths])
    first = ", ".join(map(str, paths[:4]))
    assert f"{first}, {tmp_path}/{shown}" in str(found.value)


@pytest.mark.slow
def test_the_next_place_is_tried(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    fewer = write_candidates(tmp_path / "fewer", n_items=2)
    assert len(judged_pool(only_run(log), [[fewer], [tmp_path / "candidates"]])) == 3


@pytest.mark.slow
def test_the_next_place_is_tried_where_answers_are_others(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    other = write_candidates(tmp_path / "new", answer=lambda model, i: f"{model} said {i}")
    assert len(judged_pool(only_run(log), [[other], [tmp_path / "candidates"]])) == 3
    # Two runs of one model: the message says what is wrong there, by its name.
    with pytest.raises(PublishError, match=r"(?s)cannot be found.*3 problems.*'a'"):
        judged_pool(only_run(log), [[tmp_path]])


@pytest.mark.slow
def test_another_question_under_the_same_id(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    from tests.candidates.builders import write_inspect_log

    for model in "abc":
        rows = [
            {"id": f"q{i}", "question": f"And {i}?", "answer": f"{model} says {i}", "native": 1.0}
            for i in range(3)
        ]
        write_inspect_log(tmp_path / "asked" / f"{model}.eval", model, rows)
    with pytest.raises(PublishError, match=r"(?s)cannot be found.*3 of 3 judged items"):
        judged_pool(only_run(log), [[tmp_path / "asked"]])


@pytest.mark.slow
def test_models_have_public_names(tmp_path: Path) -> None:
    names = ("hf//home/me/x", "b", "c")
    pool = load_candidates(write_candidates(tmp_path / "candidates", names))
    run = only_run(write_ranking(tmp_path / "seal.eval", pool, ranked=names))
    found = judged_pool(run, [[tmp_path / "candidates"]])
    assert found.models == ("b", "c", "hf/x")
    assert {name: c.model for name, c in found.candidates[found.items[0].key].items()} == {
        name: name for name in found.models
    }
