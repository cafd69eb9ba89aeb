"""`publish_dataset`: real logs in one call, to a folder and to a Hub."""

import json
from pathlib import Path

import pytest

from tests.publish.fake_hub import WRITE, FakeHub
from tests.publish.hub_client import LATEST, REPO, impatient
from tests.publish.judged_runs import bundle, rows_in, write_both
from tiebreak.publish.card import README
from tiebreak.publish.dataset import publish_dataset
from tiebreak.publish.errors import PublishError
from tiebreak.rankers import Resampling

pytestmark = pytest.mark.usefixtures("no_plots")

HOW = Resampling(draws=20)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.slow
def test_a_folder_and_the_hub_hold_the_same(hub: FakeHub, tmp_path: Path) -> None:
    log = write_both(tmp_path)
    looked = publish_dataset([log], REPO, folder=tmp_path / "ranks", how=HOW)
    done = publish_dataset(
        [log],
        REPO,
        how=HOW,
        token=WRITE,
        endpoint=hub.url,
        wait=impatient(),
    )
    tree = dict(hub.repos[REPO].resolve("main").tree)
    del tree[".gitattributes"]
    assert contents(tmp_path / "ranks") == tree
    assert {file.path: file.size for file in looked.folder} == {
        path: len(content) for path, content in tree.items()
    }
    assert all(file.new for file in looked.folder)
    assert tree.keys() == {*bundle([log], how=HOW).files, README, LATEST}
    assert looked.sent is None
    assert done.sent is not None
    assert done.sent.published == done.runs == looked.runs
    assert hub.repos[REPO].private
    assert [note.split(":")[0] for note in done.notes] == ["No plots without matplotlib"]
    again = publish_dataset(
        [log], REPO, how=HOW, token=WRITE, endpoint=hub.url, wait=impatient(), private=False
    )
    assert again.sent is not None
    assert (again.sent.commit, again.sent.already) == (None, done.runs)
    assert not hub.repos[REPO].private


@pytest.mark.slow
def test_a_proposal(hub: FakeHub, tmp_path: Path) -> None:
    hub.add(REPO)
    done = publish_dataset(
        [write_both(tmp_path)],
        REPO,
        pull_request=True,
        license="mit",
        with_candidates=True,
        how=HOW,
        token=WRITE,
        endpoint=hub.url,
        wait=impatient(),
    )
    assert done.sent is not None
    assert done.sent.pull_request == 1
    tree = hub.repos[REPO].resolve("refs/pr/1").tree
    assert b"license: mit" in tree[README]
    [pool] = [path for path in tree if path.startswith("candidates/")]
    assert len(rows_in(tree[pool])) == 3 * 3


@pytest.mark.slow
def test_records_alone(tmp_path: Path) -> None:
    """Nothing is sent or written but what was asked for, and the answers go into the records."""
    log = write_both(tmp_path)
    done = publish_dataset(
        [log],
        None,
        with_candidates=True,
        candidates=[tmp_path / "candidates"],
        every_eval_ever=tmp_path / "records",
        how=HOW,
    )
    assert (done.sent, done.folder, done.community_evals, done.notes) == (None, (), (), ())
    assert set(done.every_eval_ever) == contents(tmp_path / "records").keys()
    assert len(done.every_eval_ever) == 2 * 3
    records = [one for one in done.every_eval_ever if one.endswith(".json")]
    said = [json.loads((tmp_path / "records" / one).read_text()) for one in records]
    assert {one["model_info"]["name"] for one in said} == {"a", "b", "c"}
    sources = {one["source_metadata"]["source_organization_name"] for one in said}
    assert sources == {"unknown"}


@pytest.mark.slow
def test_entries_link_to_the_dataset(tmp_path: Path) -> None:
    log = write_both(tmp_path)
    done = publish_dataset(
        [log], REPO, folder=tmp_path / "ranks", community_evals=tmp_path / "evals", how=HOW
    )
    files = contents(tmp_path / "evals")
    assert set(done.community_evals) == files.keys()
    assert len(files) == 3
    assert all(REPO.encode() in content for content in files.values())
    with pytest.raises(PublishError, match="need OWNER/NAME"):
        publish_dataset([log], None, community_evals=tmp_path / "evals")


@pytest.mark.slow
def test_a_secret_stops_the_records_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_both(tmp_path)
    monkeypatch.setenv("MY_TOKEN", "a says 0")
    with pytest.raises(PublishError, match=r"would hold the value of .*MY_TOKEN"):
        publish_dataset(
            [log], None, with_candidates=True, every_eval_ever=tmp_path / "records", how=HOW
        )
    assert not (tmp_path / "records").exists()
