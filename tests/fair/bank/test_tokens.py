"""Tokens: what is believed, with which keys."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from sqlalchemy import Engine, select

from tests.cases import cases
from tests.fair.bank.serving import KEYS, token
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import TOKENS, open_bank
from tiebreak.fair.bank.tokens import (
    LEEWAY,
    MAY,
    PRIVATE,
    PUBLIC,
    SECRET,
    Keys,
    Verifier,
    issue,
    jti_of,
    keys_from,
)

GOOD_SECRET = "0123456789abcdef" * 2


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_bank(tmp_path / "bank.db", create=True)


@pytest.fixture(scope="module")
def pem() -> tuple[str, str]:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def claims(**changed: Any) -> dict[str, Any]:
    """What a good token says, changed: `...` leaves a claim out, a timedelta is from now on."""
    now = datetime.now(UTC)
    given = {
        **{"jti": "0" * 32, "sub": "ada", "iat": now, "exp": now + timedelta(hours=1)},
        **{"institution": "x", "role": "examinee", "permissions": sorted(MAY["examinee"])},
        **changed,
    }
    times = {name: now + value for name, value in given.items() if isinstance(value, timedelta)}
    return {name: value for name, value in (given | times).items() if value is not ...}


def signed(key: str = KEYS.verifying, algorithm: str = "HS256", **changed: Any) -> str:
    return jwt.encode(claims(**changed), key, algorithm=algorithm)


def test_a_token_says_who_holds_it(engine: Engine) -> None:
    given = token(engine, role="examiner", session="1" * 32)
    caller = Verifier(KEYS).read(given)
    assert (caller.user, caller.institution, caller.role) == ("ada", "example.org", "examiner")
    assert (caller.permissions, caller.session) == (MAY["examiner"], "1" * 32)
    with engine.connect() as connection:
        Verifier(KEYS).confirm(connection, caller)
        row = connection.execute(select(TOKENS)).one()
    assert row.jti == caller.token == jti_of(given)
    assert given not in str(row)


LATE = timedelta(seconds=3 * LEEWAY)


@pytest.mark.parametrize(
    "changed",
    [
        *({name: ...} for name in claims()),
        *cases(__file__, "claims"),
        {"exp": -LATE},
        {"iat": LATE},
        {"nbf": LATE},
    ],
    ids=str,
)
def test_claims_that_do_not_hold(changed: dict[str, Any]) -> None:
    with pytest.raises(BankError) as refused:
        Verifier(KEYS).read(signed(**changed))
    assert refused.value.kind == "unidentified"


@pytest.mark.parametrize("apart", [LEEWAY - 5, LEEWAY + 5])
def test_clocks_differ(apart: int) -> None:
    """By a few seconds, of a token that is made and of one that ends."""
    late = timedelta(seconds=apart)
    for given in (signed(iat=late), signed(iat=-LATE, exp=-late)):
        with nullcontext() if apart < LEEWAY else pytest.raises(BankError):
            Verifier(KEYS).read(given)


def test_a_token_that_was_good_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    verifier, given = Verifier(KEYS), signed()
    verifier.read(given)
    monkeypatch.setattr("tiebreak.fair.bank.tokens.LEEWAY", -7200)
    with pytest.raises(BankError, match="expired"):
        verifier.read(given)


def test_a_public_key_is_no_secret(pem: tuple[str, str]) -> None:
    import hashlib
    import hmac
    from base64 import urlsafe_b64encode

    private, public = pem
    keys = keys_from({PRIVATE: private})
    assert keys == keys_from({PRIVATE: private, PUBLIC: public})
    assert Verifier(keys).read(signed(key=private, algorithm="RS256")).user == "ada"
    # PyJWT does not sign with a PEM text as a secret; whoever attacks does.
    message = ".".join(signed().split(".")[:2])
    digest = hmac.new(public.encode(), message.encode(), hashlib.sha256).digest()
    confused = f"{message}.{urlsafe_b64encode(digest).decode().rstrip('=')}"
    with pytest.raises(BankError, match="not valid"):
        Verifier(keys).read(confused)


def test_keys_from_files_and_without_the_private_one(
    pem: tuple[str, str], tmp_path: Path, engine: Engine
) -> None:
    (tmp_path / "public.pem").write_text(pem[1], encoding="utf-8")
    keys = keys_from({PUBLIC: str(tmp_path / "public.pem")})
    assert Verifier(keys).read(signed(key=pem[0], algorithm="RS256")).user == "ada"
    with pytest.raises(BankError, match=PRIVATE):
        issue(engine, keys, user="a", institution="x", role="admin", lifetime=timedelta(days=1))


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, "openssl rand -hex 32"),
        ({SECRET: "short"}, "too short"),
        ({SECRET: GOOD_SECRET, PUBLIC: "x"}, "not both"),
        ({PUBLIC: "/nowhere/key.pem"}, "PEM texts or files"),
        ({PRIVATE: "-----BEGIN PRIVATE KEY-----\nx"}, "PEM texts or files"),
    ],
)
def test_keys_that_are_refused(environment: dict[str, str], says: str) -> None:
    with pytest.raises(BankError, match=says):
        keys_from(environment)


def test_keys_show_no_secret() -> None:
    assert GOOD_SECRET not in repr(keys_from({SECRET: GOOD_SECRET}))


def test_keys_that_do_not_belong_together(pem: tuple[str, str]) -> None:
    other = rsa.generate_private_key(65537, 2048).public_key()
    public = other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    with pytest.raises(BankError, match="does not belong"):
        keys_from({PRIVATE: pem[0], PUBLIC: public})


@pytest.mark.parametrize(
    "changed",
    [{"user": ""}, {"user": "a\nb"}, {"institution": "x" * 129}, {"lifetime": timedelta()}],
    ids=str,
)
def test_tokens_that_are_not_made(engine: Engine, changed: dict[str, Any]) -> None:
    wanted: dict[str, Any] = {"user": "ada", "institution": "x", "role": "examinee"}
    wanted["lifetime"] = timedelta(days=1)
    with pytest.raises(BankError):
        issue(engine, Keys("HS256", GOOD_SECRET, GOOD_SECRET), **wanted | changed)
