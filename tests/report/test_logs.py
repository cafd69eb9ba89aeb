import re
import shutil
from pathlib import Path

import pytest

from tests.report.builders import bracket, item, sample, write_log
from tiebreak.report import (
    NoRankingLogError,
    NotARankingLogError,
    RankingLogError,
    Unranked,
    UnreadableLogError,
    read_ranking_logs,
)

ABC = bracket("q1", "a", "b", "c")


@pytest.mark.parametrize("name", ["r.eval", "2026-01-01T00-00-00_seal_x.json"])
def test_ballots_survive_the_log(tmp_path: Path, name: str) -> None:
    [log] = read_ranking_logs([write_log(tmp_path / name, [ABC])])
    assert log.items == (ABC,)
    assert (log.protocol, log.status, log.n_expected) == ("seal", "success", 1)
    assert (log.eval_id, log.notes, log.unranked) == ("E1", (), ())


def test_folders_are_searched_and_other_logs_passed_over(tmp_path: Path) -> None:
    write_log(tmp_path / "deep" / "er" / "r.eval", [ABC])
    write_log(tmp_path / "with space & #" / "s.eval", [ABC], eval_id="E2")
    write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    logs = read_ranking_logs([tmp_path])
    assert {Path(log.path).name for log in logs} == {"r.eval", "s.eval"}
    assert all(Path(log.path).exists() for log in logs)


def test_a_file_that_is_reached_twice_is_read_once(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [ABC])
    assert len(read_ranking_logs([tmp_path, path, str(path)])) == 1


def test_logs_come_by_age(tmp_path: Path) -> None:
    write_log(tmp_path / "a.eval", [ABC], created="2026-02-01T00:00:00+00:00")
    write_log(tmp_path / "b.eval", [ABC], created="2026-01-01T00:00:00+00:00", task_id="T2")
    assert [Path(log.path).name for log in read_ranking_logs([tmp_path])] == ["b.eval", "a.eval"]


def test_paths_are_shown_relative_to_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_log(tmp_path / "logs" / "r.eval", [ABC])
    monkeypatch.chdir(tmp_path)
    assert [log.path for log in read_ranking_logs(["logs"])] == ["logs/r.eval"]


def test_no_such_path(tmp_path: Path) -> None:
    with pytest.raises(NoRankingLogError, match=r"does not exist.*inspect eval tiebreak/seal"):
        read_ranking_logs([tmp_path / "nowhere"])


def test_a_folder_without_a_ranking_log(tmp_path: Path) -> None:
    write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    (tmp_path / "bad.eval").write_bytes(b"no zip")
    with pytest.raises(NoRankingLogError) as error:
        read_ranking_logs([tmp_path])
    assert "1 other Inspect log and 1 unreadable file: " in str(error.value)
    assert "bad.eval" in str(error.value)
    assert f"inspect eval tiebreak/seal -T candidates={tmp_path}" in str(error.value)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(NoRankingLogError, match="it holds no Inspect log"):
        read_ranking_logs([tmp_path])


def test_a_candidates_log_is_no_ranking_log(tmp_path: Path) -> None:
    path = write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    with pytest.raises(NotARankingLogError, match=r"no ranking log.*Rank them first"):
        read_ranking_logs([path])


def test_an_unreadable_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "bad.eval"
    path.write_bytes(b"no zip")
    with pytest.raises(UnreadableLogError, match=re.escape(str(path))):
        read_ranking_logs([path])
    assert issubclass(UnreadableLogError, RankingLogError)


def test_an_unreadable_file_in_a_folder_is_named(tmp_path: Path) -> None:
    path = write_log(tmp_path / "good.eval", [ABC] * 1)
    whole = path.read_bytes()
    (tmp_path / "torn.eval").write_bytes(whole[: len(whole) // 2])
    [log] = read_ranking_logs([tmp_path])
    [note] = log.notes
    assert note.startswith("Left out: ")
    assert "torn.eval cannot be read" in note


def test_every_sample_without_a_ranking_is_listed(tmp_path: Path) -> None:
    half = bracket("half", "a", "b", "c", complete=False)
    limited = bracket("limited", "a", "b", "c", complete=False)
    samples = [
        sample(ABC),
        sample(half),
        sample(limited, limit="token"),
        sample(bracket("broken", "a", "b", "c", complete=False), error="it broke\nat line 7"),
        sample(bracket("void", "a", "b", "c"), invalid="wrong target"),
        sample(None, "bare"),
        sample(None, "odd", store={"tiebreak:ballots": {"item_id": 3}}),
    ]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", samples)])
    assert log.items == (ABC,)
    assert {ballots.item_id for ballots in log.cut_short} == {"half", "limited", "broken", "void"}
    reasons = {item.item_id: item.reason for item in log.unranked}
    assert reasons.pop("odd").startswith("its ballots cannot be read (")
    assert reasons == {
        "half": "judging was cut short",
        "limited": "judging was cut short (token limit)",
        "broken": "error: it broke",
        "void": "invalidated: wrong target",
        "bare": "its sample holds no ballots",
    }
    assert Unranked("half", "judging was cut short", "gsm8k") in log.unranked
    assert Unranked("bare", "its sample holds no ballots", None) in log.unranked


@pytest.mark.parametrize(
    ("status", "note"),
    [
        ("error", "1 of 3 items judged (status: error); run `inspect eval-retry {path}`"),
        ("cancelled", "1 of 3 items judged (status: cancelled); run `inspect eval-retry {path}`"),
        (
            "started",
            "1 of 3 items judged (still running, or killed); run `inspect eval-retry {path}`",
        ),
        (
            "success",
            "1 of 3 items judged. Run the same `inspect eval` again for the others: "
            "calls already paid for come from the cache",
        ),
    ],
)
def test_a_run_that_did_not_end_well(tmp_path: Path, status: str, note: str) -> None:
    path = write_log(tmp_path / "r.eval", [ABC], status=status, expected=3)  # type: ignore[arg-type]
    [log] = read_ranking_logs([path])
    assert log.notes == (note.format(path=path),)


def test_a_later_run_of_the_same_task_is_pointed_out(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", [ABC], status="error", expected=2)
    later = write_log(
        tmp_path / "2.eval",
        [ABC, bracket("q2", "a", "b", "c")],
        created="2026-01-02T00:00:00+00:00",
        eval_id="E2",
    )
    first, second = read_ranking_logs([tmp_path])
    assert first.notes == (
        f"1 of 2 items judged (status: error); a later run of the same task: {later}",
    )
    assert second.notes == ()


def test_a_copy_elsewhere_is_another_log(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [item("q", groups=[("a", "b")])])
    shutil.copy(path, tmp_path / "copy.eval")
    assert len(read_ranking_logs([tmp_path])) == 2
