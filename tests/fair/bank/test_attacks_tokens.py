"""Tokens that are forged, edited, of another server, of another time, revoked: over real HTTP."""

import hashlib
import hmac
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.cases import cases
from tests.fair.bank.attacking import Place, answer, ask, opened, part, said_by
from tests.fair.bank.serving import KEYS, token
from tiebreak.fair.bank.schema import open_bank
from tiebreak.fair.bank.tokens import PERMISSIONS, Keys, issue, jti_of, revoke

pytestmark = pytest.mark.slow


def by_hand(claims: object, header: dict[str, Any], key: bytes) -> str:
    """A token with any header, which libraries would not make, signed with HS256."""
    message = f"{part({'typ': 'JWT', 'alg': 'HS256'} | header)}.{part(claims)}"
    return f"{message}.{part(hmac.new(key, message.encode(), hashlib.sha256).digest())}"


Forge = Callable[[str], str]
"""A token that nobody issued, made from one that somebody did."""


def unsigned(algorithm: object) -> Forge:
    return lambda given: f"{part({'alg': algorithm})}.{part(said_by(given))}."


def headed(name: str, value: object) -> Forge:
    return lambda given: by_hand(said_by(given), {name: value}, b"")


def claiming(name: str, value: object) -> Forge:
    return lambda given: by_hand(said_by(given) | {name: value}, {}, SECRET)


OWN = rsa.generate_private_key(65537, 2048)
OWN_PUBLIC = RSAAlgorithm.to_jwk(OWN.public_key(), as_dict=True)
SECRET = KEYS.verifying.encode()
OTHER = b"somebody else's secret, long enough as well"
FORGERIES: dict[str, Forge] = {
    "another secret": lambda given: by_hand(said_by(given), {}, OTHER),
    "no secret": lambda given: by_hand(said_by(given), {}, b""),
    **{
        f"alg {name}": unsigned(name)
        for name in ("none", "None", "NONE", "nOnE", "", None, ["HS256"], {"HS256": 1})
    },
    "no alg": lambda given: f"{part({})}.{given.split('.', 1)[1]}",
    "RS256 at a server of HS256": lambda given: jwt.encode(said_by(given), OWN, algorithm="RS256"),
    "its own key in jwk": lambda given: jwt.encode(
        said_by(given), OWN, algorithm="RS256", headers={"jwk": OWN_PUBLIC}
    ),
    "its own secret in jwk": lambda given: by_hand(
        said_by(given), {"jwk": {"kty": "oct", "k": part(OTHER)}}, OTHER
    ),
    **{
        f"{name} {value}": headed(name, value)
        for name, value in [
            ("kid", "../../../../dev/null"),
            ("kid", "' UNION SELECT '' --"),
            ("kid", ["a"]),
            ("jku", "http://127.0.0.1:1/keys"),
            ("x5u", "file:///dev/null"),
            ("x5c", ["AAAA"]),
            ("crit", ["exp"]),
            ("b64", False),
            ("zip", "DEF"),
        ]
    },
    "its head cut off": lambda given: given.split(".", 1)[1],
    "no signature": lambda given: given.rsplit(".", 1)[0] + ".",
    "one more part": lambda given: given + ".e30",
    "claims are a list": lambda given: by_hand([said_by(given)], {}, SECRET),
    "claims are deep": lambda given: by_hand(b"[" * 20_000 + b"]" * 20_000, {}, SECRET),
    "claims are no JSON": lambda given: by_hand(b"\xff\xfe", {}, SECRET),
    "an endless number": claiming("exp", 10**400),
    "NaN": claiming("exp", float("nan")),
    "negative infinity": claiming("iat", -1e999),
    "NUL": claiming("jti", "\0"),
    "lone surrogate": claiming("jti", "\ud800"),
    "lone surrogate in a name": claiming("sub", "\ud800"),
    "a long name": claiming("sub", "x" * 30_000),
}


def test_forged_tokens_open_nothing(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        assert ask(owner, path, 1) == 200
    found = {}
    for name, forge in FORGERIES.items():
        with place.client(forge(ada)) as eve:
            found[name] = (eve.get(path).status_code, ask(eve, path, 1), answer(eve, path, 1))
    assert found == dict.fromkeys(FORGERIES, (401, 401, 401))


@pytest.mark.parametrize(
    "claims",
    [
        {"role": "admin"},
        {"role": "examiner", "permissions": list(PERMISSIONS)},
        {"permissions": list(PERMISSIONS)},
        {"session": "0" * 32},
        {"sub": "eve"},
        {"institution": "example.net"},
        {"exp": 2**40},
        {"jti": "0" * 32},
    ],
    ids=str,
)
def test_edited_claims_are_refused(place: Place, ada: str, claims: dict[str, Any]) -> None:
    """With the signature of before; and signed well, by whoever else has the secret."""
    head, _, signature = ada.split(".")
    with place.client(f"{head}.{part(said_by(ada) | claims)}.{signature}") as eve:
        assert eve.get(f"/sessions/{'0' * 32}").status_code == 401
    with place.client(by_hand(said_by(ada) | claims, {}, SECRET)) as eve:
        # More permissions than a role has are none, and a later end is the signer's to give.
        alone = set(claims) <= {"permissions", "exp"}
        assert eve.get(f"/sessions/{'0' * 32}").status_code == (404 if alone else 401)
        assert eve.post(f"/sessions/{'0' * 32}/close").status_code == (403 if alone else 401)
        assert eve.put("/quotas/mine", json={"granted": 9}).status_code == (403 if alone else 401)


@pytest.mark.parametrize("keys", [KEYS, Keys("HS256", OTHER.decode(), OTHER.decode())])
def test_a_token_of_another_server_is_worthless(place: Place, tmp_path: Path, keys: Keys) -> None:
    """Even if both have one secret."""
    other = open_bank(tmp_path / "bank.db", create=True)
    hour = timedelta(hours=1)
    given = issue(other, keys, user="a", institution="example.org", role="admin", lifetime=hour)
    with place.client(given) as eve:
        assert eve.put("/quotas/example.org", json={"granted": 999}).status_code == 401


def test_revoked_in_the_middle(place: Place, ada: str) -> None:
    with place.client(ada) as owner:
        path = opened(owner)
        assert (ask(owner, path, 1), answer(owner, path, 1), ask(owner, path, 2)) == (200,) * 3
        revoke(place.engine, jti_of(ada))
        after = (owner.get(path).status_code, ask(owner, path, 2), answer(owner, path, 2))
        assert after == (401, 401, 401)
        assert owner.post("/sessions", json={}, headers={"Idempotency-Key": "x"}).status_code > 400
    user = said_by(ada)["sub"]
    with place.client(token(place.engine, user=user)) as again:
        assert again.get(path).json()["answered"] == 1
        assert (ask(again, path, 2), answer(again, path, 2)) == (200, 200)


@pytest.mark.parametrize("headers", cases(__file__, "a token stands once in its header"), ids=str)
def test_a_token_stands_once_in_its_header(
    place: Place, ada: str, headers: list[tuple[str, str]]
) -> None:
    with place.client(ada) as anybody:
        del anybody.headers["Authorization"]
        given = [(name, value.format(t=ada)) for name, value in headers]
        for path in (f"/sessions/{'0' * 32}", f"/sessions/{'0' * 32}?token={ada}"):
            assert anybody.get(path, headers=given).status_code == 401
