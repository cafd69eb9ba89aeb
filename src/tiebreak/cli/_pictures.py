"""The options of verbs that draw: a file for a picture, and how wide it is."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from tiebreak.cli._shared import FILES, Command, family

_INCHES = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
_NARROWEST, _WIDEST = 1.0, 40.0
# Inches of one column of a paper, and of two with what is between them.
_COLUMNS = {"1": 3.35, "2": 7.0}


@dataclass(frozen=True)
class Plot:
    """The picture of a finding that was asked for; without a `file` none was. `width` in inches."""

    file: str | None
    width: float | None
    titled: bool = False

    def check(self) -> None:
        """Refuse what cannot be drawn, before anything is read."""
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
        """Draw a finding by the function `plot_…` of a module, and say in which files."""
        if not self.file:
            return
        plot = getattr(import_module(module), f"plot_{kind}")
        from tiebreak.report.figures.canvas import drawn_for

        with drawn_for(self.width, titled=self.titled):
            files = plot(finding, self.file, width=self.width, **how)
        click.echo(f"{label}: {', '.join(map(str, files or [self.file]))}", err=True)


def _paper(width: str) -> list[Callable[[Command], Command]]:
    """The options of what pictures are drawn for."""
    return [
        click.option("--width", callback=_inches, metavar="LENGTH", help=width),
        click.option(
            "--columns",
            type=click.Choice(list(_COLUMNS)),
            help="As wide as one column of a paper (85 mm), or as two (178 mm).",
        ),
        click.option("--titled", is_flag=True, help="Put title and notes into the picture, too."),
    ]


def _wide(width: float | None, columns: str | None) -> float | None:
    if columns and width is not None:
        raise click.UsageError("--columns is a width: give it or --width")
    return _COLUMNS[columns] if columns else width


def paper_options(help: str) -> Callable[[Command], Command]:
    """The options of pictures beside something else: one `paper`, arguments of `write_report`."""

    def checked(width: float | None, columns: str | None, titled: bool) -> dict[str, Any]:
        return {"width": _wide(width, columns), "titled": titled}

    return family("paper", checked, *_paper(help))


def plot_options(help: str) -> Callable[[Command], Command]:
    """The options --plot, the file of a picture, and those of its paper: one `plot`."""

    def checked(plot: str | None, width: float | None, columns: str | None, titled: bool) -> Plot:
        if plot is None and (titled or columns or width is not None):
            raise click.UsageError("--width, --columns and --titled are a plot's: give --plot FILE")
        return Plot(plot, _wide(width, columns), titled)

    return family(
        "plot",
        checked,
        click.option("--plot", type=FILES, metavar="FILE", help=f"{help} .svg, .png or .pdf."),
        *_paper("Width of the plot, such as 85mm or 3.3in. [default: what it takes]"),
    )


def _inches(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A length in inches."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(mm|cm|in)", value.strip().lower())
    if not match:
        raise click.BadParameter(f"{value!r} is not a length such as 85mm, 12cm or 3.3in")
    inches = float(match[1]) * _INCHES[match[2]]
    if not _NARROWEST <= inches <= _WIDEST:
        raise click.BadParameter(f"{value} is not between {_NARROWEST:g}in and {_WIDEST:g}in")
    return inches
