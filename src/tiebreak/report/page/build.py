"""The report as files: an HTML page; beside it its pictures, and items that are too much for it."""

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

# How a page is known for one of ours, and what it calls its pictures.
_MADE_BY = "<p>Made by Tiebreak "
_PICTURE = re.compile(rf'<a href="({FOLDER}/[a-z0-9-]+)\.(?:{"|".join(FORMS)})"')

_HERE = Path(__file__).parent


def check_folder(folder: str | PathLike[str]) -> None:
    """Refuse a place for the report before anything is computed.

    Raises:
        ReportError: it is a file, or holds a page that is no report.
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

    Where the items' answers and verdicts are too much for one file, the page loads them from
    scripts in `items/`, also from a disk. An earlier report in the folder is written over, and its
    other files are removed; whatever else is there stays.

    Args:
        logs: ranking logs, and folders that hold some; none for a report of a contest alone.
        folder: where to write; made where it does not exist.
        contest: what `contest_report` returned.
        human: a ranking by people for the peer reviews among the logs, or its CSV file.
        reference: what protocols are compared with, as in `compare`; by default all pairs.
        sources: the files that the contest was read from: their folders are not shown.
        title: the page's; by default it names the benchmarks.
        pictures: what the pictures beside the page are written as: "svg", "png", "pdf".
        width: of these pictures, in inches; by default as in the page.
        titled: whether they hold their title and notes, which else `plots/captions.txt` has alone.
        how: level, draws and seed of all intervals.
        prices: of calls whose cost the logs do not know, as in `read_ranking_logs`.

    Returns:
        The files: the page, then its pictures, then what is in `items/`.

    Raises:
        ReportError: the folder is a file or holds a page that is not a report, or there is nothing
            to report.
        MissingPackageError: matplotlib is not installed.
        RankingLogError: a path holds no ranking log; or, with `human`, no peer review.
        AnalysisError: there is no such reference, or logs cannot be compared with it.
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
    """Write what `contents_of` gathered; the same contents give the same files."""
    check_folder(folder)
    path, gallery = Path(folder), Gallery(prints)
    shelf = ChunkWriter(path)
    with doing("drawing"):
        page = page_of(contents, gallery, shelf, version=version, title=title)
    if not page.sections:
        raise ReportError("There is nothing to report: give ranking logs, or --scores")
    if prints.width is not None or prints.titled:
        # The page keeps its own pictures: those beside it are drawn once more, for the paper.
        gallery = Gallery(prints)
        with drawn_for(prints.width, titled=prints.titled):
            list(sections_of(contents, gallery))
    path.mkdir(parents=True, exist_ok=True)
    earlier = _pictures_of(path / PAGE)
    # The page comes after what it needs, and before what an earlier one needed is removed: who
    # finds a page finds all of it.
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
    """The page as HTML: the same page gives the same text."""
    style, script = _static("css"), _static("js")
    template = environment().get_template("report.html.jinja")
    loads = bool(page.items and page.items.files)
    csp = _policy(style, script, loads=loads)
    return template.render(page=page, style=style, script=script, csp=csp)


@cache
def _static(suffix: str) -> Markup:
    """The style sheet, or the script: its files one after the other, by name."""
    files = sorted((_HERE / "static").glob(f"*.{suffix}"))
    # Our own text, and the only one that the template does not escape.
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return Markup(text)  # nosec B704


def _policy(style: str, script: str, *, loads: bool) -> str:
    """A content security policy: this script, this style sheet, embedded pictures, no network.

    `loads`: whether the script may load others. Nothing else may: no script that stands in markup.
    """
    more = " 'strict-dynamic'" if loads else ""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'{more}; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
