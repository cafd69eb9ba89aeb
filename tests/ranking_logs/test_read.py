import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.ranking_logs.builders import bracket, item, match, sample, write_log
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.ranking_logs import (
    RankingLogError,
    Unranked,
    UnreadableLogError,
    read_ranking_logs,
)
from tiebreak.ranking_logs.log import placement_of
from tiebreak.scorers.ballots import ItemBallots, Skipped
from tiebreak.scorers.placement import NotPlacedError

ABC = bracket("q1", "a", "b", "c")


@pytest.mark.parametrize("name", ["r.eval", "2026-01-01T00-00-00_seal_x.json"])
def test_ballots_survive_the_log(tmp_path: Path, name: str) -> None:
    [log] = read_ranking_logs([write_log(tmp_path / name, [ABC])])
    assert log.items == (ABC,)
    assert (log.protocol, log.status, log.n_expected) == ("seal", "success", 1)
    assert (log.eval_id, log.notes, log.unranked) == ("E1", (), ())


def test_folders_are_searched_and_other_logs_passed_over(tmp_path: Path) -> None:
    write_log(tmp_path / "deep" / "er" / "r.eval", [ABC])
    write_log(tmp_path / "with space & #" / "s.eval", [ABC], eval_id="E2", task_id="T2")
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
    with pytest.raises(RankingLogError, match=r"does not exist.*inspect eval tiebreak/round_robin"):
        read_ranking_logs([tmp_path / "nowhere"])


@pytest.mark.parametrize("path", ["x" * 5_000, "a\0b"])
def test_a_path_that_cannot_be(path: str) -> None:
    with pytest.raises(UnreadableLogError, match=r"File name too long|is no path"):
        read_ranking_logs([path])


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    log = write_log(tmp_path / "r.eval", [ABC])
    os.mkfifo(pipe := tmp_path / "pipe.eval")
    assert len(read_ranking_logs([tmp_path])) == 1
    with pytest.raises(UnreadableLogError, match=r"pipe\.eval is a pipe, not a file"):
        read_ranking_logs([log, pipe])


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_a_json_log_in_another_coding_is_read(tmp_path: Path, coding: str) -> None:
    path = write_log(tmp_path / "r.json", [ABC])
    path.write_text(path.read_text(), encoding=coding)
    [log] = read_ranking_logs([tmp_path])
    assert log.items == (ABC,)


def test_a_folder_without_a_ranking_log(tmp_path: Path) -> None:
    write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    (tmp_path / "bad.eval").write_bytes(b"no zip")
    with pytest.raises(RankingLogError, match="No ranking log in ") as error:
        read_ranking_logs([tmp_path])
    assert "1 other Inspect log and 1 unreadable file: " in str(error.value)
    assert "bad.eval" in str(error.value)
    assert f"inspect eval tiebreak/round_robin -T candidates={tmp_path}" in str(error.value)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(RankingLogError, match="it holds no Inspect log"):
        read_ranking_logs([tmp_path])


def test_a_candidates_log_is_no_ranking_log(tmp_path: Path) -> None:
    path = write_log(tmp_path / "answers.eval", [sample(None)], metadata={})
    with pytest.raises(RankingLogError, match=r"not a ranking log.*Rank them first"):
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
        sample(None, "odd", store={"tiebreak:ballots": '{"item_id": 3}'}),
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


def kept(ballots: ItemBallots, **parts: Any) -> dict[str, Any]:
    return {"tiebreak:ballots": json.dumps({**ballots.model_dump(mode="json"), **parts})}


def test_a_field_that_a_later_release_added_is_ignored(tmp_path: Path) -> None:
    samples = [sample(None, "q", store=kept(ABC, weather="fine"))]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", samples)])
    assert (log.items, log.notes) == ((ABC,), ())


def test_an_empty_group_of_answers_is_damage_of_its_item(tmp_path: Path) -> None:
    samples = [sample(ABC), sample(None, "q", store=kept(ABC, groups=[["a"], [], ["b"], ["c"]]))]
    path = write_log(tmp_path / "r.eval", samples)
    [log] = read_ranking_logs([path])
    assert log.items == (ABC,)
    [unranked] = log.unranked
    assert unranked.item_id == "q"
    assert unranked.reason.startswith("its ballots cannot be read (")
    assert [len(board.rows) for board in leaderboards([path])] == [3]


def test_ballots_of_a_newer_version_are_named_and_not_judged_again(tmp_path: Path) -> None:
    samples = [sample(ABC), *(sample(None, i, store=kept(ABC, version=9)) for i in ("x", "y"))]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", samples)])
    why = (
        "its ballots were written by a newer Tiebreak (ballots version 9; this one reads 5): "
        "upgrade"
    )
    assert log.unranked == (Unranked("x", why), Unranked("y", why))
    note = "2 items of 3 judged by a newer Tiebreak, whose ballots this one cannot read: upgrade"
    assert log.notes == (note,)
    [log] = read_ranking_logs([write_log(tmp_path / "s.eval", samples, expected=4)])
    assert log.notes[0].startswith("2 items of 4 judged by a newer Tiebreak")
    assert log.notes[1].startswith("1 of 4 items judged. Run the same `inspect eval` again")


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
    first, second = read_ranking_logs([tmp_path], attempts="all")
    assert first.notes == (
        f"1 of 2 items judged (status: error); a later run of the same task: {later}",
    )
    assert second.notes == ()


def test_a_copy_elsewhere_is_another_log(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [item("q", groups=[("a", "b")])])
    shutil.copy(path, tmp_path / "copy.eval")
    assert len(read_ranking_logs([tmp_path], attempts="all")) == 2


def test_arguments_tell_how_it_was_judged(tmp_path: Path) -> None:
    given = {"rounds": 3, "candidates": "logs/", "shard": None, "swap": "close"}
    given["same_settings"] = True
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", [ABC], task_args=given)])
    assert log.arguments == {"rounds": 3, "swap": "close"}


def skipped(name: str) -> ItemBallots:
    why = Skipped(after=1, of=3, error=0.05)
    return bracket(name, "a", "b", "c", complete=False).model_copy(update={"skipped": why})


def test_items_of_a_settled_ranking_lack_nothing(tmp_path: Path) -> None:
    rest = [skipped("q2"), skipped("q3")]
    [log] = read_ranking_logs([write_log(tmp_path / "r.eval", [ABC, *rest])])
    assert (log.items, log.skipped) == ((ABC,), tuple(rest))
    assert (log.cut_short, log.unranked, log.notes, log.n_expected) == ((), (), (), 3)


def test_a_settled_ranking_may_lack_other_items(tmp_path: Path) -> None:
    broken = sample(skipped("q2"), error="it broke")
    path = write_log(tmp_path / "r.eval", [ABC, broken, skipped("q3")], status="error")
    [log] = read_ranking_logs([path])
    assert [one.item_id for one in log.skipped] == ["q3"]
    assert log.unranked == (Unranked("q2", "error: it broke", "gsm8k"),)
    assert log.notes == (
        "1 of 3 items judged, 1 skipped because the ranking was settled (status: error); "
        f"run `inspect eval-retry {path}`",
    )


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
