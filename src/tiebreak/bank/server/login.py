"""How a browser is logged in: the organiser's token in a cookie, and a proof on every form.

The cookie is sent to the organiser's pages alone, never to a script, and never from another site.
A form proves that it is one of these pages' by a value that is made of the token, which no other
site knows; the form to log in by one that stands in a cookie of its own.
"""

import hashlib
import hmac
import secrets
from typing import Final

from fastapi import Request
from starlette.responses import Response

from tiebreak.bank.errors import BankError

PATH: Final = "/organiser"
COOKIE: Final = "tiebreak_organiser"
BEFORE: Final = "tiebreak_login"
"""The cookie of somebody who is not logged in yet."""

LIFE: Final = 3600
"""Seconds after which a browser forgets a token."""

_OWN: Final = frozenset(("same-origin", "none"))


def token_of(request: Request) -> str:
    """The token of a browser that is logged in; empty otherwise."""
    return request.cookies.get(COOKIE, "")


def proof_of(token: str) -> str:
    """What a form says that belongs to a token."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def new_proof(request: Request) -> str:
    """What the form to log in says; the cookie of an earlier form is kept."""
    known = request.cookies.get(BEFORE, "")
    return known if len(known) == 64 and known.isalnum() else secrets.token_hex(32)


def require_own(request: Request, given: str, proof: str) -> None:
    """That a form is one of these pages.

    Raises:
        BankError: it is not ("refused").
    """
    # A browser says truly where a form comes from; one that says nothing is old.
    site = request.headers.get("sec-fetch-site", "none")
    same = bool(proof) and hmac.compare_digest(given.encode(), proof.encode())
    if not same or site not in _OWN:
        raise BankError(
            "this form is not of this page, or of an earlier login: load the page again",
            kind="refused",
        )


def keep(response: Response, request: Request, name: str, value: str) -> None:
    """Have a browser keep a cookie."""
    response.set_cookie(
        name,
        value,
        max_age=LIFE,
        path=PATH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def forget(response: Response, name: str) -> None:
    """Have a browser forget a cookie."""
    response.delete_cookie(name, path=PATH, httponly=True, samesite="strict")
