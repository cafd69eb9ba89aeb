"""What cannot be read at all is said before it is opened."""

import os
import socket
from pathlib import Path

import pytest

from tiebreak.paths import path_list, problem_with, why_missing


def test_files_and_folders_are_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "link").symlink_to(file)
    assert [problem_with(one) for one in (file, str(tmp_path), tmp_path / "link")] == [""] * 3
    assert path_list(file) == [file]


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
    ("path", "windows", "words"),
    [
        ("C:\\logs\\a", False, "a path of Windows, and this system is another."),
        ("C:\\logs\\a", False, "(under WSL /mnt/c/logs/a)"),
        ("d:/logs", False, "(under WSL /mnt/d/logs)"),
        ("logs\\a", False, ": here a path is written with /, as logs/a"),
        ("/mnt/c/logs", True, ": it is written as on Linux or macOS"),
    ],
)
def test_a_path_of_another_system_is_told(path: str, windows: bool, words: str) -> None:
    assert words in why_missing(path, windows=windows)


@pytest.mark.parametrize(
    ("path", "windows"),
    [("logs/a", False), ("C:logs", False), ("a:b", False), ("C:\\logs", True), ("logs/a", True)],
)
def test_other_paths_are_only_missing(path: str, windows: bool) -> None:
    assert why_missing(path, windows=windows) == ""


@pytest.mark.skipif(os.name == "nt", reason="there it is a path")
def test_a_path_of_windows_is_missing_here_and_the_reason_is_said() -> None:
    assert problem_with("C:\\logs").startswith("does not exist: it is a path of Windows")
