"""The verb `report`: an HTML page with all findings, and its pictures."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiebreak.cli._contest import Contest, contest_options, play
from tiebreak.cli._families import bootstrap_options, prices_option, reading_options
from tiebreak.cli._options import File, Name, option, verb
from tiebreak.cli._pictures import Plot, paper_options
from tiebreak.cli._shared import echo_json
from tiebreak.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tiebreak.rankers import Resampling
    from tiebreak.report.figures.canvas import Form
    from tiebreak.tables.inputs import ReadingOptions


def _forms(ctx: click.Context, param: click.Parameter, value: str) -> "tuple[Form, ...]":
    from tiebreak.report.figures.canvas import FORMS

    given = dict.fromkeys(part.strip().lower() for part in value.split(","))
    known: dict[str, Form] = {form: form for form in FORMS}
    if unknown := [form for form in given if form not in known]:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(known)}")
    return tuple(known[form] for form in given)


@verb()
def report(
    logs: tuple[File, ...] = (),
    *,
    folder: Path = option(
        "Where to write index.html and plots/ (and items/, where all items are too much for one "
        "file). An earlier report there is written over.",
        "-o",
        "--output",
        default=Path("report"),
        metavar="FOLDER",
    ),
    scores: tuple[File, ...] = option(
        "Add a contest over many benchmarks: tables, logs or folders as `tiebreak csd` takes "
        "them. Repeatable.",
        metavar="SCORES",
    ),
    contest: Contest = contest_options,
    reading: "ReadingOptions" = reading_options,
    human: File | None = option(
        "Add the alignment of all boards with a ranking by people: a CSV file as `tiebreak "
        "align` takes it."
    ),
    reference: Name | None = option(
        "What protocols are compared with: a protocol, a name from the report, or a log. "
        "[default: full_pairwise, where it is there]"
    ),
    prices: tuple[str, ...] = prices_option,
    title: str | None = option("Title of the page. [default: the benchmarks]", metavar="TEXT"),
    pictures: "tuple[Form, ...]" = option(
        "Formats of the pictures in plots/: svg, png (300 dots per inch), pdf.",
        default="svg,png",
        callback=_forms,
        metavar="FORMS",
    ),
    paper: Plot = paper_options(
        "Width of these pictures, such as 85mm, 12cm or 3.3in: plots become as wide, and words "
        "keep their size where there is room. [default: as in the page]"
    ),
    as_json: bool = option("Print what was written as JSON.", "--json"),
    how: "Resampling" = bootstrap_options,
) -> None:
    """Write a report: one HTML page that works from disk. Plots are written as SVG and PNG, too.

    LOGS are ranking logs, and folders of them. The page shows all that follows from them:
    leaderboards, native against judged scores, win rates, every item with its bracket, votes and
    answers, protocols and their price, peer review, stability, the bill.

    \b
    Examples:
      tiebreak report logs/
      tiebreak report logs/ -o report/ --human arena.csv --title "Our models in May"
      tiebreak report logs/ --price 1.25,10
      tiebreak report logs/ --pictures pdf --columns 1
      tiebreak report logs/ --scores scores.csv --eliminate 0,1,2
      tiebreak report --scores scores.csv --rounds rounds.yaml --spoil gpt-5=mmlu:best
    """
    from tiebreak.report.page.build import check_folder, write_report
    from tiebreak.tables import read_human_ranking

    if not (logs or scores):
        raise click.UsageError("Give ranking LOGS, or --scores, or both.")
    if not scores and (options := contest.given(reading)):
        raise click.UsageError(f"{', '.join(options)}: for a contest over many --scores, not LOGS.")
    if not logs and (human or reference or prices):
        raise click.UsageError("--human, --price and --reference go with LOGS.")
    check_folder(folder)
    people = read_human_ranking(human) if human else None
    played = None
    if scores:
        played = play(scores, reading, contest, {"seed": how.seed})
    of_contest = [path for path in (contest.rounds, contest.order, reading["stderr"]) if path]
    files = write_report(
        logs,
        folder,
        contest=played,
        human=people,
        sources=[*scores, *(str(path) for path in of_contest if Path(path).is_file())],
        how=how,
        reference=reference,
        prices=prices,
        title=title,
        pictures=pictures,
        width=paper.width,
        titled=paper.titled,
    )
    if as_json:
        sizes = [{"path": str(file), "bytes": file.stat().st_size} for file in files]
        echo_json({"page": str(files[0]), "files": sizes})
        return
    click.echo(f"Report: {' · '.join(_written(files))}")


def _written(files: "Sequence[Path]") -> "Iterator[str]":
    page, *rest = files
    yield f"{page} ({page.stat().st_size / 1e6:.1f} MB)"
    drawn = [file for file in rest if file.suffix != ".txt"]  # without captions.txt
    plots, items = ([file for file in drawn if file.parent.name == n] for n in ("plots", "items"))
    if plots:
        yield f"{count(len(plots), 'plot')} in {plots[0].parent}"
    if items:
        size = sum(file.stat().st_size for file in items) / 1e6
        yield f"its items in {items[0].parent} ({size:.1f} MB), to be kept beside it"
