"""Real logs, the real bundle, the real clients: what was published is what readers load."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.publish.fake_hub import WRITE, FakeHub, Fault
from tests.publish.hub_client import LATEST, REPO, publish
from tests.publish.judged_runs import (
    bundle,
    loaded,
    rows_in,
    write_both,
    write_candidates,
    write_ranking,
)
from tests.publish.test_bundle import whole
from tests.publish.test_dataset import ITEMS, NAMES
from tests.ranking_logs.planted_votes import votes_of, write_votes
from tiebreak.candidates import load_candidates
from tiebreak.publish.dataset import publish_dataset
from tiebreak.rankers import Resampling


@pytest.mark.slow
def test_real_runs_add_up_and_are_never_published_twice(hub: FakeHub, tmp_path: Path) -> None:
    earlier, later = (
        bundle(
            [write_both(tmp_path / month, created=f"2026-{month}-01T00:00:00+00:00")],
            how=Resampling(draws=100),
        )
        for month in ("01", "02")
    )
    hub.faults.append(Fault("POST .*/commit/", 504, landed=True))
    new, old = publish(hub, later), publish(hub, earlier)
    tree = hub.repos[REPO].resolve("main").tree
    assert (len(new.published), len(old.published)) == (1, 1)
    full = {path for path in tree if path.startswith("leaderboard/full/")}
    assert full == {f"leaderboard/full/{run}.parquet" for run in new.published + old.published}
    # The older run came later: it is kept in full, and latest does not go back.
    assert {row["run_id"] for row in rows_in(tree[LATEST])} == set(new.published)
    for again in (later, earlier, later):
        assert publish(hub, again).commit is None
    assert len(hub.repos[REPO].history()) == 3


ANSWERS = """
import json, sys
from tiebreak.candidates import load_candidates

pool = load_candidates(f"hf://datasets/{sys.argv[1]}")
print(json.dumps([[item.item_id, model, c.text] for item, row in pool for model, c in row.items()]))
"""


@pytest.mark.slow
def test_what_the_command_publishes_is_what_readers_load(hub: FakeHub, tmp_path: Path) -> None:
    write_both(tmp_path)
    scores = tmp_path / "scores.csv"
    scores.write_text("model,x,y\na,3,1\nb,2,2\nc,1,3\n")
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": WRITE,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }

    def in_child(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", *command],
            env=os.environ | settings,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = f"publish {tmp_path}/ranking --to {REPO} --with-candidates"
    command += f" --candidates {tmp_path}/candidates --scores {scores} --eliminate 0,1"
    command += " --draws 100 --license cc-by-4.0 --json"
    printed = in_child("from tiebreak.cli.verbs import main; main()", *command.split())
    run, contest = json.loads(printed)["published"]
    assert contest == json.loads(printed)["contest"]
    tree = hub.repos[REPO].resolve("main").tree
    files = {
        "leaderboard/latest": LATEST,
        "leaderboard/full": f"leaderboard/full/{run}.parquet",
        "rankings/full": f"rankings/{run}.parquet",
        "ballots/full": f"ballots/{run}.parquet",
        "contests/latest": "contests/latest.parquet",
        "contests/full": f"contests/full/{contest}.parquet",
        "scores/full": f"scores/{contest}.parquet",
    }
    tables = loaded(REPO, files, **settings)
    for name, path in files.items():
        assert tables[name] == json.loads(json.dumps(rows_in(tree[path]), default=str))
        assert tables[name]
    pool = load_candidates(tmp_path / "candidates")
    answers = [[item.item_id, model, c.text] for item, row in pool for model, c in row.items()]
    assert json.loads(in_child(ANSWERS, REPO)) == answers


@pytest.mark.slow
def test_the_layout(tmp_path: Path) -> None:
    made = bundle([write_both(tmp_path)], with_candidates=True)
    [(name, files)] = made.runs.items()
    stems = ("leaderboard", "native", "win-rates")
    pictures = {f"{stem}-gsm8k-seal.{form}" for stem in stems for form in ("svg", "png")}
    assert set(files) == {
        f"leaderboard/full/{name}.parquet",
        f"rankings/{name}.parquet",
        f"ballots/{name}.parquet",
        f"runs/{name}/manifest.json",
        f"plots/{name}/plots.json",
        *(f"plots/{name}/{picture}" for picture in pictures),
    }
    assert [path.partition("/")[0] for path in made.shared] == ["candidates"]
    assert set(whole(made)) == {*made.files, "README.md", "leaderboard/latest.parquet"}
    card = whole(made)["README.md"].decode()
    assert f"(plots/{name}/leaderboard-gsm8k-seal.png)" in card
    assert made.files == bundle([tmp_path], with_candidates=True).files


@pytest.mark.slow
def test_hostile_names(tmp_path: Path) -> None:
    names = ("<script>|`$x$", "../../\u202e\x1b[31m", "b" * 300)
    folder = write_candidates(tmp_path / "candidates", names, task="<img src=x>|`..")
    pool = load_candidates(folder)
    made = bundle([write_ranking(tmp_path / "seal.eval", pool, ranked=names)])
    allowed = set("abcdefghijklmnopqrstuvwxyzTZ0123456789-_./")
    assert all(set(path) <= allowed and ".." not in path for path in made.files)
    [path] = [path for path in made.files if path.startswith("rankings/")]
    assert {row["model"] for row in rows_in(made.files[path])} == set(names)
    card = whole(made)["README.md"].decode()
    assert "<script" not in card
    assert "<img" not in card
    assert "\x1b" not in card
    assert "\u202e" not in card


def test_names_leave_when_asked(tmp_path: Path) -> None:
    path = write_votes(tmp_path / "votes.db", ITEMS, list(votes_of(ITEMS, NAMES)))
    made = tmp_path / "dataset"
    publish_dataset(path, None, folder=made, how=Resampling(draws=100), rater_names=True)
    [manifest] = made.glob("runs/*/manifest.json")
    assert all(name in manifest.read_text(encoding="utf-8") for name in NAMES)
