"""Tokens (JWT): identity of a user, signed by the server, valid until a time unless revoked.

They define who may do what: role, permissions, and whose sessions (§2.2.2: "prevents any
cross-session or cross-user data access").

    keys_from   reads keys from the environment: HS256 with a secret or RS256 with a pair of keys
    issue       signs a token and stores who holds it
    Verifier    returns a token's holder, if signature, times, claims and the table of tokens agree
    revoke      invalidates a token at once

Only the configured algorithm is accepted, whatever algorithm a token names.
Source: LLMEval-Fair, appendix H, algorithm 1.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import ROLES, TOKENS, Role, now
from tiebreak.fair.bank.sessions import TokenHolder

Permission = Literal[
    "session:create",
    "session:read",
    "question:read",
    "answer:write",
    "result:read",
    "session:read-any",
    "session:close",
    "result:release",
    "token:write",
    "quota:write",
]
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)

_EXAMINEE: Final = frozenset[Permission](
    ("session:create", "session:read", "question:read", "answer:write", "result:read")
)
_EXAMINER: Final = frozenset[Permission](
    ("session:read", "session:read-any", "session:close", "result:release")
)
_ADMIN: Final = _EXAMINER | frozenset[Permission](("token:write", "quota:write"))

MAY: Final[Mapping[Role, frozenset[Permission]]] = MappingProxyType(
    {"examinee": _EXAMINEE, "examiner": _EXAMINER, "admin": _ADMIN}
)
"""Permissions of each role. Organisers take no exams: only examinees see questions."""


@dataclass(frozen=True, slots=True)
class Caller(TokenHolder):
    """The holder of a verified token, who makes a request.

    `permissions` are those that both the role and the token give. `session` is the only one that
    the token is valid for, or None for all of the holder's.
    """

    role: Role
    permissions: frozenset[Permission]
    session: str | None = None


def require(caller: Caller, permission: Permission, session: str | None = None) -> None:
    """Raise BankError ("refused") if a caller may not do something, or not with this session."""
    if permission not in caller.permissions:
        raise BankError(
            f"this token ({caller.role}) may not do that ({permission}): ask the organiser for "
            "one that may",
            kind="refused",
        )
    if caller.session is not None and session != caller.session:
        raise BankError(
            "this token is for another session: ask the organiser for one of your own",
            kind="refused",
        )


SECRET: Final = "TIEBREAK_JWT_SECRET"
PRIVATE: Final = "TIEBREAK_JWT_PRIVATE_KEY"
PUBLIC: Final = "TIEBREAK_JWT_PUBLIC_KEY"

LEEWAY: Final = 10
"""Seconds by which the clocks of two machines may differ."""

_LEAST_SECRET: Final = 32  # bytes, as many as the hash has (RFC 7518, §3.2)
_LEAST_RSA: Final = 2048  # bits (RFC 7518, §3.3)
_REQUIRED: Final = ("exp", "iat", "jti", "sub", "institution", "role", "permissions")
_KEPT: Final = 4096  # verified tokens in the cache
_WRONG_TYPES: Final = (TypeError, ValueError, ArithmeticError, RecursionError)
"""Errors raised by claims of a wrong type."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys to sign and verify tokens; if `signing` is None, tokens cannot be issued."""

    algorithm: Literal["HS256", "RS256"]
    signing: str | None = field(repr=False)
    verifying: str = field(repr=False)


def keys_from(environment: Mapping[str, str] = os.environ) -> Keys:
    """Read the keys in the environment: a secret, or PEM texts or files for RS256.

    Raises:
        BankError: there are no keys, there are two kinds, or they are too weak.
    """
    secret, private, public = (environment.get(name, "") for name in (SECRET, PRIVATE, PUBLIC))
    if secret and (private or public):
        raise BankError(f"set either {SECRET} (HS256) or {PRIVATE} and {PUBLIC} (RS256), not both")
    if private or public:
        return _rsa(private, public)
    if not secret:
        raise BankError(
            f"tokens need a secret: set {SECRET} to at least {_LEAST_SECRET} random bytes "
            "(openssl rand -hex 32), or serve with --development"
        )
    if len(secret.encode()) < _LEAST_SECRET:
        raise BankError(
            f"{SECRET} is too short to be safe: it needs at least {_LEAST_SECRET} bytes "
            "(openssl rand -hex 32)"
        )
    return Keys("HS256", secret, secret)


def issue(
    engine: Engine,
    keys: Keys,
    *,
    user: str,
    institution: str,
    role: Role,
    lifetime: timedelta,
    session: str | None = None,
) -> str:
    """Sign and return a token; its holder is stored, but not the token itself.

    Raises:
        BankError: there is no key to sign with; a name is empty, too long or not printable; the
            role is unknown; or the lifetime is not above zero.
    """
    if keys.signing is None:
        raise BankError(f"this server can only verify tokens: set {PRIVATE} to issue them")
    for label, name in (("user", user), ("institution", institution)):
        if not _is_name(name):
            raise BankError(f"{label} is a name of 1 to 128 printable characters, not {name!r}")
    if role not in ROLES:
        raise BankError(f"{role!r} is not a role: take one of {', '.join(ROLES)}")
    if lifetime <= timedelta():
        raise BankError("a token must be good for some time: give a lifetime above zero")
    issued = datetime.now(UTC)
    expires = issued + lifetime
    holder = {"institution": institution, "role": role, "session": session}
    jti = secrets.token_hex(16)
    times = {"issued": issued, "expires": expires}
    row = {name: time.isoformat(timespec="milliseconds") for name, time in times.items()}
    with engine.begin() as connection:
        connection.execute(insert(TOKENS).values(jti=jti, user=user, **holder, **row))
    claims = {
        **{"jti": jti, "sub": user, "iat": issued, "exp": expires},
        **{name: value for name, value in holder.items() if value is not None},
        "permissions": sorted(MAY[role]),
    }
    return jwt.encode(claims, keys.signing, algorithm=keys.algorithm)


def revoke(engine: Engine, jti: str) -> None:
    """Invalidate a token from now on. Revoking it again changes nothing.

    Raises:
        BankError: no token has that id ("missing").
    """
    t = TOKENS.c
    with engine.begin() as connection:
        if connection.execute(select(t.jti).where(t.jti == jti)).first() is None:
            raise BankError("there is no token with that id (jti)", kind="missing")
        unrevoked = update(TOKENS).where(t.jti == jti, t.revoked.is_(None))
        connection.execute(unrevoked.values(revoked=now()))


def jti_of(token: str) -> str:
    """The id in a token, which is not verified; raise BankError if it is no token."""
    try:
        jti = jwt.decode(token, options={"verify_signature": False}).get("jti")
    except jwt.InvalidTokenError:
        jti = None
    if not isinstance(jti, str):
        raise BankError("that is not a token: give a token, or its id (jti)")
    return jti


class Verifier:
    """Determines who holds a token. May be called from any thread.

    A signature is checked once and cached. The expiry and the table of tokens are checked at every
    request, so that a token revoked by one process is invalid in all.
    """

    _ROW: Final = select(TOKENS).where(TOKENS.c.jti == bindparam("of_jti"))

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._verified: dict[str, tuple[Caller, float]] = {}

    def read(self, token: str) -> Caller:
        """The holder according to the token; call `confirm` next.

        Raises:
            BankError: the token is forged or has expired ("unidentified").
        """
        caller, expires = self._verified.get(token) or self._verify(token)
        if datetime.now(UTC).timestamp() >= expires + LEEWAY:
            raise _unidentified("the token has expired: ask the organiser for a new one")
        return caller

    def confirm(self, connection: Connection, caller: Caller) -> None:
        """Check that the bank's table of tokens agrees with a token.

        Raises:
            BankError: the token was revoked, or is not one of this bank ("unidentified").
        """
        row = connection.execute(self._ROW, {"of_jti": caller.token}).one_or_none()
        if row is None:
            raise _unidentified("the token is not one of this bank: ask the organiser for one")
        if row.revoked is not None:
            raise _unidentified("the token was revoked: ask the organiser for a new one")
        noted = (row.user, row.institution, row.role, row.session)
        if noted != (caller.user, caller.institution, caller.role, caller.session):
            raise _unidentified("the token says something else than the bank's list of tokens")

    def _verify(self, token: str) -> tuple[Caller, float]:
        try:
            claims = jwt.decode(
                token,
                self._keys.verifying,
                algorithms=[self._keys.algorithm],
                leeway=LEEWAY,
                options={"require": list(_REQUIRED)},
            )
            read = _caller(claims), float(claims["exp"])
        except jwt.ExpiredSignatureError as error:
            raise _unidentified("the token has expired: ask the organiser for a new one") from error
        except (jwt.InvalidTokenError, *_WRONG_TYPES) as error:
            raise _unidentified(
                "the token is not valid: send the organiser's token as Authorization: Bearer TOKEN"
            ) from error
        if len(self._verified) >= _KEPT:
            self._verified.clear()
        self._verified[token] = read
        return read


def _caller(claims: Mapping[str, Any]) -> Caller:
    permissions, session = claims["permissions"], claims.get("session")
    texts = [claims[name] for name in ("sub", "institution", "jti")]
    texts += [session] if session is not None else []
    if not all(map(_is_name, texts)) or claims["role"] not in ROLES:
        raise ValueError("claims")
    if not isinstance(permissions, list) or not set(permissions) <= set(PERMISSIONS):
        raise ValueError("permissions")
    return Caller(
        user=claims["sub"],
        institution=claims["institution"],
        role=claims["role"],
        permissions=MAY[claims["role"]] & frozenset(permissions),
        token=claims["jti"],
        session=session,
    )


def _is_name(given: object) -> bool:
    """Whether a value is 1 to 128 printable characters, which all databases store unchanged."""
    return isinstance(given, str) and 0 < len(given) <= 128 and given.isprintable()


def _rsa(private: str, public: str) -> Keys:
    try:
        signing = serialization.load_pem_private_key(_pem(private), None) if private else None
        verifying = serialization.load_pem_public_key(_pem(public)) if public else None
    except (OSError, ValueError, TypeError) as error:
        raise BankError(f"{PRIVATE} and {PUBLIC} are PEM texts or files: {error}") from error
    if signing is not None and not isinstance(signing, RSAPrivateKey):
        raise BankError(f"{PRIVATE} is not an RSA key: make one with openssl genrsa 3072")
    derived = signing.public_key() if signing is not None else None
    key = verifying if verifying is not None else derived
    if not isinstance(key, RSAPublicKey):
        raise BankError(f"{PUBLIC} is not an RSA key: make it with openssl rsa -pubout")
    if derived is not None and derived.public_numbers() != key.public_numbers():
        raise BankError(f"{PUBLIC} does not belong to {PRIVATE}: leave it out")
    if key.key_size < _LEAST_RSA:
        raise BankError(f"an RSA key of {key.key_size} bits is too weak: use {_LEAST_RSA}")
    text = key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()
    return Keys("RS256", _pem(private).decode() if private else None, text)


def _pem(given: str) -> bytes:
    return given.encode() if given.lstrip().startswith("-----BEGIN") else Path(given).read_bytes()


def _unidentified(message: str) -> BankError:
    return BankError(message, kind="unidentified")
