"""Write the report: an HTML page, its pictures, and scripts with items too large for the page."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from os import PathLike
from pathlib import Path

from markupsafe import Markup

from tiebreak.analysis.contests import ContestReport
from tiebreak.paths import Paths, whole_file
from tiebreak.progress import doing
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.report import ReportError
from tiebreak.report.figures.canvas import FORMS, Form, drawn_for
from tiebreak.report.html import environment
from tiebreak.report.page.contents import Contents, contents_of
from tiebreak.report.page.items import ChunkWriter, remove_earlier
from tiebreak.report.page.sections import page_of, sections_of
from tiebreak.report.page.view import FOLDER, USUAL, Gallery, Page, PictureForms
from tiebreak.tables.human import HumanRanking, read_human_ranking

PAGE = "index.html"

# Marks a page as a report of Tiebreak's, and finds the pictures that it names.
_MADE_BY = "<p>Made by Tiebreak "
_PICTURE = re.compile(rf'<a href="({FOLDER}/[a-z0-9-]+)\.(?:{"|".join(FORMS)})"')

_HERE = Path(__file__).parent


def check_folder(folder: str | PathLike[str]) -> None:
    """Raise an error if no report can be written to `folder`, before anything is computed.

    Raises:
        ReportError: it is a file, or holds a page that is not a report.
        MissingPackageError: matplotlib is not installed.
    """
    from tiebreak.report.figures.canvas import require_matplotlib

    require_matplotlib()
    path = Path(folder)
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise ReportError(f"{place} is a file; a report is a folder: choose another name (-o)")
    _pictures_of(path / PAGE)


def write_report(
    logs: Paths,
    folder: str | PathLike[str],
    *,
    contest: ContestReport | None = None,
    human: HumanRanking | str | PathLike[str] | None = None,
    reference: str | None = None,
    sources: Sequence[str] = (),
    title: str | None = None,
    pictures: Sequence[Form] = USUAL.forms,
    width: float | None = None,
    titled: bool = False,
    how: Resampling = Resampling(),
    prices: Sequence[str] = (),
) -> list[Path]:
    """Write a report of ranking logs: `index.html`, and its pictures in `plots/`.

    If the items' answers and verdicts are too large for one file, the page loads them from scripts
    in `items/`, which also works from disk. An earlier report in the folder is overwritten, and its
    other files are removed; all other files stay.

    Args:
        logs: ranking logs, and folders that hold some; none for a report of a contest alone.
        folder: where to write; created if it does not exist.
        contest: the result of `contest_report`.
        human: a ranking by people for the peer reviews among the logs, or its CSV file.
        reference: the protocol to compare with, as in `compare`; by default all pairs.
        sources: files that the contest was read from; the page shows them without their folders.
        title: the page's title; by default it names the benchmarks.
        pictures: formats of the pictures beside the page: "svg", "png", "pdf".
        width: width of these pictures in inches; by default as in the page.
        titled: whether they contain their title and notes, otherwise only in `plots/captions.txt`.
        how: level, draws and seed of all intervals.
        prices: prices of calls whose cost the logs do not have, as in `read_ranking_logs`.

    Returns:
        The files: the page, then its pictures, then what is in `items/`.

    Raises:
        ReportError: the folder is a file or holds a page that is not a report, or there is nothing
            to report.
        MissingPackageError: matplotlib is not installed.
        RankingLogError: a path holds no ranking log; or, with `human`, no peer review.
        AnalysisError: the reference does not exist, or logs cannot be compared with it.
        TableError, AnalysisError: the ranking by people cannot be read, or has too little in
            common with the peer reviews.
        OSError: a file cannot be written.
    """
    import tiebreak

    check_folder(folder)
    if human is not None and not isinstance(human, HumanRanking):
        human = read_human_ranking(Path(human))
    contents = contents_of(
        logs,
        contest=contest,
        human=human,
        reference=reference,
        sources=sources,
        how=how,
        prices=prices,
    )
    version = tiebreak.__version__
    return write_contents(
        contents,
        folder,
        version=version,
        title=title,
        prints=PictureForms(tuple(pictures), width, titled),
    )


def write_contents(
    contents: Contents,
    folder: str | PathLike[str],
    *,
    version: str,
    title: str | None = None,
    prints: PictureForms = USUAL,
) -> list[Path]:
    """Write the report of what `contents_of` gathered; the same contents give the same files."""
    check_folder(folder)
    path, gallery = Path(folder), Gallery(prints)
    shelf = ChunkWriter(path)
    with doing("drawing"):
        page = page_of(contents, gallery, shelf, version=version, title=title)
    if not page.sections:
        raise ReportError("There is nothing to report: give ranking logs, or --scores")
    if prints.width is not None or prints.titled:
        # The pictures in the page stay as they are; those beside it are drawn again for the paper.
        gallery = Gallery(prints)
        with drawn_for(prints.width, titled=prints.titled):
            list(sections_of(contents, gallery))
    path.mkdir(parents=True, exist_ok=True)
    earlier = _pictures_of(path / PAGE)
    # Write the page after the files it needs, and remove an earlier page's files after that: at any
    # time the page in the folder has all its files.
    plots = list(gallery.save(path))
    with whole_file(path / PAGE) as draft:
        draft.write_text(render(page), encoding="utf-8", errors="replace", newline="\n")
    for old in earlier.difference(plots):
        old.unlink(missing_ok=True)
    remove_earlier(shelf, path)
    return [path / PAGE, *plots, *shelf.files]


def _pictures_of(page: Path) -> set[Path]:
    if not page.exists():
        return set()
    text = page.read_text(encoding="utf-8", errors="replace")
    if _MADE_BY not in text:
        raise ReportError(f"{page} is not a report of Tiebreak's: choose another folder (-o)")
    stems = {page.parent / stem for stem in _PICTURE.findall(text)}
    return {stem.with_suffix(f".{suffix}") for stem in stems for suffix in FORMS}


def render(page: Page) -> str:
    """The page as HTML; the same page gives the same text."""
    style, script = _static("css"), _static("js")
    template = environment().get_template("report.html.jinja")
    loads = bool(page.items and page.items.files)
    csp = _policy(style, script, loads=loads)
    return template.render(page=page, style=style, script=script, csp=csp)


@cache
def _static(suffix: str) -> Markup:
    """The style sheet or the script: all files with this suffix, joined in order of their names."""
    files = sorted((_HERE / "static").glob(f"*.{suffix}"))
    # Safe: our own text, and the only one that the template does not escape.
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return Markup(text)  # nosec B704


def _policy(style: str, script: str, *, loads: bool) -> str:
    """A content security policy: this script, this style sheet, embedded pictures, no network.

    With `loads` the script may load further scripts; scripts in markup never run.
    """
    more = " 'strict-dynamic'" if loads else ""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'{more}; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
