"""The desk's pages as HTML: templates in which every text is escaped, and their style sheet.

Names come from examinees and may be hostile: besides escaping, what cannot be seen or would turn
the text around it is shown as its code (`report.html.visible`), and long names are cut.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final

from starlette.responses import HTMLResponse, Response

from tiebreak.report import html

AT_ONCE: Final = 50
"""Rows of a page."""

_LONGEST: Final = 120
_HERE: Final = Path(__file__).parent


def page(name: str, status: int = 200, **about: Any) -> Response:
    """A page by the name of its template, with what it is about."""
    template = _environment().get_template(f"{name}.html.jinja")
    text = template.render(name=name, cut=cut, when=when, at_once=AT_ONCE, **about)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def cut(text: object) -> str:
    """A text, only its beginning where it is long."""
    shown = str(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def when(time: str | None) -> str:
    """A time of the tables to the second, without its zone, which is UTC."""
    return "–" if time is None else time[:19].replace("T", " ")


@cache
def style() -> str:
    """The style sheet of the report, and what the desk has beside it."""
    report = Path(html.__file__).parent / "page" / "static" / "report.css"
    files = (report, _HERE / "static" / "desk.css")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def picture() -> str:
    """The pages' icon."""
    return (_HERE / "static" / "icon.svg").read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import FileSystemLoader

    return html.environment().overlay(loader=FileSystemLoader(_HERE / "templates"))
