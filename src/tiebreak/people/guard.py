"""Common parts of served pages: strict headers, forms with a proof of origin, templates."""

import hashlib
import hmac
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from starlette.responses import HTMLResponse, Response

from tiebreak.report import html

ICON: Final = Path(__file__).parent / "static" / "icon.svg"
"""Icon of the served pages."""

REPORT_STYLE: Final = Path(html.__file__).parent / "page" / "static" / "report.css"

_OWN: Final = frozenset(("same-origin", "none"))


def headers(**more: str) -> Mapping[str, str]:
    """Headers of every response; `more` has other sources that a page may load, e.g. script_src."""
    policy = {
        "default-src": "'none'",
        "style-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def proof_of(secret: str) -> str:
    """The proof in a form that it belongs to a secret, which no other site knows."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def same(given: str, expected: str) -> bool:
    """Whether a given value equals a non-empty expected one, compared in constant time."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


def is_own_form(given: str, proof: str, site: str | None) -> bool:
    """Whether a form comes from one of these pages, by its proof and the header Sec-Fetch-Site."""
    # Browsers set the header themselves, so pages cannot forge it; old browsers do not send it.
    return same(given, proof) and (site is None or site in _OWN)


def rendered(folder: Path, template: str, status: int = 200, **about: Any) -> Response:
    """Render a template of a folder as a page; `about` are its variables."""
    text = _environment(folder).get_template(f"{template}.html.jinja").render(**about)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


@cache
def _environment(folder: Path) -> Any:
    from jinja2 import FileSystemLoader

    return html.environment().overlay(loader=FileSystemLoader(folder))


def static(kind: str, *files: Path, **more: str) -> Response:
    """A response with the concatenated files as media type `kind`; `more` are headers."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = {name.replace("_", "-"): value for name, value in more.items()}
    return Response(text, media_type=kind, headers=names)
