import re
from dataclasses import replace
from typing import Any

import pytest

from tests.cases import cases
from tests.publish.fake_hub import BOB, FakeHub, Fault
from tests.publish.fake_repo import Repo
from tests.publish.hub_client import (
    COMMIT,
    LATEST,
    REPO,
    bundle_of,
    changing,
    publish,
    rows_of,
    run,
    titles,
)
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import changing_files

pytestmark = pytest.mark.usefixtures("small_files")


@pytest.fixture
def repo(hub: FakeHub) -> Repo:
    """A dataset that is there, and empty."""
    return hub.add(REPO)


def test_a_first_publication_is_one_commit_to_a_private_dataset(hub: FakeHub) -> None:
    done = publish(hub, bundle_of(1, 2, 3))
    repo = hub.repos[REPO]
    head = repo.resolve("main")
    assert titles(hub) == ["Add 3 runs: run1, run2, run3", "initial commit"]
    assert head.description == "- run1\n- run2\n- run3"
    expected = {".gitattributes", "README.md", LATEST, *run(1), *run(2), *run(3)}
    assert set(head.tree) == expected
    assert all(head.tree[path] == content for path, content in run(1).items())
    assert repo.private
    assert (done.url, done.commit) == (f"{hub.url}/datasets/{REPO}", head.oid)
    assert (done.published, done.already) == (("run1", "run2", "run3"), ())
    assert (done.private, done.made_public, done.tries, done.pull_request) == (True, False, 1, None)


def test_publishing_twice_makes_no_second_commit(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    sent = len(hub.requests("^(POST|PUT)"))
    again = publish(hub, bundle_of(1))
    assert len(titles(hub)) == 2
    assert len(hub.requests("^(POST|PUT)")) == sent
    # Hashes tell that a file is there: only the card and the latest leaderboard are read.
    assert len(hub.requests("GET .*/resolve/")) == 2
    assert (again.commit, again.published, again.already) == (None, (), ("run1",))


def test_only_what_is_new_is_added_and_all_else_stays(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    repo = hub.repos[REPO]
    repo.commit("main", "By hand", {"README.md": b"My own words.\nold", "notes.txt": b"mine"})
    done = publish(hub, bundle_of(1, 2))
    tree = repo.resolve("main").tree
    assert (done.published, done.already) == (("run2",), ("run1",))
    assert titles(hub)[0] == "Add 1 run: run2"
    assert tree["README.md"] == b"My own words.\nrun1\nrun2"
    assert tree["notes.txt"] == b"mine"
    assert rows_of(tree) == {"run1", "run2"}


def test_a_lost_card_and_a_new_licence_are_written_without_a_new_run(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    done = publish(hub, bundle_of(1), license="mit")
    tree = hub.repos[REPO].resolve("main").tree
    assert b"license: mit" in tree["README.md"]
    assert titles(hub)[0] == "Renew the card"
    assert (done.published, done.already) == ((), ("run1",))
    assert done.commit == hub.repos[REPO].resolve("main").oid


def test_the_title_names_some_of_many_runs_and_the_description_all(hub: FakeHub) -> None:
    publish(hub, bundle_of(1, 2, 3, 4))
    head = hub.repos[REPO].resolve("main")
    assert head.title == "Add 4 runs: run1, run2, run3 and 1 more"
    assert head.description.splitlines() == [f"- run{k}" for k in range(1, 5)]


def test_other_bytes_of_the_same_content_are_the_same(
    hub: FakeHub, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "ballots/run1.parquet"
    repo.commit("main", "theirs", {path: b"ROWS"})
    compared = []

    def same(path: str, ours: bytes, theirs: bytes) -> bool:
        compared.append((path, ours, theirs))
        return True

    monkeypatch.setattr("tiebreak.publish.latest.same_content", same)
    publish(hub, bundle_of(1))
    assert repo.resolve("main").tree[path] == b"ROWS"
    assert compared == [(path, b"ballots of run1", b"ROWS")]


def test_a_file_that_somebody_removed_comes_back(hub: FakeHub, repo: Repo) -> None:
    kept = dict(list(run(1).items())[:1])
    repo.commit("main", "a part", kept)
    publish(hub, bundle_of(1))
    assert run(1).items() <= repo.resolve("main").tree.items()


def test_no_gitignore_keeps_a_part_of_a_run_out(hub: FakeHub, repo: Repo) -> None:
    repo.commit("main", "theirs", {".gitignore": b"*.json\nruns/*\n*.md"})
    publish(hub, bundle_of(1))
    assert {"README.md", LATEST, *run(1)} <= repo.resolve("main").tree.keys()


def test_files_that_the_storage_does_not_take_are_named(hub: FakeHub) -> None:
    hub.largest = 3
    with pytest.raises(PublishError, match=r"does not take these files.*storage limit is reached"):
        publish(hub, bundle_of(1))
    assert titles(hub) == ["initial commit"]


def test_a_card_that_is_no_text(hub: FakeHub, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiebreak.publish.latest.changing_files", changing_files)
    repo.commit("main", "binary", {"README.md": b"\xff\xfe"})
    with pytest.raises(PublishError, match=r"README\.md in the dataset is not UTF-8 text"):
        publish(hub, Bundle({}, {}))


@pytest.mark.parametrize(
    ("exists", "private", "after", "made_public"), cases(__file__, "visibility")
)
def test_visibility(
    hub: FakeHub, exists: str | None, private: bool, after: bool, made_public: bool
) -> None:
    if exists:
        hub.add(REPO, private=exists == "private")
    done = publish(hub, bundle_of(1), private=private)
    assert (hub.repos[REPO].private, done.private, done.made_public) == (after, after, made_public)
    order = [line.split("?")[0] for line in hub.requests(f"{COMMIT}|/settings")]
    commit = f"POST /api/datasets/{REPO}/commit/main"
    assert order == [commit, f"PUT /api/datasets/{REPO}/settings"][: 1 + made_public]


def test_what_was_published_before_can_be_made_public_later(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    done = publish(hub, bundle_of(1), private=False)
    assert (done.commit, done.made_public, len(titles(hub))) == (None, True, 2)


def test_a_visibility_that_may_not_be_changed_is_told_apart(hub: FakeHub) -> None:
    hub.faults.append(Fault("/settings", 403, times=9))
    words = r"^The runs are published, but .* still private\. The Hub"
    with pytest.raises(PublishError, match=words):
        publish(hub, bundle_of(1), private=False)
    assert run(1).items() <= hub.repos[REPO].resolve("main").tree.items()
    assert hub.repos[REPO].private


def test_a_pull_request_proposes_to_somebody_elses_dataset(hub: FakeHub, repo: Repo) -> None:
    done = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert titles(hub) == ["initial commit"]
    assert titles(hub, "refs/pr/1") == ["Add 1 run: run1", "initial commit"]
    assert run(1).items() <= repo.resolve("refs/pr/1").tree.items()
    assert (done.pull_request, done.published) == (1, ("run1",))
    assert done.url == f"{hub.url}/datasets/{REPO}/discussions/1"
    again = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert list(repo.pull_requests) == [1]
    assert (again.pull_request, again.commit, again.already) == (1, None, ("run1",))


def test_an_open_pull_request_is_found_among_other_runs(hub: FakeHub, repo: Repo) -> None:
    publish(hub, bundle_of(1))
    asked = [publish(hub, bundle_of(1, 2), pull_request=True, token=BOB) for _ in range(2)]
    assert [done.pull_request for done in asked] == [1, 1]
    assert list(repo.pull_requests) == [1]


@pytest.mark.parametrize("what", [502, 504, "drop"])
def test_a_pull_request_that_had_landed_is_found(hub: FakeHub, repo: Repo, what: Any) -> None:
    hub.faults.append(Fault(COMMIT, what, landed=True))
    done = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert list(repo.pull_requests) == [1]
    assert (done.pull_request, done.published, done.tries) == (1, ("run1",), 2)
    assert done.commit == repo.resolve("refs/pr/1").oid


def test_a_pull_request_of_the_same_title_is_not_ours(hub: FakeHub, repo: Repo) -> None:
    repo.pull_requests[1] = "Add 1 run: run1"
    repo.refs["refs/pr/1"] = repo.refs["main"]
    done = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert done.pull_request == 2


def test_what_was_merged_is_not_proposed_again(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    done = publish(hub, bundle_of(1), pull_request=True)
    assert (done.pull_request, done.commit, hub.repos[REPO].pull_requests) == (None, None, {})


@pytest.mark.parametrize(
    ("lands_at", "fault", "published", "already"),
    [
        # Somebody else's commit of the same run is first: ours is refused, and was not needed.
        (1, None, (), ("run1",)),
        # Our own first commit, answered by a 504, lands late and makes our second one refused.
        (2, Fault(COMMIT, 504), ("run1",), ()),
    ],
)
def test_a_run_that_lands_during_a_try_is_there_once(
    hub: FakeHub,
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    lands_at: int,
    fault: Fault | None,
    published: tuple[str, ...],
    already: tuple[str, ...],
) -> None:
    hub.faults += [replace(fault)] if fault else []
    made = bundle_of(1)
    files = {**run(1), **changing(made, {}, license=None, repo_id=REPO)}
    usual = hub.take_fault

    def take_fault(line: str) -> Fault | None:
        if re.search(COMMIT, line) and len(hub.requests(COMMIT)) == lands_at - 1:
            repo.commit("main", "Add 1 run: run1", files)
        return usual(line)

    monkeypatch.setattr(hub, "take_fault", take_fault)
    done = publish(hub, made)
    assert titles(hub) == ["Add 1 run: run1", "initial commit"]
    assert (done.published, done.already, done.tries) == (published, already, lands_at + 1)
    assert done.commit == (repo.refs["main"] if published else None)
