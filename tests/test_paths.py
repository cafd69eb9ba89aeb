"""What cannot be read at all is said before it is opened."""

import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import pytest
from inspect_ai.log import read_eval_log

import tiebreak
from tests.cases import cases
from tests.ranking_logs.builders import bracket, write_log
from tiebreak.errors import TiebreakError
from tiebreak.paths import foreign_path_hint, path_list, problem_with


def test_files_and_folders_are_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "link").symlink_to(file)
    assert [problem_with(one) for one in (file, str(tmp_path), tmp_path / "link")] == [""] * 3
    assert path_list(file) == [file]


@pytest.mark.parametrize(
    "call",
    [
        tiebreak.leaderboards,
        tiebreak.leaderboard_df,
        tiebreak.load_candidates,
        tiebreak.read_scores,
        tiebreak.peer_report,
        tiebreak.star_report,
        tiebreak.compare,
        tiebreak.stability,
        tiebreak.contamination,
        partial(tiebreak.compare_pair, first="a", second="b"),
        partial(tiebreak.estimate_cost, protocols=["seal"], judge="openai/gpt-5"),
        partial(tiebreak.write_report, folder="report"),
        partial(tiebreak.publish_dataset, repo_id="me/board", folder="dataset"),
        partial(tiebreak.write_back_ranks, into="logs"),
    ],
)
def test_a_data_frame_is_answered_in_a_sentence(
    call: Callable[[Any], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame({"model": ["a", "b"], "gsm8k": [0.5, 1.0]})
    for given in (frame, [frame]):
        with pytest.raises(TiebreakError, match="DataFrame was given where files"):
            call(given)


def test_a_log_stands_for_its_file(tmp_path: Path) -> None:
    file = tmp_path / "a.eval"
    write_log(file, [bracket("q", "a", "b", "c", protocol="full_pairwise")])
    log = read_eval_log(str(file))
    assert path_list(log) == path_list([log]) == [str(file)]
    [board] = tiebreak.leaderboards([log], how=tiebreak.Resampling(draws=20))
    assert [row.model for row in board.rows] == ["a", "b", "c"]


def test_what_names_no_file_is_named() -> None:
    with pytest.raises(TiebreakError, match="int was given where files and folders are named"):
        path_list(["logs", 3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nothing", "does not exist"),
        ("file/inside", "does not exist"),
        ("gone", "does not exist"),
        ("pipe", "is a pipe, not a file: save it as one first"),
        ("socket", "is a socket, not a file: save it as one first"),
        ("/dev/zero", "is a device, not a file: save it as one first"),
        ("x" * 5_000, "cannot be opened (File name too long)"),
        ("\ud800", "is no path ('utf-8' codec can't encode"),
    ],
)
def test_what_is_said(
    path: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "gone").symlink_to("nowhere")
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert problem_with(path).startswith(problem)


def test_a_zero_byte_is_said_as_this_python_says_it() -> None:
    with pytest.raises(ValueError, match="embedded null") as caught:
        Path("a\0b").stat()
    assert problem_with("a\0b") == f"is no path ({caught.value})"


@pytest.mark.parametrize(
    ("path", "windows", "words"), cases(__file__, "a path of another system is told")
)
def test_a_path_of_another_system_is_told(path: str, windows: bool, words: str) -> None:
    assert words in foreign_path_hint(path, windows=windows)


@pytest.mark.parametrize(
    ("path", "windows"),
    [("logs/a", False), ("C:logs", False), ("a:b", False), ("C:\\logs", True), ("logs/a", True)],
)
def test_other_paths_are_only_missing(path: str, windows: bool) -> None:
    assert foreign_path_hint(path, windows=windows) == ""


@pytest.mark.skipif(os.name == "nt", reason="there it is a path")
def test_a_path_of_windows_is_missing_here_and_the_reason_is_said() -> None:
    assert problem_with("C:\\logs").startswith("does not exist: it is a path of Windows")
