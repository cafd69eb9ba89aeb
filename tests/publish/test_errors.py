"""What the Hub's refusals become: whole sentences, and what waiting is worth."""

import pytest

from tiebreak.candidates.hub import Fault, Kind
from tiebreak.publish.errors import PublishError, sentence
from tiebreak.publish.hub import RetryPolicy, _title
from tiebreak.publish.secrets import Secret, without_secrets

AGAIN = "Run the same command again later: what has arrived is recognised, nothing is doubled."


def said(kind: Kind, tries: int = 1, **more: object) -> str:
    fault = Fault(**{"kind": kind, "status": None, "message": "", "retry_after": None} | more)  # type: ignore[arg-type]
    return sentence(fault, "me/ranks", "https://hub", tries)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            said("busy", status=429, message="Slow down", retry_after=90.0, tries=3),
            "The Hub asks for fewer requests (429: Slow down), also at the last of 3 tries. "
            f"It asks to wait 90 s. {AGAIN}",
        ),
        (said("busy", status=429), f"The Hub asks for fewer requests (429). {AGAIN}"),
        (
            said("busy", retry_after=119.4, tries=2),
            "The Hub asks for fewer requests, also at the last of 2 tries. It asks to wait 119 s. "
            f"{AGAIN}",
        ),
        (
            said("busy", retry_after=120.0),
            f"The Hub asks for fewer requests. It asks to wait 2 min. {AGAIN}",
        ),
        (
            said("missing", message="not found"),
            "There is no dataset me/ranks that this token may see (not found): check OWNER/NAME; "
            "without --pr, a dataset of your own is created.",
        ),
        (
            said("gated", status=403),
            "me/ranks is gated (403): ask its owner for access at https://hub/datasets/me/ranks, "
            "then publish again.",
        ),
        (
            said("unreachable", message="no route", tries=5),
            "The Hub at https://hub cannot be reached (no route): check the network, a proxy and "
            f"HF_ENDPOINT. {AGAIN}",
        ),
        (
            said("disk", message="full"),
            "A file cannot be read or written on this machine (full): free some space or check the "
            "permissions, then publish again.",
        ),
    ],
)
def test_a_refusal_is_one_sentence(told: str, words: str) -> None:
    assert told == words


def test_how_patient_a_publication_is() -> None:
    usual = RetryPolicy()
    assert (usual.tries, usual.calls, usual.total) == (12, 5, 600.0)
    assert (usual.first, usual.longest, usual.timeout) == (1.0, 30.0, 120.0)


@pytest.mark.parametrize(
    ("runs", "title"),
    [
        ([], "Renew the card"),
        (["a"], "Add 1 run: a"),
        (["a", "b", "c"], "Add 3 runs: a, b, c"),
        (["a", "b", "c", "d"], "Add 4 runs: a, b, c and 1 more"),
    ],
)
def test_titles_of_commits(runs: list[str], title: str) -> None:
    assert _title(runs) == title


def test_an_error_shows_no_secret_and_the_longer_one_is_hidden_first() -> None:
    secrets = [Secret("x", "hunter2"), Secret("y", "hunter2-and-more"), Secret("z", "nowhere")]
    error = PublishError("failed at hunter2-and-more, and hunter2 too")
    error.__cause__ = ValueError("of hunter2")
    told = without_secrets(error, secrets)
    assert (str(told), told.__cause__) == ("failed at [hidden], and [hidden] too", None)
    # A cause that shows nothing stays; an error of ours comes through as it is.
    error.__cause__ = cause = ValueError("of something else")
    assert without_secrets(error, secrets).__cause__ is cause
    other = KeyError("hunter2")
    assert without_secrets(other, secrets) is other
