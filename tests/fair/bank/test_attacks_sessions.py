"""Examinees who look at others' sessions, skip ahead, answer twice: over real HTTP."""

import pytest

from tests.fair.bank.attacking import Place, answer, ask, opened, said_by
from tests.fair.bank.serving import token
from tiebreak.fair.bank.results import keep
from tiebreak.fair.bank.sessions import close

pytestmark = pytest.mark.slow


def test_nobody_else_takes_part(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        assert ask(owner, path, 1) == 200
        user, home = said_by(ada)["sub"], "example.org"
        others = [("eve", home), (user, "example.net"), (user.upper(), home), (user + " ", home)]
        for name, institution in others:
            with place.client(token(place.engine, user=name, institution=institution)) as eve:
                assert eve.get(path).status_code == 404
                assert (ask(eve, path, 1), answer(eve, path, 1, "spoilt")) == (404, 404)
                assert eve.get(path.upper().replace("/SESSIONS", "/sessions")).status_code == 404
        assert answer(owner, path, 1, "my own") == 200


WRONG: tuple[str, ...]
WRONG = ("0", "-1", "1000000000", "1e3", "1.5", "0x1", "1_0", "NaN", "١", "²", "", "%00", "1%00")
WRONG += ("9" * 5000, "..%2f1", "*", "1;2", "1,2", "%2531", "null", "true", "[1]")


@pytest.mark.parametrize("k", WRONG, ids=lambda k: k[:12])
def test_positions_that_are_none(place: Place, ada: str, k: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        assert ask(owner, path, 1) == 200
        assert ask(owner, path, k) in (404, 307)
        assert answer(owner, path, k) in (404, 405, 307)
        assert owner.get(path).json()["answered"] == 0


@pytest.mark.parametrize("k", [0, -1, 10**9, 10**400, 1.0, 1e3, 1.5, "3", True, None, [1], {}])
def test_numbers_of_questions_that_are_none(place: Place, ada: str, k: object) -> None:
    with place.client(ada) as owner:
        wanted = {"json": {"k": k, "model": "m"}, "headers": {"Idempotency-Key": "first"}}
        assert owner.post("/sessions", **wanted).status_code == 422  # type: ignore[arg-type]


def test_results_are_the_owners(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        assert owner.get(f"{path}/results").status_code == 403
        close(place.engine, path.rpartition("/")[2])
        assert owner.get(f"{path}/results").status_code == 403
        keep(place.engine, path.rpartition("/")[2], {"score": 1.0}, released=True)
        assert owner.get(f"{path}/results").json() == {"score": 1.0}
    user = said_by(ada)["sub"]
    for more, status in [
        ({"user": "eve"}, 404),
        ({"user": user, "institution": "example.net"}, 404),
        ({"user": user, "role": "examiner"}, 403),
        ({"user": user, "role": "admin"}, 403),
    ]:
        with place.client(token(place.engine, **more)) as eve:
            assert eve.get(f"{path}/results").status_code == status


def test_a_whole_session_tells_no_secret(place: Place, ada: str) -> None:
    """What is said here is searched when the server has ended, with all else that it said."""
    with place.client(ada) as owner:
        path = opened(owner, k=30)
        for k in range(1, 31):
            assert (ask(owner, path, k), answer(owner, path, k)) == (200, 200)
        for page in ("/openapi.json", "/", "/health", path, f"{path}/results", "/nowhere", "/docs"):
            owner.get(page)
        given = [reply.json() for reply in place.replies if "/questions/" in str(reply.url)]
        assert sum("question" in one for one in given) >= 30
