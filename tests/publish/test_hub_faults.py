"""What may go wrong at the Hub, over HTTP with the real client: it passes, or is one sentence."""

import time
import traceback
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.publish.fake_hub import WRITE, FakeHub, Fault
from tests.publish.hub_client import (
    COMMIT,
    REPO,
    bundle_of,
    impatient,
    publish,
    rows_of,
    run,
    titles,
)
from tiebreak.candidates.hub import fault as fault_of
from tiebreak.publish.errors import PublishError
from tiebreak.publish.hub import publish_bundle

pytestmark = pytest.mark.usefixtures("small_files")

# Faults that pass.

BEFORE = (408, 409, 412, 429, 500, 502, 503, 504, "drop")
AFTER = (408, 500, 502, 503, 504, "drop")
STAGES = cases(__file__, "stages")
PASSING = [
    *((COMMIT, what, False) for what in BEFORE),
    *((COMMIT, what, True) for what in AFTER),
    *((stage, what, False) for stage in STAGES.values() for what in (429, 503, "drop")),
    *((STAGES[s], what, True) for s in ("create", "upload", "settings") for what in (504, "drop")),
]


@pytest.mark.parametrize(("stage", "what", "landed"), PASSING)
def test_a_passing_fault_costs_one_try(hub: FakeHub, stage: str, what: Any, landed: bool) -> None:
    if stage != STAGES["create"]:
        publish(hub, bundle_of(1))
    fault = Fault(stage, what, landed=landed)
    hub.faults.append(fault)
    done = publish(hub, bundle_of(2), private=False)
    assert fault.times == 0, "the fault was met"
    assert titles(hub).count("Add 1 run: run2") == 1
    head = hub.repos[REPO].resolve("main")
    assert run(2).items() <= head.tree.items()
    assert (done.published, done.already, done.commit) == (("run2",), (), head.oid)
    assert (done.private, done.made_public, hub.repos[REPO].private) == (False, True, False)


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
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
def test_nothing_is_lost_or_doubled(hub: FakeHub, faults: list[Fault], number: int) -> None:
    hub.repos.clear()
    hub.log.clear()
    hub.faults[:] = faults
    before, met = impatient(tries=4), []
    for k in range(1, number + 1):
        try:
            publish(hub, bundle_of(k), wait=before)
        except PublishError as error:
            met.append(fault_of(error))
            hub.faults.clear()
            publish(hub, bundle_of(k), wait=before)  # the same command again
    assert None not in met
    history = hub.repos[REPO].history()[::-1]
    names = [f"run{k}" for k in range(1, number + 1)]
    assert [commit.title for commit in history[1:]] == [f"Add 1 run: {name}" for name in names]
    for earlier, later in pairwise(history):
        assert earlier.tree.keys() <= later.tree.keys()
    for k in range(1, number + 1):
        assert run(k).items() <= history[-1].tree.items()
    assert rows_of(history[-1].tree) == set(names)


@pytest.mark.slow
def test_a_slow_commit_that_lands_after_all_is_found_and_not_doubled(hub: FakeHub) -> None:
    hub.add(REPO)
    hub.faults.append(Fault(COMMIT, delay=4))
    done = publish(hub, bundle_of(1), wait=impatient(timeout=2, sleep=lambda _: time.sleep(1)))
    assert titles(hub) == ["Add 1 run: run1", "initial commit"]
    assert done.tries > 1
    assert (done.published, done.commit) == (("run1",), hub.repos[REPO].resolve("main").oid)


# Faults that stay.

STAYING: dict[str, Any] = cases(__file__, "staying")


@pytest.mark.parametrize("case", STAYING)
def test_a_fault_that_stays_is_one_sentence_that_says_what_to_do(hub: FakeHub, case: str) -> None:
    more, fault = STAYING[case].get("more", {}), STAYING[case].get("fault")
    words = STAYING[case]["words"].replace("{again}", "Run the same command again later")
    repo = hub.add(REPO)
    gated = hub.add("alice/gated", gated=True)
    gated.commit("main", "card", {"README.md": b"x"})
    hub.faults += [Fault(**fault, times=99)] if fault else []
    waits: list[float] = []
    policy = impatient(sleep=waits.append)
    usual: dict[str, Any] = {"repo_id": REPO, "endpoint": hub.url, "token": WRITE, "wait": policy}
    with pytest.raises(PublishError, match=words) as caught:
        publish_bundle(bundle_of(1), **{**usual, **more})
    message = str(caught.value)
    assert "\n" not in message
    assert "hf_" not in message.replace("hf_no", "hf_"), "no token in a message"
    assert len(waits) + 1 == STAYING[case].get("tries", 1)
    assert len(repo.history()) == 1, "nothing half there"
    assert fault_of(caught.value) is not None


@pytest.mark.parametrize(
    ("repo_id", "more", "words"),
    [
        ("ranks", {}, "'ranks' is not OWNER/NAME.*whose it is"),
        ("a/b/c", {}, "'a/b/c' is not OWNER/NAME"),
        ("alice/ra nks", {}, "not OWNER/NAME"),
        (REPO, {"token": None}, "needs a token.*hf auth login.*HF_TOKEN"),
        (REPO, {"pull_request": True, "private": False}, "leave out --public or --pr"),
    ],
)
def test_bad_input_is_told(hub: FakeHub, repo_id: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises(PublishError, match=words):
        publish(hub, bundle_of(1), repo_id, **more)
    assert hub.log == []


@pytest.mark.parametrize("odd", [" ", "\n", "\x00", "ü", "\t"])
def test_a_token_that_cannot_be_one_is_told_and_not_shown(hub: FakeHub, odd: str) -> None:
    with pytest.raises(PublishError, match=r"a character that no token has.*hf auth login") as told:
        publish(hub, bundle_of(1), token=f"hf_secret{odd}value")
    shown = "".join(traceback.format_exception(told.value))
    assert f"secret{odd}" not in shown
    assert repr(f"secret{odd}")[1:-1] not in shown
    assert hub.log == []
    assert publish(hub, bundle_of(1), token=f" {WRITE}\n").published == ("run1",)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://ada:the-password@127.0.0.1:9", r"Hub at http://127.0.0.1:9 cannot be reached"),
        ("http://ada:the-password@{host}", r"does not know this token \(401"),
        ("http://ada:the/password@127.0.0.1:9", r"cannot be read: check HF_ENDPOINT.* %2F"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_password_in_the_hubs_address_is_not_shown(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, address: str, words: str, known: bool
) -> None:
    address = address.format(host=hub.url.partition("//")[2])
    if known:
        monkeypatch.setenv("HF_ENDPOINT", address)
    with pytest.raises(PublishError, match=words) as told:
        publish_bundle(bundle_of(1), REPO, token=WRITE, endpoint=address, wait=impatient())
    shown = "".join(traceback.format_exception(told.value))
    assert "password@" not in shown
    assert "the-password" not in shown
    assert told.value.__context__ is None


def test_offline_mode_is_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(PublishError, match=r"HF_HUB_OFFLINE is set: unset it.*--dry-run"):
        publish(hub, bundle_of(1))


def test_an_error_of_others_comes_through(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **more: Any) -> dict[str, bytes]:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("tiebreak.publish.latest.changing_files", broken)
    with pytest.raises(ZeroDivisionError):
        publish(hub, bundle_of(1))


def test_the_client_is_left_as_it_was(hub: FakeHub) -> None:
    from huggingface_hub.utils import get_session  # type: ignore[attr-defined]

    session = get_session()
    before = (session.timeout, [*session.event_hooks["response"]])
    publish(hub, bundle_of(1))
    assert get_session() is session
    assert (session.timeout, session.event_hooks["response"]) == before
