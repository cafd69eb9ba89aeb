"""What the Hub's refusals become: whole sentences, and what waiting is worth."""

from tests.cases import cases
from tests.expected import check
from tiebreak.candidates.hub import Fault
from tiebreak.publish.errors import PublishError, sentence
from tiebreak.publish.hub import RetryPolicy
from tiebreak.publish.secrets import Secret, without_secrets


def test_a_refusal_is_one_sentence() -> None:
    said = []
    for case in cases(__file__, "refusals"):
        usual = {"status": None, "message": "", "retry_after": None, "tries": 1}
        fault = {**usual, **case}
        tries = fault.pop("tries")
        said.append(sentence(Fault(**fault), "me/ranks", "https://hub", tries))
    check(__file__, "refusals.txt", "\n".join([*said, ""]))


def test_how_patient_a_publication_is() -> None:
    usual = RetryPolicy()
    assert (usual.tries, usual.calls, usual.total) == (12, 5, 600.0)
    assert (usual.first, usual.longest, usual.timeout) == (1.0, 30.0, 120.0)


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
