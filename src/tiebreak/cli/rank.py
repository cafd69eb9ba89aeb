"""The verb `rank`: leaderboards of ranking logs."""

from typing import TYPE_CHECKING

import click

from tiebreak.cli._shared import bootstrap_options, form_options, plain_errors, show

if TYPE_CHECKING:
    from tiebreak.analysis.control import Control
    from tiebreak.rankers import Resampling


@click.command()
@click.argument("logs", nargs=-1, required=True)
@form_options("json", "csv")
@bootstrap_options
@click.option(
    "--closure",
    is_flag=True,
    help="Least squares also over what an item's results imply: a beat b, b beat c, so a beats c.",
)
@click.option(
    "--control",
    type=click.Choice(["length", "style"]),
    help="Show strengths at equal length, or at equal length, headings, lists and bold, as well.",
)
def rank(
    logs: tuple[str, ...],
    form: str | None,
    how: "Resampling",
    closure: bool,
    control: "Control | None",
) -> None:
    """Print the leaderboard, the judge's reliability and the bill of ranking logs.

    \b
    Examples:
      tiebreak rank logs/
      tiebreak rank logs/2026-11-21_seal.eval --csv > leaderboard.csv
    """
    from tiebreak.analysis.leaderboard import leaderboards
    from tiebreak.ranking_logs import RankingLogError
    from tiebreak.report.sheets import leaderboard as sheets

    with plain_errors(RankingLogError):
        boards = leaderboards(logs, how=how, closure=closure, control=control)
    show(form, sheets, boards)
