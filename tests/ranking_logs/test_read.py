import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cases import cases
from tests.ranking_logs.builders import bracket, item, match, sample, skipped, write_log
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.ranking_logs import (
    RankingLogError,
    Unranked,
    read_ranking_logs,
)
from tiebreak.ranking_logs.log import placement_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import NotPlacedError

ABC = bracket("q1", "a", "b", "c")


@pytest.mark.parametrize("name", ["r.eval", "2026-01-01T00-00-00_seal_x.json"])
def test_ballots_survive_the_log(tmp_path: Path, name: str) -> None:
    [log] = read_ranking_logs([write_log(tmp_path / name, [ABC])])
    assert log.items == (ABC,)
    assert (log.protocol, log.status, log.n_expected) == ("seal", "success", 1)
    assert (log.eval_id, log.notes, log.unranked) == ("E1", (), ())


def test_folders_are_searched_and_other_logs_passed_over(tmp_path: Path) -> None:
    path = write_log(tmp_path / "deep" / "er" / "r.eval", [ABC])
    write_log(tmp_path / "with space & #" / "s.eval", [ABC], eval_id="E2", task_id="T2")
    write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    logs = read_ranking_logs([tmp_path])
    assert {Path(log.path).name for log in logs} == {"r.eval", "s.eval"}
    assert all(Path(log.path).exists() for log in logs)
    # A file that is reached twice is read once; a copy elsewhere is another log.
    assert len(read_ranking_logs([tmp_path, path, str(path)])) == 2
    shutil.copy(path, tmp_path / "copy.eval")
    assert len(read_ranking_logs([tmp_path], attempts="all")) == 3


def test_paths_are_shown_relative_to_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_log(tmp_path / "logs" / "r.eval", [ABC])
    monkeypatch.chdir(tmp_path)
    assert [log.path for log in read_ranking_logs(["logs"])] == ["logs/r.eval"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.eval")
    (tmp_path / "bad.eval").write_bytes(b"no zip")
    write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    (tmp_path / "empty").mkdir()
    (tmp_path / "votes.csv").write_text("model_a,model_b,winner\n")
    (tmp_path / "annotations.json").write_text(" [{}]")
    refused = {
        "hf://datasets/nobody": "cannot be reached .* Check the address, the network",
        "nowhere": r"does not exist.*inspect eval tiebreak/round_robin",
        "x" * 5_000: "File name too long",
        "a\0b": "is no path",
        "pipe.eval": r"pipe\.eval is a pipe, not a file",
        "bad.eval": re.escape(f"{tmp_path}/bad.eval cannot be read"),
        "votes.csv": r"no ranking log.*its board is: tiebreak rank .*votes\.csv",
        "annotations.json": r"no ranking log.*its board is: tiebreak rank .*annotations\.json",
        "answers.eval": r"not a ranking log.*Rank them first",
        "empty": "it holds no Inspect log",
        ".": r"(?s)No ranking log in .*1 other Inspect log and 1 unreadable file: .*bad\.eval.*"
        rf"inspect eval tiebreak/round_robin -T candidates={tmp_path}",
    }
    for name, words in refused.items():
        with pytest.raises(RankingLogError, match=words):
            read_ranking_logs([name if ":" in name else tmp_path / name])
    # A pipe in a folder is not waited for, and what is torn is named.
    whole = write_log(tmp_path / "good.eval", [ABC]).read_bytes()
    (tmp_path / "torn.eval").write_bytes(whole[: len(whole) // 2])
    [log] = read_ranking_logs([tmp_path])
    assert [note.startswith("Left out: ") for note in log.notes] == [True, True]
    assert "torn.eval cannot be read" in log.notes[1]


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_a_json_log_in_another_coding_is_read(tmp_path: Path, coding: str) -> None:
    path = write_log(tmp_path / "r.json", [ABC])
    path.write_text(path.read_text(), encoding=coding)
    [log] = read_ranking_logs([tmp_path])
    assert log.items == (ABC,)


def test_every_sample_without_a_ranking_is_listed(tmp_path: Path) -> None:
    halves = {
        name: bracket(name, "a", "b", "c", complete=False) for name in ("half", "limited", "broken")
    }
    samples = [
        sample(ABC),
        sample(halves["half"]),
        sample(halves["limited"], limit="token"),
        sample(halves["broken"], error="it broke\nat line 7"),
        sample(bracket("void", "a", "b", "c"), invalid="wrong target"),
        sample(None, "bare"),
        sample(None, "odd", store={"tiebreak:ballots": '{"item_id": 3}'}),
        sample(None, "gap", store=kept(ABC, groups=[["a"], [], ["b"], ["c"]])),
    ]
    path = write_log(tmp_path / "r.eval", samples)
    [log] = read_ranking_logs([path])
    assert log.items == (ABC,)
    assert {ballots.item_id for ballots in log.cut_short} == {*halves, "void"}
    found = {one.item_id: (one.reason, one.benchmark) for one in log.unranked}
    for damaged in ("odd", "gap"):
        assert found.pop(damaged)[0].startswith("its ballots cannot be read (")
    assert found == {
        "half": ("judging was cut short", "gsm8k"),
        "limited": ("judging was cut short (token limit)", "gsm8k"),
        "broken": ("error: it broke", "gsm8k"),
        "void": ("invalidated: wrong target", "gsm8k"),
        "bare": ("its sample holds no ballots", None),
    }
    assert [len(board.rows) for board in leaderboards([path])] == [3]


def kept(ballots: ItemBallots, **parts: Any) -> dict[str, Any]:
    return {"tiebreak:ballots": json.dumps({**ballots.model_dump(mode="json"), **parts})}


def test_ballots_of_a_newer_version_are_named_and_not_judged_again(tmp_path: Path) -> None:
    samples = [sample(ABC), *(sample(None, i, store=kept(ABC, version=9)) for i in ("x", "y"))]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", samples, expected=4)])
    assert [one.item_id for one in log.unranked] == ["x", "y"]
    assert all("(ballots version 9; this one reads 5): upgrade" in u.reason for u in log.unranked)
    newer, rest = log.notes
    assert newer.startswith("2 items of 4 judged by a newer Tiebreak")
    assert rest.startswith("1 of 4 items judged. Run the same")


@pytest.mark.parametrize(("status", "note"), cases(__file__, "how a run ended"))
def test_a_run_that_did_not_end_well(tmp_path: Path, status: Any, note: str) -> None:
    path = write_log(tmp_path / "r.eval", [ABC], status=status, expected=3)
    [log] = read_ranking_logs([path])
    assert log.notes[0].startswith(f"1 of 3 items judged{note.format(path=path)}")


def test_a_later_run_of_the_same_task_is_pointed_out(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", [ABC], status="error", expected=2)
    items, day = [ABC, bracket("q2", "a", "b", "c")], "2026-01-02T00:00:00+00:00"
    later = write_log(tmp_path / "2.eval", items, created=day, eval_id="E2")
    first, second = read_ranking_logs([tmp_path], attempts="all")
    assert first.notes[0].endswith(f"; a later run of the same task: {later}")
    assert second.notes == ()


def test_arguments_tell_how_it_was_judged(tmp_path: Path) -> None:
    given = {"rounds": 3, "candidates": "logs/", "shard": None, "swap": "close"}
    given["same_settings"] = True
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", [ABC], task_args=given)])
    assert log.arguments == {"rounds": 3, "swap": "close"}


def test_items_of_a_settled_ranking_lack_nothing(tmp_path: Path) -> None:
    rest = [skipped(name, 1, 3) for name in ("q2", "q3")]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", [ABC, *rest])])
    assert (log.items, log.skipped) == ((ABC,), tuple(rest))
    assert (log.cut_short, log.unranked, log.notes, log.n_expected) == ((), (), (), 3)
    # It may lack other items.
    samples = [sample(ABC), sample(rest[0], error="it broke"), sample(rest[1])]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", samples, status="error")])
    assert log.skipped == (rest[1],)
    assert log.unranked == (Unranked("q2", "error: it broke", "gsm8k"),)
    assert "1 of 3 items judged, 1 skipped because the ranking was settled" in log.notes[0]


def test_a_model_without_a_ballot_has_no_rank() -> None:
    # b and c, which gave one answer, never had a scored match; a beat d.
    matches = [match("a", "d", 0.4), match("a", "b", None, round=2)]
    one = item("q", matches, groups=(("a",), ("b", "c"), ("d",)))
    one = one.model_copy(update={"placed_by": "win_rate"})
    assert placement_of(one).ranks == {"a": 1, "d": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ("a", "b", "c", "d")}, "its ballots give no rank to d"),
        ({"seeds": ()}, "elimination ranks fewer than two candidates"),
        ({"seeds": ("a", "b", "z")}, "its ballots contradict each other: 'z' is not an answer"),
        ({"complete": False}, "judging was cut short"),
        ({"seeds": ("a", "a", "b")}, "its ballots contradict each other: 'a' occurs twice"),
        ({"groups": ((), ("b",))}, "its ballots contradict each other: tuple index out of range"),
    ],
)
def test_damaged_ballots_give_no_ranking(change: dict[str, Any], message: str) -> None:
    with pytest.raises(NotPlacedError, match=re.escape(message)):
        placement_of(ABC.model_copy(update=change))
