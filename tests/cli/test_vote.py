"""The verb `vote`: what it hands to the page, and what it refuses."""

import shutil
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.handed import wrong_use
from tests.harness import ROOT
from tiebreak.analysis.anchored import DecidingVotes
from tiebreak.cli.verbs import main
from tiebreak.ranking_logs.votes_file import VotesFile, open_votes_file

STUDY = str(ROOT / "examples" / "study")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where pages were served, which end at once."""
    places: list[tuple[str, int]] = []

    def serve(file: VotesFile, host: str, port: int, tell: object) -> None:
        places.append((host, port))

    monkeypatch.setattr("tiebreak.people.page.serve", serve)
    return places


def vote(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["vote", *arguments])
    return done.exit_code, done.output


def test_what_is_asked_goes_into_the_file(served: list[tuple[str, int]], tmp_path: Path) -> None:
    path = tmp_path / "votes.db"
    options = ["--only-open", STUDY, "--host", "::1", "--port", "8000"]
    options += ["--goal", "50", "--shared", "3", "--seed", "4"]
    assert vote(STUDY, "--out", str(path), *options) == (0, "")
    assert served == [("::1", 8000)]
    with open_votes_file(path) as file:
        assert (file.meta.goal, file.meta.seed, file.meta.shared_every) == (50, 4, 3)
        assert (file.meta.kind, file.meta.schedule) == ("matches", "open")
        assert file.meta.sources == (STUDY,)
        # `rank examples/study` says which neighbours it cannot tell apart.
        assert file.meta.open is not None
        assert {frozenset(pair) for pair in file.meta.open["sums"]} == {
            frozenset(pair)
            for pair in (
                ("atlas", "birch"),
                ("birch", "cedar"),
                ("cedar", "delta"),
                ("delta", "ember"),
            )
        }


def test_an_address_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = vote(STUDY, "--out", str(tmp_path / "votes.db"), "--port", str(port))
    assert done[0] == 1
    assert f"cannot be served on 127.0.0.1, port {port} (Address already in use" in done[1]
    assert "give another --host or --port" in done[1]


def test_what_is_refused(
    served: list[tuple[str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study").symlink_to(STUDY)
    wrong_use(__file__, "vote.txt")
    assert served == []
    assert not Path("votes.db").exists()


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ([], "72 votes decide between atlas and birch in 4 of 5 cases, if people prefer what"),
        (
            ["--stars"],
            "72 answers with stars decide between atlas and birch in 4 of 5 cases, if people give",
        ),
    ],
)
def test_a_goal_by_a_judge(
    served: list[tuple[str, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: list[str],
    start: str,
) -> None:
    path = tmp_path / "votes.db"

    def needed(logs: str, *, stars: bool) -> list[DecidingVotes]:
        assert stars == bool(kind)
        return [DecidingVotes("sums", ("atlas", "birch"), 71.2)]

    monkeypatch.setattr("tiebreak.analysis.anchored.votes_to_decide", needed)
    code, output = vote(STUDY, "--out", str(path), "--goal", STUDY, *kind)
    assert code == 0
    assert output.startswith(start)
    with open_votes_file(path) as file:
        assert (file.meta.goal, file.meta.decides) == (72, True)
    assert vote(STUDY, "--out", str(path), "--goal", "30", *kind) == (0, "")
    with open_votes_file(path) as file:
        assert (file.meta.goal, file.meta.decides) == (30, False)


def test_logs_of_other_answers_do_not_go_on_with_a_file(
    served: list[tuple[str, int]], tmp_path: Path
) -> None:
    path = tmp_path / "votes.db"
    assert vote(STUDY, "--out", str(path)) == (0, "")
    shutil.copytree(STUDY, tmp_path / "study")
    code, output = vote(str(tmp_path / "study"), "--out", str(path))
    assert (code, output) == (0, "")  # the same answers from elsewhere
    code, output = vote(STUDY, "--out", str(path), "--rename", "sums=other")
    assert code == 1
    assert "was begun with other answers" in output
