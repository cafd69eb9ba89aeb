import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.publish.fake_hub import BOB, READ, WRITE, FakeHub, Fault
from tests.publish.hub_client import (
    LATEST,
    REPO,
    bundle_of,
    impatient,
    living,
    online,
    publish,
    rows_of,
    run,
)
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.errors import CardError, PublishError, RunConflictError
from tiebreak.publish.hub import publish_bundle
from tiebreak.publish.hub_errors import HubError

COMMIT = r"POST .*/commit/"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with online(monkeypatch) as running:
        yield running


def titles(hub: FakeHub, ref: str = "main") -> list[str]:
    return [commit.title for commit in hub.repos[REPO].history(ref)]


def test_a_first_publication_makes_a_private_dataset_with_everything_in_one_commit(
    hub: FakeHub,
) -> None:
    done = publish(hub, bundle_of(1, 2))
    repo = hub.repos[REPO]
    head = repo.resolve("main")
    assert titles(hub) == ["Add 2 runs: run1, run2", "initial commit"]
    assert head.description == "- run1\n- run2"
    expected = {".gitattributes", "README.md", LATEST, *run(1).files, *run(2).files}
    assert set(head.tree) == expected
    assert all(head.tree[path] == content for path, content in run(1).files.items())
    assert repo.private
    assert (done.url, done.commit) == (f"{hub.url}/datasets/{REPO}", head.oid)
    assert (done.published, done.already) == (("run1", "run2"), ())
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
    publish(hub, bundle_of(1, 2, 3, 4, 5))
    head = hub.repos[REPO].resolve("main")
    assert head.title == "Add 5 runs: run1, run2, run3 and 2 more"
    assert head.description.splitlines() == [f"- run{k}" for k in range(1, 6)]


# Content that is there already.


def test_another_content_under_the_same_run_is_refused_and_nothing_changes(hub: FakeHub) -> None:
    repo = hub.add(REPO)
    path = "runs/run1/manifest.json"
    repo.commit("main", "theirs", {path: b"other"})
    with pytest.raises(
        RunConflictError,
        match=rf"{REPO} holds another {path} already.*--seed are others.*another NAME",
    ):
        publish(hub, bundle_of(1))
    assert titles(hub)[0] == "theirs"


def test_other_bytes_with_the_same_content_count_as_the_same(hub: FakeHub) -> None:
    repo = hub.add(REPO)
    path = "ballots/run1.parquet"
    repo.commit("main", "theirs", {path: b"ROWS"})
    compared = []

    def same(path: str, ours: bytes, theirs: bytes) -> bool:
        compared.append((path, ours, theirs))
        return True

    publish(hub, bundle_of(1), same=same)
    assert repo.resolve("main").tree[path] == b"ROWS"
    assert compared == [(path, b"ballots of run1", b"ROWS")]


def test_a_file_that_somebody_removed_comes_back(hub: FakeHub) -> None:
    repo = hub.add(REPO)
    kept = dict(list(run(1).files.items())[:1])
    repo.commit("main", "a part", kept)
    publish(hub, bundle_of(1))
    assert run(1).files.items() <= repo.resolve("main").tree.items()


def test_no_gitignore_keeps_a_part_of_a_run_out(hub: FakeHub) -> None:
    repo = hub.add(REPO)
    repo.commit("main", "theirs", {".gitignore": b"*.json\nruns/*\n*.md"})
    publish(hub, bundle_of(1))
    assert {"README.md", LATEST, *run(1).files} <= repo.resolve("main").tree.keys()


def test_files_that_the_storage_does_not_take_are_named(hub: FakeHub) -> None:
    hub.largest = 3
    with pytest.raises(HubError, match=r"does not take these files.*storage limit is reached"):
        publish(hub, bundle_of(1))
    assert titles(hub) == ["initial commit"]


def test_a_card_that_is_no_text_is_named(hub: FakeHub) -> None:
    hub.add(REPO).commit("main", "binary", {"README.md": b"\xff\xfe"})
    with pytest.raises(CardError, match=rf"README.md of {REPO} is no UTF-8 text"):
        publish(hub, bundle_of(1))


# Visibility.


@pytest.mark.parametrize(
    ("exists", "private", "after", "made_public"),
    [
        (None, True, True, False),
        (None, False, False, True),
        ("private", True, True, False),
        ("private", False, False, True),
        ("public", True, False, False),
        ("public", False, False, False),
    ],
)
def test_visibility(
    hub: FakeHub, exists: str | None, private: bool, after: bool, made_public: bool
) -> None:
    if exists:
        hub.add(REPO, private=exists == "private")
    done = publish(hub, bundle_of(1), private=private)
    assert (hub.repos[REPO].private, done.private, done.made_public) == (after, after, made_public)
    order = [line.split("?")[0] for line in hub.requests(f"{COMMIT}|/settings")]
    commit, change = (
        f"POST /api/datasets/{REPO}/commit/main",
        f"PUT /api/datasets/{REPO}/settings",
    )
    assert order == ([commit, change] if made_public else [commit])


def test_what_was_published_before_can_be_made_public_later(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    done = publish(hub, bundle_of(1), private=False)
    assert (done.commit, done.made_public, len(titles(hub))) == (None, True, 2)


def test_a_visibility_that_may_not_be_changed_is_told_apart_from_the_publication(
    hub: FakeHub,
) -> None:
    hub.faults.append(Fault("/settings", 403, times=9))
    with pytest.raises(HubError, match=r"^The runs are published, but .* still private\. The Hub"):
        publish(hub, bundle_of(1), private=False)
    assert run(1).files.items() <= hub.repos[REPO].resolve("main").tree.items()
    assert hub.repos[REPO].private


# Faults that pass.

BEFORE = (408, 409, 412, 429, 500, 502, 503, 504, "drop")
AFTER = (408, 500, 502, 503, 504, "drop")
STAGES = {
    "info": "GET .*/revision/main",
    "create": "POST /api/repos/create",
    "tree": "GET .*/tree/",
    "card": "GET .*/resolve/.*README",
    "latest": "GET /lfs/",
    "yaml": "POST /api/validate-yaml",
    "preupload": "POST .*/preupload/",
    "batch": "POST .*/objects/batch",
    "upload": "PUT /lfs/",
    "verify": "POST /lfs/verify",
    "settings": "PUT .*/settings",
}
PASSING = [
    *((COMMIT, what, False) for what in BEFORE),
    *((COMMIT, what, True) for what in AFTER),
    *((stage, what, False) for stage in STAGES.values() for what in (429, 503, "drop")),
    *((STAGES[s], what, True) for s in ("create", "upload", "settings") for what in (504, "drop")),
]


@pytest.mark.parametrize(("stage", "what", "landed"), PASSING)
def test_a_fault_that_passes_costs_a_try_and_nothing_else(
    hub: FakeHub, stage: str, what: Any, landed: bool
) -> None:
    if stage != STAGES["create"]:
        publish(hub, bundle_of(1))
    fault = Fault(stage, what, landed=landed)
    hub.faults.append(fault)
    done = publish(hub, bundle_of(2), private=False)
    assert fault.times == 0, "the fault was met"
    assert titles(hub).count("Add 1 run: run2") == 1
    head = hub.repos[REPO].resolve("main")
    assert run(2).files.items() <= head.tree.items()
    assert (done.published, done.already, done.commit) == (("run2",), (), head.oid)
    assert (done.private, done.made_public, hub.repos[REPO].private) == (False, True, False)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    faults=st.lists(
        st.builds(
            Fault,
            st.sampled_from([COMMIT, COMMIT, *STAGES.values()]),
            st.sampled_from([412, 429, 503, 504, "drop"]),
            st.integers(1, 3),
            st.booleans(),
        ),
        max_size=6,
    ),
    number=st.integers(1, 4),
)
def test_whatever_passes_nothing_is_lost_and_nothing_is_doubled(
    hub: FakeHub, faults: list[Fault], number: int
) -> None:
    hub.repos.clear()
    hub.log.clear()
    hub.faults[:] = faults
    before = impatient(tries=4)
    for k in range(1, number + 1):
        try:
            publish(hub, bundle_of(k), wait=before)
        except HubError:
            hub.faults.clear()
            publish(hub, bundle_of(k), wait=before)  # the same command again
    history = hub.repos[REPO].history()[::-1]
    names = [f"run{k}" for k in range(1, number + 1)]
    assert [commit.title for commit in history[1:]] == [f"Add 1 run: {name}" for name in names]
    for earlier, later in pairwise(history):
        assert earlier.tree.keys() <= later.tree.keys()
    for k in range(1, number + 1):
        assert run(k).files.items() <= history[-1].tree.items()
    assert rows_of(history[-1].tree) == set(names)


def test_a_slow_commit_that_lands_after_all_is_found_and_not_doubled(hub: FakeHub) -> None:
    hub.add(REPO)
    hub.faults.append(Fault(COMMIT, delay=0.6))
    done = publish(hub, bundle_of(1), wait=impatient(timeout=0.3, sleep=lambda _: time.sleep(0.2)))
    assert titles(hub) == ["Add 1 run: run1", "initial commit"]
    assert done.tries > 1
    assert (done.published, done.commit) == (("run1",), hub.repos[REPO].resolve("main").oid)


# Faults that stay.

CLOSED = "http://127.0.0.1:9"
AGAIN = "Run the same command again later"
STAYING: dict[str, tuple[dict[str, Any], Fault | None, str, int]] = {
    "unknown token": (
        {"token": "hf_no"},
        None,
        "does not know this token.*hf auth login.*HF_TOKEN",
        1,
    ),
    "read token": ({"token": READ}, None, "write to alice/ranks.*403.*write token", 1),
    "foreign owner": (
        {"token": BOB},
        None,
        "write to alice/ranks.*namespace.*OWNER that is you",
        1,
    ),
    "foreign owner, no dataset": (
        {"token": BOB, "repo_id": "alice/new"},
        None,
        "write to alice/new.*403.*OWNER that is you",
        1,
    ),
    "gated": (
        {"repo_id": "alice/gated", "token": BOB},
        None,
        "alice/gated is gated.*ask its owner.*/datasets/alice/gated",
        1,
    ),
    "pull request to nothing": (
        {"repo_id": "alice/new", "pull_request": True},
        None,
        "no dataset alice/new.*without --pr",
        1,
    ),
    "no main branch": ({}, Fault("/revision/main", 404, 99), "no dataset|no branch", 1),
    "conflict": ({}, Fault(COMMIT, 409, 99), f"Others kept changing.*409.*12 tries.*{AGAIN}", 12),
    "moved on": ({}, Fault(COMMIT, 412, 99), f"Others kept changing.*412.*12 tries.*{AGAIN}", 12),
    "busy": ({}, Fault(COMMIT, 429, 99), f"fewer requests.*429.*{AGAIN}", 12),
    "busy for an hour": (
        {},
        Fault(COMMIT, 429, 99, headers={"Retry-After": "3600"}),
        f"fewer requests.*429.* to wait 60 min.*{AGAIN}",
        1,
    ),
    "down": ({}, Fault(COMMIT, 503, 99), f"has trouble.*503.*status.huggingface.co.*{AGAIN}", 12),
    "down from the start": ({}, Fault("GET", 500, 99), f"has trouble.*500.*{AGAIN}", 12),
    "down for an hour in a call that the client repeats itself": (
        {},
        Fault("preupload", 503, 99, headers={"Retry-After": "3600"}),
        f"has trouble.*503[^,]*status.huggingface.co.* to wait 60 min.*{AGAIN}",
        1,
    ),
    "dropped": (
        {},
        Fault(COMMIT, "drop", 99),
        f"connection to the Hub broke.*12 tries.*{AGAIN}",
        12,
    ),
    "no network": (
        {"endpoint": CLOSED},
        None,
        f"{CLOSED} cannot be reached.*HF_ENDPOINT.*{AGAIN}",
        5,
    ),
    "too large": ({}, Fault(COMMIT, 413, 99), "refuses this publication.*413.*mend", 1),
    "bad card": ({"license": "nonsense"}, None, 'refuses.*400.*"license" must be one of', 1),
}


@pytest.mark.parametrize("case", STAYING)
def test_a_fault_that_stays_is_one_sentence_that_says_what_to_do(hub: FakeHub, case: str) -> None:
    more, fault, words, tries = STAYING[case]
    repo = hub.add(REPO)
    gated = hub.add("alice/gated", gated=True)
    gated.commit("main", "card", {"README.md": b"x"})
    hub.faults += [fault] if fault else []
    waits: list[float] = []
    policy = impatient(sleep=waits.append)
    usual: dict[str, Any] = {"repo_id": REPO, "endpoint": hub.url, "token": WRITE, "wait": policy}
    with pytest.raises(HubError, match=words) as caught:
        publish_bundle(
            bundle_of(1), **{**usual, **more}, living=living, same=lambda path, a, b: a == b
        )
    message = str(caught.value)
    assert "\n" not in message
    assert "hf_" not in message.replace("hf_no", "hf_"), "no token in a message"
    assert len(waits) == tries - 1
    assert len(repo.history()) == 1, "nothing half there"
    assert caught.value.fault is not None


@pytest.mark.parametrize(
    ("repo_id", "more", "words"),
    [
        ("ranks", {}, "'ranks' is no OWNER/NAME.*whose it is"),
        ("a/b/c", {}, "'a/b/c' is no OWNER/NAME"),
        ("alice/ra nks", {}, "no OWNER/NAME"),
        (REPO, {"token": None}, "needs a token.*hf auth login.*HF_TOKEN"),
        (REPO, {"pull_request": True, "private": False}, "leave out --public or --pr"),
    ],
)
def test_bad_input_is_told_before_anything_is_sent(
    hub: FakeHub, repo_id: str, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(PublishError, match=words):
        publish(hub, bundle_of(1), repo_id, **more)
    assert hub.log == []


def test_offline_mode_is_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubError, match=r"HF_HUB_OFFLINE is set: unset it.*--dry-run"):
        publish(hub, bundle_of(1))


def test_an_error_that_is_not_the_hubs_comes_through(hub: FakeHub) -> None:
    def broken(*args: Any, **more: Any) -> dict[str, bytes]:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError):
        publish(hub, bundle_of(1), living=broken)


def test_the_client_is_left_as_it_was(hub: FakeHub) -> None:
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

    session = get_session()
    before = (session.timeout, [*session.event_hooks["response"]])
    publish(hub, bundle_of(1))
    assert get_session() is session
    assert (session.timeout, session.event_hooks["response"]) == before


# Pull requests.


def test_a_pull_request_proposes_to_somebody_elses_dataset(hub: FakeHub) -> None:
    hub.add(REPO)
    done = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert titles(hub) == ["initial commit"]
    assert titles(hub, "refs/pr/1") == ["Add 1 run: run1", "initial commit"]
    assert run(1).files.items() <= hub.repos[REPO].resolve("refs/pr/1").tree.items()
    assert (done.pull_request, done.published) == (1, ("run1",))
    assert done.url == f"{hub.url}/datasets/{REPO}/discussions/1"
    again = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert list(hub.repos[REPO].pull_requests) == [1]
    assert (again.pull_request, again.commit, again.already) == (1, None, ("run1",))


@pytest.mark.parametrize("what", [502, 504, "drop"])
def test_a_pull_request_that_had_landed_is_found_and_not_doubled(hub: FakeHub, what: Any) -> None:
    hub.add(REPO)
    hub.faults.append(Fault(COMMIT, what, landed=True))
    done = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert list(hub.repos[REPO].pull_requests) == [1]
    assert (done.pull_request, done.published, done.tries) == (1, ("run1",), 2)
    assert done.commit == hub.repos[REPO].resolve("refs/pr/1").oid


def test_a_pull_request_of_the_same_title_with_other_files_is_not_ours(hub: FakeHub) -> None:
    repo = hub.add(REPO)
    repo.pull_requests[1] = "Add 1 run: run1"
    repo.refs["refs/pr/1"] = repo.refs["main"]
    done = publish(hub, bundle_of(1), pull_request=True, token=BOB)
    assert done.pull_request == 2


def test_what_was_merged_is_not_proposed_again(hub: FakeHub) -> None:
    publish(hub, bundle_of(1))
    done = publish(hub, bundle_of(1), pull_request=True)
    assert (done.pull_request, done.commit, hub.repos[REPO].pull_requests) == (None, None, {})


# Several at once.


def test_six_publishers_at_once_lose_nothing(hub: FakeHub) -> None:
    hub.add(REPO)
    start = threading.Barrier(6)
    first = threading.local()
    outcomes: dict[int, Any] = {}

    def living_at_once(bundle: Bundle, **there: Any) -> dict[str, bytes]:
        # All six look before any of them commits: five commits must be refused.
        if not getattr(first, "done", False):
            first.done = True
            start.wait(timeout=20)
        return living(bundle, **there)

    def one(number: int) -> None:
        policy = impatient(sleep=lambda seconds: time.sleep(seconds / 50))
        try:
            done = publish(hub, bundle_of(number), living=living_at_once, wait=policy)
        except Exception as error:
            outcomes[number] = error
        else:
            outcomes[number] = done

    threads = [threading.Thread(target=one, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert {number: done.published for number, done in outcomes.items()} == {
        number: (f"run{number}",) for number in range(1, 7)
    }
    assert sum(done.tries for done in outcomes.values()) >= 6 + 5
    history = hub.repos[REPO].history()[::-1]
    assert len(history) == 1 + 6
    assert {done.commit for done in outcomes.values()} == {commit.oid for commit in history[1:]}
    for k, commit in enumerate(history[1:], start=1):
        assert len(rows_of(commit.tree)) == k, "each commit adds one run to what was there"
        assert history[k - 1].tree.keys() <= commit.tree.keys()
    for number in range(1, 7):
        assert run(number).files.items() <= history[-1].tree.items()


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
    monkeypatch: pytest.MonkeyPatch,
    lands_at: int,
    fault: Fault | None,
    published: tuple[str, ...],
    already: tuple[str, ...],
) -> None:
    repo = hub.add(REPO)
    hub.faults += [replace(fault)] if fault else []
    made = bundle_of(1)
    there: dict[str, Any] = {"readme": None, "paths": (), "license": None, "repo_id": REPO}
    files = {**run(1).files, **living(made, read=lambda path: b"", **there)}
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
