"""`publish_dataset`: real logs in one call, to a folder and to a Hub."""

import json
import re
from pathlib import Path

import pytest

from tests.publish.fake_hub import FakeHub
from tests.publish.hub_client import LATEST, REPO, send
from tests.publish.judged_runs import bundle, contents, rows_in, write_both
from tests.ranking_logs.planted_votes import items_of, votes_of, write_votes
from tiebreak.publish.card import README
from tiebreak.publish.dataset import publish_dataset
from tiebreak.publish.errors import PublishError
from tiebreak.rankers import Resampling

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_plots")]

HOW = Resampling(draws=20)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_both(tmp_path)


def test_a_folder_and_the_hub_hold_the_same(hub: FakeHub, log: Path, tmp_path: Path) -> None:
    looked = publish_dataset([log], REPO, folder=tmp_path / "ranks", how=HOW)
    done = send(hub, log, how=HOW)
    tree = dict(hub.repos[REPO].resolve("main").tree)
    del tree[".gitattributes"]
    assert contents(tmp_path / "ranks") == tree
    sizes = {path: len(content) for path, content in tree.items()}
    assert {file.path: file.size for file in looked.folder if file.new} == sizes
    assert tree.keys() == {*bundle([log], how=HOW).files, README, LATEST}
    assert looked.sent is None
    assert done.sent is not None
    assert done.sent.published == done.runs == looked.runs
    assert hub.repos[REPO].private
    assert [note.split(":")[0] for note in done.notes] == ["No plots without matplotlib"]
    again = send(hub, log, how=HOW, private=False)
    assert again.sent is not None
    assert (again.sent.commit, again.sent.already) == (None, done.runs)
    assert not hub.repos[REPO].private


def test_a_proposal(hub: FakeHub, log: Path) -> None:
    hub.add(REPO)
    done = send(hub, log, pull_request=True, license="mit", with_candidates=True, how=HOW)
    assert done.sent is not None
    assert done.sent.pull_request == 1
    tree = hub.repos[REPO].resolve("refs/pr/1").tree
    assert b"license: mit" in tree[README]
    [pool] = [path for path in tree if path.startswith("candidates/")]
    assert len(rows_in(tree[pool])) == 3 * 3


def test_records_alone(log: Path, tmp_path: Path) -> None:
    """Nothing is sent or written but what was asked for, and the answers go into the records."""
    done = publish_dataset(
        [log],
        None,
        with_candidates=True,
        candidates=[tmp_path / "candidates"],
        every_eval_ever=tmp_path / "records",
        how=HOW,
    )
    assert (done.sent, done.folder, done.community_evals, done.notes) == (None, (), (), ())
    files = contents(tmp_path / "records")
    assert set(done.every_eval_ever) == files.keys()
    assert len(files) == 2 * 3
    records = [json.loads(files[path]) for path in files if path.endswith(".json")]
    assert {record["model_info"]["name"] for record in records} == {"a", "b", "c"}
    sources = {record["source_metadata"]["source_organization_name"] for record in records}
    assert sources == {"unknown"}


def test_entries_link_to_the_dataset(log: Path, tmp_path: Path) -> None:
    evals = tmp_path / "evals"
    done = publish_dataset([log], REPO, folder=tmp_path / "ranks", community_evals=evals, how=HOW)
    files = contents(evals)
    assert set(done.community_evals) == files.keys()
    assert len(files) == 3
    assert all(REPO.encode() in content for content in files.values())
    with pytest.raises(PublishError, match="need OWNER/NAME"):
        publish_dataset([log], None, community_evals=evals)


ITEMS = items_of(30)
NAMES = ("annabel-q7x", "benedict-k2v")
QUICK = Resampling(draws=100)


@pytest.mark.slow
def test_no_name_of_a_rater_leaves(tmp_path: Path) -> None:
    from datasets import load_dataset

    votes = list(votes_of(ITEMS, NAMES))
    path = write_votes(tmp_path / "votes.db", ITEMS, votes)
    made = tmp_path / "dataset"
    publish_dataset(path, None, folder=made, how=QUICK)
    ballots = load_dataset(str(made), "ballots", split="full", cache_dir=str(tmp_path / "cache"))
    assert set(ballots["judge"]) == {"rater 1", "rater 2"}
    assert len(ballots) == len([vote for vote in votes if vote.choice != "identical"])
    board = load_dataset(str(made), "leaderboard", split="full", cache_dir=str(tmp_path / "cache"))
    assert set(board["protocol"]) == {"votes"}
    tables = [str(row) for table in (ballots, board) for row in table]
    others = [file.read_bytes() for file in made.rglob("*") if file.is_file()]
    for name in NAMES:
        assert not any(name in row for row in tables)
        assert not any(re.search(name.encode(), content) for content in others)
    assert "people" in (made / "README.md").read_text(encoding="utf-8")
