"""Real logs, the real bundle, the real clients: what was published is what readers load."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.publish.fake_hub import WRITE, FakeHub, Fault
from tests.publish.hub_client import LATEST, REPO, impatient
from tests.publish.judged_runs import bundle, rows_in, write_both
from tiebreak.candidates import load_candidates
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.hub import Outcome, publish_bundle
from tiebreak.rankers import Resampling


def publish(hub: FakeHub, made: Bundle) -> Outcome:
    return publish_bundle(made, REPO, token=WRITE, endpoint=hub.url, wait=impatient())


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


READ_BACK = """
import json, sys
from datasets import load_dataset
from tiebreak.candidates import load_candidates

repo = sys.argv[1]
read = {
    f"{config}/{split}": load_dataset(repo, config, split=split).to_list()
    for config, split in json.loads(sys.argv[2])
}
pool = load_candidates(f"hf://datasets/{repo}")
answers = [[item.item_id, model, c.text] for item, row in pool for model, c in row.items()]
print(json.dumps({"rows": read, "answers": answers}, default=str))
"""


def in_child(hub: FakeHub, home: Path, *command: str) -> Any:
    # The clients read their settings when they are imported: hence a process of its own.
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": WRITE,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_what_the_command_publishes_is_what_load_dataset_and_load_candidates_give_back(
    hub: FakeHub, tmp_path: Path
) -> None:
    write_both(tmp_path)
    logs = str(tmp_path / "ranking")
    scores = tmp_path / "scores.csv"
    scores.write_text("model,x,y\na,3,1\nb,2,2\nc,1,3\n")
    said = in_child(
        hub,
        tmp_path / "home",
        *("-c", "from tiebreak.cli.verbs import main; main()", "publish", logs),
        *("--to", REPO, "--with-candidates", "--candidates", str(tmp_path / "candidates")),
        *("--scores", str(scores), "--eliminate", "0,1"),
        *("--draws", "100", "--license", "cc-by-4.0", "--json"),
    )
    run, contest = json.loads(said)["published"]
    assert contest == json.loads(said)["contest"]
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
    splits = json.dumps([name.split("/") for name in files])
    read = json.loads(in_child(hub, tmp_path / "home", "-c", READ_BACK, REPO, splits))
    for name, path in files.items():
        expected = json.loads(json.dumps(rows_in(tree[path]), default=str))
        assert read["rows"][name] == expected
        assert expected
    pool = load_candidates(tmp_path / "candidates")
    answers = [[item.item_id, model, c.text] for item, row in pool for model, c in row.items()]
    assert read["answers"] == answers
