"""`write_back_ranks` over folders: what changes, how Inspect shows it, what a second run does."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from tests.candidates.builders import make_rows, write_inspect_log
from tests.publish.write_back.builders import (
    answer_of,
    brackets,
    metrics,
    scores,
    write_logs,
    write_ranking,
)
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates import load_candidates
from tiebreak.inspect_tasks.contests import contest_samples
from tiebreak.publish.write_back import (
    Outcome,
    WriteBack,
    WriteBackError,
    write_back_ranks,
)
from tiebreak.publish.write_back.scores import replace_file
from tiebreak.rankers import Resampling

pytestmark = pytest.mark.slow

SEAL = "tiebreak_seal"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Three models' logs of two items, and a ranking log among them."""
    folder = write_logs(tmp_path / "logs")
    write_ranking(folder / "seal.eval", folder, brackets())
    return folder


def back(logs: Path, **more: Any) -> WriteBack:
    return write_back_ranks([logs / "seal.eval"], [logs], **more)


def states(done: WriteBack) -> dict[tuple[str, str], str]:
    return {(Path(one.path).name, one.score): one.state for one in done.outcomes}


def why(done: WriteBack, name: str) -> str:
    [said] = [one.why for one in done.outcomes if Path(one.path).name == name]
    return said


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All that is to stay as it is when nothing is to be done."""
    return {
        one.relative_to(folder).as_posix(): (one.stat().st_mtime_ns, one.read_bytes())
        for one in folder.rglob("*")
        if one.is_file()
    }


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_every_model_gets_its_ranks(tmp_path: Path, suffix: str) -> None:
    folder = write_logs(tmp_path / "logs", suffix=suffix)
    log = write_ranking(tmp_path / "seal.eval", folder, brackets())
    done = write_back_ranks([log], [folder])
    assert scores(folder / f"a{suffix}") == {
        "q0": {"rank": 1, "borda": 1},
        "q1": {"rank": 2, "borda": 0.5},
    }
    [board] = leaderboards([log], how=Resampling(draws=1))
    assert [one.model for one in done.outcomes] == ["a", "b", "c"]
    for outcome in done.outcomes:
        [row] = [row for row in board.rows if row.model == outcome.model]
        found = metrics(Path(outcome.path))
        assert found["borda"] == pytest.approx(row.borda)
        assert found["place"] == row.rank
        path = (folder / f"{outcome.model}{suffix}").as_posix()
        about: dict[str, Any] = {
            "model": outcome.model,
            "benchmark": "gsm8k",
            "score": SEAL,
            "place": row.rank,
        }
        assert outcome == Outcome(path, "written", **about, of=3, n_scored=2, n_items=2)
    assert done.unwritten == ()


def test_what_inspect_cannot_read_whole_is_left_alone(logs: Path) -> None:
    # Answers and scores are sound: only the transcript is damaged, which nobody else reads.
    path = logs / "b.eval"
    with ZipFile(path) as log:
        texts = {name: log.read(name) for name in log.namelist()}
    with ZipFile(path, "w") as log:
        for name, text in texts.items():
            log.writestr(name, text.replace(b'"store":{}', b'"store":[]'))
    before = path.read_bytes()
    done = back(logs)
    assert states(done)["a.eval", SEAL] == "written"
    assert "cannot be read as an Inspect log (ValidationError: " in why(done, "b.eval")
    assert path.read_bytes() == before


def test_data_frames_show_them(logs: Path) -> None:
    from inspect_ai.analysis import evals_df, samples_df

    # `score_values` of Inspect needs results, which logs of real runs have.
    back(logs)
    paths = [str(logs / f"{model}.eval") for model in "abc"]
    evals = evals_df(paths)
    assert evals["score_tiebreak_seal_borda"].tolist() == [0.75, 0.75, 0.0]
    assert evals["score_tiebreak_seal_place"].tolist() == [1.0, 1.0, 3.0]
    assert evals["score_tiebreak_seal_stderr"].tolist() == [0.25, 0.25, 0.0]
    samples = samples_df(paths)
    shown = [json.loads(one)["rank"] for one in samples["score_tiebreak_seal"]]
    assert shown == [1, 2, 2, 1, 3, 3]
    assert samples["score_match"].tolist() == [1] * 6


def test_a_second_run_changes_no_byte(logs: Path) -> None:
    write_back_ranks([logs], [logs])
    before = contents(logs)
    done = write_back_ranks([logs], [logs])
    assert set(states(done).values()) == {"unchanged"}
    assert [one.place for one in done.outcomes] == [1, 1, 3]
    assert contents(logs) == before


def test_a_dry_run_says_the_same_and_changes_no_byte(logs: Path) -> None:
    before = contents(logs)
    dry = write_back_ranks([logs], [logs], dry_run=True)
    assert contents(logs) == before
    done = write_back_ranks([logs], [logs])
    assert dry.dry_run
    assert (dry.outcomes, dry.unwritten, dry.notes) == (done.outcomes, done.unwritten, done.notes)


@pytest.mark.parametrize("native", ["I", None])
def test_a_pool_is_the_same_afterwards(tmp_path: Path, native: Any) -> None:
    """Also where ours is the only score in the log: a rank is no native score."""
    for model in "abc":
        rows = make_rows(2, answer=answer_of(model), native=native)
        write_inspect_log(tmp_path / "logs" / f"{model}.eval", model, rows)
    before = load_candidates(tmp_path / "logs")
    ranking = write_ranking(tmp_path / "seal.eval", tmp_path / "logs", brackets())
    write_back_ranks([ranking], [tmp_path / "logs"])
    after = load_candidates(tmp_path / "logs")
    assert repr(list(after)) == repr(list(before))  # NaN is NaN
    first, second = (
        [sample.model_dump() for sample in contest_samples(pool)] for pool in (before, after)
    )
    assert first == second
    assert after.notes == before.notes


def test_ranks_cannot_be_asked_for_as_native_scores(logs: Path) -> None:
    back(logs)
    with pytest.raises(ValueError, match="has no 'tiebreak_seal'; its scores: match"):
        load_candidates(logs, native=SEAL)


def test_two_settings_of_one_model_are_two_candidates(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    for name in "abc":
        rows = make_rows(2, answer=answer_of(name))
        write_inspect_log(folder / f"{name}.eval", "x/gpt", rows, metadata={"candidate": name})
    write_back_ranks([write_ranking(tmp_path / "seal.eval", folder, brackets())], [folder])
    assert [metrics(folder / f"{name}.eval")["place"] for name in "abc"] == [1, 1, 3]


def test_after_an_unwritable_log_it_goes_on(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *rest: Any) -> None:
        if path.name == "b.eval":
            raise OSError(28, "No space left on device")
        replace_file(path, *rest)

    before = contents(logs)
    monkeypatch.setattr("tiebreak.publish.write_back.scores.replace_file", full)
    with pytest.raises(WriteBackError, match=r"b\.eval cannot be written \(No space left"):
        back(logs)
    after = contents(logs)
    assert {name for name in after if after[name] != before[name]} == {"a.eval"}
    monkeypatch.undo()
    done = back(logs)
    assert [one.state for one in done.outcomes] == ["unchanged", "written", "written"]


def test_what_was_edited_in_the_log_since_is_kept(logs: Path) -> None:
    """A tag, a note, another score: write-back reads the log as it is now."""
    back(logs)
    log = read_eval_log(str(logs / "a.eval"))
    for sample in log.samples or []:
        del (sample.scores or {})[SEAL]
        sample.metadata["note"] = "kept"
    write_eval_log(log, str(logs / "a.eval"))
    done = back(logs)
    assert states(done)["a.eval", SEAL] == "written"
    held = read_eval_log(str(logs / "a.eval")).samples or []
    assert [one.metadata["note"] for one in held] == ["kept", "kept"]
    assert scores(logs / "a.eval").keys() == {"q0", "q1"}
