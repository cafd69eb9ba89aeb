from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log

from tests.ranking_logs.builders import bracket, write_log
from tests.scorers.judges import NotingJudge, judged
from tests.scorers.tournament import planted_contest
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.contest import Contest

ANSWERS = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}


def contest(number: int, models: Sequence[str], n_items: int, twin: bool = False) -> Contest:
    """Quality falls from a to d; on every third item x is as good as the first, or its twin."""
    quality = {name: own + number % 2 * (name == "b") * 1.5 for name, own in ANSWERS.items()}
    quality["x"] = 2.5 if number % 3 else -1.0
    twins = {}
    if twin and "x" in models:
        del quality["x"]
        twins = {"b": ["x"]}
    kept = {name: own for name, own in quality.items() if name in models}
    found = planted_contest(kept, item_id=f"q{number}", twins=twins)
    return Contest(**{**vars(found), "position": number, "n_items": n_items})


def play(protocol: str, models: str, items: range, **settings: Any) -> list[ItemBallots]:
    found = []
    for number in items:
        one = contest(number, models, len(items), twin=number % 5 == 4)
        judge = NotingJudge({name: float(a.split("=")[1]) for name, a in one.answers.items()})
        found.append(judged(protocol, one, judge, swap="never", **settings))
    return found


def logs(tmp_path: Path, old: Sequence[ItemBallots], new: Sequence[ItemBallots]) -> list[Path]:
    return [
        write_log(tmp_path / "old.eval", old, task_id="old", eval_id="old"),
        write_log(
            tmp_path / "new.eval", new, task_id="new", eval_id="new", task_args={"newcomers": "x"}
        ),
    ]


def board(paths: Sequence[Path], **options: Any) -> dict[str, float]:
    [one] = leaderboards(paths, **options)
    return {row.model: round(row.borda, 9) for row in one.rows}


@pytest.mark.parametrize("protocol", ["full_pairwise", "round_robin"])
def test_all_matches_of_a_newcomer_and_all_others_are_all_matches(
    tmp_path: Path, protocol: str
) -> None:
    items = range(10)
    rounds = {"rounds": 3} if protocol == "round_robin" else {}
    old = play(protocol, "abcd", items, **rounds)
    new = play("round_robin", "abcdx", items, rounds=4, newcomers="x")
    whole = [write_log(tmp_path / "all.eval", play("round_robin", "abcdx", items, rounds=5))]
    assert board(logs(tmp_path, old, new)) == board(whole)
    [joined] = read_ranking_logs([tmp_path / "old.eval", tmp_path / "new.eval"])
    assert len(joined.files) == 2
    calls = sum(len(item.calls) for item in joined.items)
    assert calls == sum(len(item.calls) for item in (*old, *new))


@pytest.mark.parametrize("known", ["abcdx", "abcd", ""])
def test_how_models_were_asked_is_what_the_later_log_says(tmp_path: Path, known: str) -> None:
    """It has all models; the other one counts where a log is of an earlier version."""
    paths = logs(
        tmp_path,
        play("round_robin", "abcd", range(2)),
        play("round_robin", "abcdx", range(2), newcomers="x"),
    )
    for path, models in zip(paths, ("abcd", known), strict=True):
        log = read_eval_log(str(path))
        settings = {"gsm8k": {model: {"temperature": path.stem} for model in models}}
        said = {"candidate_settings": settings} if models else {}
        log.eval.metadata = {**(log.eval.metadata or {}), **said}
        write_eval_log(log, str(path))
    [joined] = read_ranking_logs(paths)
    found = {model: own["temperature"] for model, own in joined.settings["gsm8k"].items()}
    assert found == (dict.fromkeys(known, "new") if known else dict.fromkeys("abcd", "old"))


def test_one_after_the_other(tmp_path: Path) -> None:
    items = range(10)
    d = play("round_robin", "abcd", items, rounds=3, newcomers="d")
    x = play("round_robin", "abcdx", items, rounds=4, newcomers=["x"])
    paths = logs(tmp_path, play("full_pairwise", "abc", items), x)
    later = write_log(tmp_path / "d.eval", d, task_id="d", task_args={"newcomers": ["d"]})
    whole = [write_log(tmp_path / "all.eval", play("full_pairwise", "abcdx", items))]
    assert board([*paths, later]) == board(whole, rule="points")


def test_items_of_one_log_only_are_left_out(tmp_path: Path) -> None:
    old = play("full_pairwise", "abcd", range(6))
    new = play("round_robin", "abcdx", range(4), rounds=4, newcomers="x")
    paths = logs(tmp_path, old, new)
    [joined] = read_ranking_logs(paths)
    assert len(joined.items) == 4
    assert any(note.startswith("2 items that only one of the logs judged") for note in joined.notes)
    # Without the others it says what is missing.
    [alone] = read_ranking_logs(paths[1:])
    assert any("Only matches of x were judged here" in note for note in alone.notes)
    # A bracket's results decided who met whom: it cannot be completed.
    seal = write_log(tmp_path / "seal.eval", [bracket(f"q{n}", "a", "b", "c") for n in range(4)])
    assert len(read_ranking_logs([paths[1], seal])) == 2
