"""Options of verbs that draw pictures: the file, its width, whether it has a title."""

import re
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import click

from tiebreak.cli._options import File, family, option

_INCHES = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
_NARROWEST, _WIDEST = 1.0, 40.0
# Inches of one column of a paper, and of two with the gap between them.
_COLUMNS = {"1": 3.35, "2": 7.0}


@dataclass(frozen=True)
class Plot:
    """How to draw pictures: a `width` in inches, and whether they contain title and notes.

    `file` is the path of the picture, or None if none was asked for.
    """

    width: float | None = None
    titled: bool = False
    file: str | None = None

    def check(self) -> None:
        """Raise an error if the picture cannot be written, before anything is read."""
        if self.file:
            from tiebreak.report.plot import check_plot

            check_plot(self.file)

    def draw(
        self,
        kind: str,
        finding: object,
        label: str = "Plot",
        *,
        module: str = "tiebreak.report.plot",
        **how: Any,
    ) -> None:
        """Draw a finding by the function `plot_KIND` of a module, and print the files' names."""
        if not self.file:
            return
        plot = getattr(import_module(module), f"plot_{kind}")
        from tiebreak.report.figures.canvas import drawn_for

        with drawn_for(self.width, titled=self.titled):
            files = plot(finding, self.file, width=self.width, **how)
        click.echo(f"{label}: {', '.join(map(str, files or [self.file]))}", err=True)


def paper_options(width: str) -> Plot:
    """The options --width, --columns and --titled; `width` is the help text of --width."""

    def made(
        width: float | None = option(width, callback=_inches, metavar="LENGTH"),
        columns: Literal["1", "2"] | None = option(
            "As wide as one column of a paper (85 mm), or as two (178 mm)."
        ),
        titled: bool = option("Put title and notes into the picture, too."),
    ) -> Plot:
        if columns and width is not None:
            raise click.UsageError("--columns is a width: give it or --width")
        return Plot(_COLUMNS[columns] if columns else width, titled)

    return family(made)


def plot_options(help: str) -> Plot:
    """The option --plot, the path of a picture, and the options of `paper_options`."""

    def made(
        plot: File | None = option(f"{help} .svg, .png or .pdf."),
        paper: Plot = paper_options(
            "Width of the plot, such as 85mm or 3.3in. [default: what it takes]"
        ),
    ) -> Plot:
        if plot is None and paper != Plot():
            raise click.UsageError("--width, --columns and --titled are a plot's: give --plot FILE")
        return replace(paper, file=plot)

    return family(made)


def _inches(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(mm|cm|in)", value.strip().lower())
    if not match:
        raise click.BadParameter(f"{value!r} is not a length such as 85mm, 12cm or 3.3in")
    inches = float(match[1]) * _INCHES[match[2]]
    if not _NARROWEST <= inches <= _WIDEST:
        raise click.BadParameter(f"{value} is not between {_NARROWEST:g}in and {_WIDEST:g}in")
    return inches
