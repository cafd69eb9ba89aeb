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


@dataclass(frozen=True)
class Plot:
    """The picture of a finding that was asked for; without a `file` none was. `width` in inches."""

    file: str | None
    width: float | None

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
        files = plot(finding, self.file, width=self.width, **how)
        click.echo(f"{label}: {', '.join(map(str, files or [self.file]))}", err=True)


def width_option(help: str) -> Callable[[Command], Command]:
    """The option that says how wide pictures are: `width`, in inches or None."""
    return click.option("--width", callback=_inches, metavar="LENGTH", help=help)


def plot_options(help: str) -> Callable[[Command], Command]:
    """The options --plot, the file of a picture, and --width: one `plot`."""

    def checked(plot: str | None, width: float | None) -> Plot:
        if width is not None and plot is None:
            raise click.UsageError("--width is that of a plot: give --plot FILE, too")
        return Plot(plot, width)

    return family(
        "plot",
        checked,
        click.option("--plot", type=FILES, metavar="FILE", help=f"{help} .svg, .png or .pdf."),
        width_option("Width of the plot, such as 85mm or 3.3in. [default: what it takes]"),
    )


def _inches(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A length in inches."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(mm|cm|in)", value.strip().lower())
    if not match:
        raise click.BadParameter(f"{value!r} is no length such as 85mm, 12cm or 3.3in")
    inches = float(match[1]) * _INCHES[match[2]]
    if not _NARROWEST <= inches <= _WIDEST:
        raise click.BadParameter(f"{value} is not between {_NARROWEST:g}in and {_WIDEST:g}in")
    return inches
