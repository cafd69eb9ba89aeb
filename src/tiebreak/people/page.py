"""The page where people vote, served on this machine.

    GET  /?key=SECRET   the printed address: the browser stores the secret in a cookie
    GET  /              the rater's name, then their question; `view` is how answers are shown
    POST /rater         sets the name under which this browser votes
    POST /vote, /undo   stored durably before the next page is shown
    GET  /style.css, /keys.js, /icon.svg

Requests without the secret are refused. A form proves that it comes from this page by a value
derived from the secret. Models are not named: the schedule decides the sides, and a form contains
only the number of its turn. Pages are rendered on the server; the script only adds keys.

Answers are untrusted, so nothing rendered from them may load anything. Markdown is rendered without
raw HTML, links and images, whose source is shown. Headings become bold lines, so that the order of
the page's headings is kept. Formulas become MathML without attributes for addresses, styles or
sizes. Invisible and bidirectional control characters are shown as codes (`report.html.visible`).
"""

import hashlib
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote, unquote
from xml.etree import ElementTree  # nosec B405

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from markupsafe import Markup, escape
from starlette.responses import RedirectResponse, Response

from tiebreak.people.guard import (
    ICON,
    REPORT_STYLE,
    headers,
    is_own_form,
    proof_of,
    rendered,
    same,
    static,
)
from tiebreak.people.turns import BallotBox, Question
from tiebreak.ranking_logs.votes_file import VotesFile
from tiebreak.report.html import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

View = Literal["formatted", "plain", "marked"]
VIEWS: Final[tuple[View, ...]] = ("formatted", "plain", "marked")

_HEADERS: Final = headers(script_src="'self'", img_src="'self'")
_SERVED: Final[Mapping[str, Any]] = {
    **{"log_level": "warning", "access_log": False, "server_header": False},
    **{"proxy_headers": False, "ws": "none", "timeout_graceful_shutdown": 5},
}
_MOST_BODY: Final = 16_384
_LONGEST_NAME: Final = 60
_LIFE: Final = 30 * 86_400
_HERE: Final = Path(__file__).parent

LONGEST: Final = 20_000
"""Maximum length of a text that is rendered as Markdown; a longer one is shown plain."""

_LONGEST_FORMULA: Final = 1_000
_MOST_WORDS: Final = 4_000
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
_KEPT: Final = frozenset(
    ("display", "mathvariant", "stretchy", "fence", "separator", "accent", "movablelimits")
)
_FORMULAS: Final = (
    *("math_inline", "math_inline_double"),
    *("math_block", "math_block_label", "math_block_eqno"),
)
# An answer's headings must not become the page's, and the policy refuses styles of cells.
_ELEMENTS: Final = {
    **{"heading_open": "<p><strong>", "heading_close": "</strong></p>\n"},
    **{"th_open": "<th>", "td_open": "<td>"},
}

Next = Callable[[Request], Awaitable[Response]]


def create_app(file: VotesFile, secret: str) -> FastAPI:
    """Make the application for a votes file that is open for writing."""
    box, proof = BallotBox(file), proof_of(secret)
    # Browsers store cookies by host without the port, so two pages need different names.
    mark = hashlib.sha256(secret.encode()).hexdigest()[:8]
    key_cookie, rater_cookie = f"tiebreak_key_{mark}", f"tiebreak_rater_{mark}"
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    def keep(response: Response, name: str, value: str) -> Response:
        response.set_cookie(name, value, max_age=_LIFE, httponly=True, samesite="lax")
        return response

    @app.middleware("http")
    async def guard(request: Request, call_next: Next) -> Response:
        path, size = request.url.path, request.headers.get("content-length", "0")
        invited = path == "/" and same(request.query_params.get("key", ""), secret)
        if not invited and not same(request.cookies.get(key_cookie, ""), secret):
            response = refused(403, "Open the address that `tiebreak vote` printed, with its key.")
        elif "transfer-encoding" in request.headers or not size.isdigit():
            response = refused(411, "The form does not say how long it is.")
        # More than nine digits are too many anyway, and int() refuses thousands of them.
        elif len(size) > 9 or int(size) > _MOST_BODY:
            response = refused(413, "The form is too long.")
        elif invited:
            response = keep(RedirectResponse("/", 303), key_cookie, secret)
        else:
            response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    async def form(request: Request) -> Mapping[str, str]:
        given = {name: str(value) for name, value in (await request.form()).items()}
        if not is_own_form(given.get("proof", ""), proof, request.headers.get("sec-fetch-site")):
            raise HTTPException(403, "This form is not of this page: load the page again.")
        return given

    def back(given: Mapping[str, str]) -> Response:
        view = given.get("view", "")
        return RedirectResponse(f"/?view={view}" if view in VIEWS[1:] else "/", 303)

    @app.get("/")
    async def ask(request: Request, view: View = "formatted", again: bool = False) -> Response:
        rater = unquote(request.cookies.get(rater_cookie, ""))
        if not rater or again:
            return page("start", proof=proof, rater=rater, kind=file.meta.kind)
        question = box.question(rater)
        if question is not None and len(question.answers) == 1 and view == "marked":
            view = "plain"
        shown = {} if question is None else _shown(question, view)
        votes = box.raters()
        return page(
            "ballot",
            proof=proof,
            rater=rater,
            view=view,
            views=VIEWS if file.meta.kind == "matches" else VIEWS[:2],
            turn=question and question.turn,
            n_given=votes.count(rater),
            n_all=len(votes),
            goal=file.meta.goal,
            decides=file.meta.decides,
            **shown,
        )

    @app.post("/rater")
    async def name_rater(request: Request) -> Response:
        rater = " ".join((await form(request)).get("name", "").split())
        if not rater or len(rater) > _LONGEST_NAME or not rater.isprintable():
            raise HTTPException(400, f"A name has 1 to {_LONGEST_NAME} characters: go back.")
        return keep(RedirectResponse("/", 303), rater_cookie, quote(rater))

    @app.post("/vote")
    async def vote(request: Request) -> Response:
        given = await form(request)
        number, rater = given.get("turn", ""), given.get("rater", "")
        turn = int(number) if number.isascii() and number.isdigit() else -1
        if not rater or not box.keep(rater, turn, given.get("choice", "")):
            raise HTTPException(400, "That is not asked here: go back and load the page again.")
        return keep(back(given), rater_cookie, quote(rater))

    @app.post("/undo")
    async def undo(request: Request) -> Response:
        given = await form(request)
        box.undo(given.get("rater", ""))
        return back(given)

    @app.get("/style.css")
    async def style() -> Response:
        return static("text/css", REPORT_STYLE, _HERE / "static" / "vote.css")

    @app.get("/keys.js")
    async def keys() -> Response:
        return static("text/javascript", _HERE / "static" / "keys.js")

    @app.get("/icon.svg")
    async def icon() -> Response:
        return static("image/svg+xml", ICON)

    @app.exception_handler(HTTPException)
    async def problem(request: Request, error: HTTPException) -> Response:
        return refused(error.status_code, error.detail)

    return app


def _shown(question: Question, view: View) -> dict[str, Any]:
    """Task, answers and key as HTML."""
    show = formatted if view == "formatted" else plain
    shown: tuple[str, ...] = tuple(map(show, question.answers))
    if view == "marked":
        shown = marked(question.answers[0], question.answers[1])
    key = show(question.key) if question.key else ""
    return {"task": show(question.task), "answers": shown, "key": key}


def plain(text: str) -> Markup:
    """A text as preformatted HTML, without rendering."""
    return Markup('<pre class="plain">{}</pre>').format(visible(text))


@lru_cache(maxsize=64)
def formatted(text: str) -> Markup:
    """A text rendered as Markdown, or shown plain if it is longer than `LONGEST`."""
    if len(text) > LONGEST:
        note = f"Shown as plain text: it has {len(text):,} characters."
        return Markup('<p class="quiet">{}</p>{}').format(note, plain(text))
    # Safe as Markup, because the renderer escapes the text.
    return Markup(_markdown().render(str(visible(text))))  # nosec B704


def marked(first: str, second: str) -> tuple[Markup, Markup]:
    """Two plain texts, with words (in long texts lines) that the other does not have marked."""
    texts: list[list[str]] = [_WORD.findall(text) for text in (first, second)]
    long = max(map(len, texts)) > _MOST_WORDS
    if long:
        texts = [text.splitlines(keepends=True) for text in (first, second)]
    same = SequenceMatcher(None, texts[0], texts[1], autojunk=long).get_matching_blocks()
    sides = []
    for side, words in enumerate(texts):
        spans = [(block[side], block[side] + block.size) for block in same]
        sides.append(Markup('<pre class="plain">{}</pre>').format(_with_marks(words, spans)))
    return sides[0], sides[1]


def _with_marks(words: Sequence[str], same: Sequence[tuple[int, int]]) -> Markup:
    def parts() -> Iterator[Markup]:
        end = 0
        for start, stop in same:
            if differs := "".join(words[end:start]):
                yield Markup("<mark>{}</mark>").format(visible(differs))
            yield escape(visible("".join(words[start:stop])))
            end = stop

    return Markup("").join(parts())


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.texmath import texmath_plugin

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])
    dollarmath_plugin(
        made, allow_labels=False, allow_digits=False, allow_space=False, double_inline=True
    )
    texmath_plugin(made, delimiters="brackets")
    made.inline.ruler.before("escape", "math_brackets", _brackets)
    for name in _FORMULAS:
        made.add_render_rule(name, _formula)
    for name, html in _ELEMENTS.items():
        made.add_render_rule(name, _always(html))
    return made


def _always(html: str) -> Callable[..., str]:
    return lambda *given: html


def _brackets(state: "StateInline", silent: bool) -> bool:
    r"""Parse a formula between \[ and \] that begins or ends within a paragraph."""
    end = state.src.find(r"\]", state.pos) if state.src.startswith(r"\[", state.pos) else -1
    if end >= 0 and not silent:
        state.push("math_block", "math", 0).content = state.src[state.pos + 2 : end]
    state.pos = end + 2 if end >= 0 else state.pos
    return end >= 0


def _formula(_: Any, tokens: Sequence[Any], at: int, *more: object) -> str:
    token = tokens[at]
    return mathml(token.content, block=token.type != "math_inline")


@lru_cache(maxsize=1024)
def mathml(formula: str, *, block: bool = False) -> str:
    """A LaTeX formula as MathML, or as its source if it is invalid or very long."""
    from html import unescape

    from latex2mathml.converter import convert_to_element

    try:
        if len(formula) > _LONGEST_FORMULA:
            raise ValueError(formula)
        tree = convert_to_element(formula, display="block" if block else "inline")
        for node in tree.iter():
            node.attrib = {name: value for name, value in node.attrib.items() if name in _KEPT}
            # The converter stores characters as entities, which the writer would escape again.
            node.text = unescape(node.text or "")
        return ElementTree.tostring(tree, encoding="unicode", short_empty_elements=False)
    except Exception:  # a hostile formula can make the parser raise anything
        return f"<code>{escape(formula)}</code>"


page = partial(rendered, _HERE / "templates")


def refused(status: int, message: str) -> Response:
    """A page that says why a request is refused."""
    return page("refused", status, message=message)


def serve(file: VotesFile, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted; `tell` is called with its address.

    Raises:
        OSError: the address is in use or not allowed; port 0 picks a free port.
    """
    secret = secrets.token_urlsafe(24)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        name = f"[{host}]" if ":" in host else host
        tell(f"http://{name}:{listener.getsockname()[1]}/?key={secret}")
        config = uvicorn.Config(create_app(file, secret), **_SERVED)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
