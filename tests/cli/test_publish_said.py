"""What `publish` says, whole; what it publishes is tested elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import expected
from tests.cli.handed import Enough, Handed, tiebreak
from tiebreak.publish.dataset import Publication, Written
from tiebreak.publish.hub import Outcome

DATASET = "tiebreak.publish.dataset.publish_dataset"
FILES = (
    Written("README.md", 1024, True),
    Written("leaderboard/a.parquet", 1024**2 - 1, False),
    Written("plots/x.svg", 512, True),
    Written("plots/y.svg", 1024, False),
    Written("ballots.parquet", 1024**2, True),
)


def made(
    runs: tuple[str, ...] = (),
    contest: str | None = None,
    sent: Outcome | None = None,
    folder: tuple[Written, ...] = (),
    exports: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    notes: tuple[str, ...] = (),
) -> Publication:
    return Publication(runs, contest, sent, folder, *exports, notes)


def sent(**more: Any) -> Outcome:
    usual: dict[str, Any] = {"url": "https://hub/x", "commit": "c", "private": True, "tries": 1}
    usual |= {"published": (), "already": (), "pull_request": None}
    return Outcome(**{**usual, **more})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


TOLD = [
    ("a --dry-run", made(("r1", "r2"), "c1", folder=FILES)),
    ("a --dry-run --to me/x --public --out y", made(contest="c1", folder=FILES[:2])),
    (
        "a --dry-run --every-eval-ever e --to me/x --community-evals f",
        made(("r1",), folder=FILES[:2], exports=(("p",), ("q", "r"))),
    ),
    ("a --dry-run", made(("r1",), folder=FILES[2:3])),
    ("a --every-eval-ever e", made(exports=(("p",), ()))),
    ("a --to me/x", made(sent=sent(published=("r1", "r2"), already=("r0",)))),
    (
        "a --to me/x --public",
        made(sent=sent(published=("r1",), private=False, made_public=True)),
    ),
    ("a --to me/x", made(sent=sent(already=("r1",), private=False))),
    ("a --to me/x --pr", made(sent=sent(published=("r1",), pull_request=0))),
    (
        "a --dry-run --public --to me/x --every-eval-ever e --community-evals f --json",
        made(("r1",), "c1", folder=FILES[:2], exports=(("p",), ("q",))),
    ),
    ("a --to me/x --json", made(("r1",), "c1", sent=sent(published=("r1",)), notes=("n",))),
    ("a --every-eval-ever e --json", made(("r1",), exports=(("p",), ()))),
]


def test_what_is_said(handed: Handed) -> None:
    texts = []
    for arguments, publication in TOLD:
        handed.instead(DATASET, publication)
        done = tiebreak("publish", *arguments.split())
        assert (done.exit_code, done.stderr) == (0, "")
        texts.append(f"$ tiebreak publish {arguments}\n{done.stdout}")
    expected.check(__file__, "publish.txt", "\n".join(texts))


def test_notes_go_beside_what_is_said(handed: Handed) -> None:
    notes = ("No plots\x1b[2J", "left out: b")
    handed.instead(DATASET, made(sent=sent(published=("r\x1b",)), notes=notes))
    done = tiebreak("publish", "a", "--to", "me/x", "--public")
    assert done.stdout.startswith("Published: r\\x1b\nhttps://hub/x\n")
    assert done.stderr == "Note: No plots\\x1b[2J\nNote: left out: b\n"
    data = json.loads(tiebreak("publish", "a", "--to", "me/x", "--json").stdout)
    assert data["notes"] == list(notes)


@pytest.mark.parametrize("name", ["x/y", "x/y.z", f"x/{'y' * 94}", "_/_", "9/a-b"])
def test_names_of_datasets(handed: Handed, name: str) -> None:
    handed.instead(DATASET, Enough())
    with pytest.raises(Enough):
        tiebreak("publish", "a", "--to", name)


@pytest.mark.parametrize("terminal", [False, True])
def test_waiting_is_said(
    handed: Handed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
) -> None:
    handed.instead(DATASET, made(sent=sent()))
    tiebreak("publish", "a", "--to", "me/x")
    notify = handed.made[0][2]["wait"].notify
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    notify("in 3 s")
    assert capsys.readouterr() == ("", "in 3 s\n")
