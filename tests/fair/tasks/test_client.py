"""The examinee's side of a session, against a server on loopback."""

import socket
import time
from collections.abc import Iterator

import pytest

from tests.cases import cases
from tests.fair.bank.fake_exam import TOKEN, FakeExam, running
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.tasks.fair import Client


@pytest.fixture
def exam() -> Iterator[FakeExam]:
    with running(FakeExam(quota=5)) as found:
        yield found


@pytest.fixture
def client(exam: FakeExam, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return Client(exam.address + "/", TOKEN)


def test_a_session_is_found_again_by_what_it_is_for(exam: FakeExam, client: Client) -> None:
    first = client.start(2, "m", "zero_shot")
    assert (first.id, first.k, first.answered, first.next, first.state) == ("s1", 2, 0, 1, "open")
    given = client.question("s1", 1)
    assert (given.position, given.of, given.category, given.options) == (1, 2, "Law", ("x", "y"))
    client.answer("s1", 1, "x")
    standing = client.start(2, "m", "zero_shot")
    assert (standing.id, standing.answered, standing.next) == ("s1", 1, 2)
    client.answer("s1", 2, "y")
    assert client.start(2, "m", "zero_shot").next is None
    assert client.start(1, "m", "few_shot").id == "s2"
    client.answer("s2", 1, "")
    assert client.start(2, "m", "zero_shot", "second").id == "s3"


@pytest.mark.parametrize("too_late", [False, True])
@pytest.mark.parametrize("failure", [0, 429, 502, 503, 504])
def test_what_the_network_loses_is_asked_for_again(
    exam: FakeExam, client: Client, failure: int, too_late: bool
) -> None:
    exam.failures, exam.too_late = [failure] * 3, too_late
    client.start(1, "m", "zero_shot")
    exam.failures = [failure] * 2
    assert client.question("s1", 1).question == "What is 1?"
    exam.failures = [failure] * 2
    client.answer("s1", 1, "x")
    assert exam.answers == {"s1": {1: "x"}}
    assert len(exam.calls) == 4 + 3 + 3


def test_a_server_that_is_gone_is_an_error_that_says_how_to_go_on(exam: FakeExam) -> None:
    exam.failures = [0] * 100
    with pytest.raises(BankError, match=r"http://127.* gives no answer .* inspect eval-retry"):
        Client(exam.address, TOKEN, patience=0.1).question("s1", 1)


def test_a_server_that_stays_unavailable_is_an_error(exam: FakeExam) -> None:
    exam.failures = [503] * 100
    with pytest.raises(BankError, match=r"refuses \(503\): down for a moment"):
        Client(exam.address, TOKEN, patience=0.1).question("s1", 1)


@pytest.mark.parametrize(("token", "call", "message"), cases(__file__, "what a server refuses"))
def test_what_a_server_refuses(
    exam: FakeExam, token: str, call: list[object], message: str
) -> None:
    lab = Client(exam.address, TOKEN)
    lab.start(3, "other", "zero_shot")
    lab.answer("s1", 1, "x")
    if call[:2] == ["start", 3]:
        lab.answer("s1", 2, "x")
        lab.answer("s1", 3, "x")
    with pytest.raises(BankError, match=message):
        getattr(Client(exam.address, token), str(call[0]))(*call[1:])


@pytest.mark.parametrize("token", ["", " ", "a b", f"{TOKEN}\nRevoke it with: x", "tök", "a\0"])
def test_a_token_that_cannot_be_sent_is_said_at_once_and_not_shown(token: str) -> None:
    with pytest.raises(BankError, match="TIEBREAK_TOKEN is not one word") as error:
        Client("http://127.0.0.1:1", token)
    assert not token.strip() or token not in str(error.value)


@pytest.mark.parametrize("server", ["localhost:8000", "exam.example.org", "ftp://x", "http://[::"])
def test_an_address_that_is_none_is_said_at_once(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("it was looked up"))
    with pytest.raises(BankError, match="is not the address of a server, such as https://exam"):
        Client(server, TOKEN).question("s1", 1)


def test_another_site_is_no_server(exam: FakeExam) -> None:
    exam.reply = lambda *given: (200, {"hello": "world"})  # type: ignore[method-assign]
    with pytest.raises(BankError, match="the server's reply lacks 'position'"):
        Client(exam.address, TOKEN).question("s1", 1)
