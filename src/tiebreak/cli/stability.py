"""The verb `stability`: how far a ranking depends on its items and on its run."""

import click

from tiebreak.cli._shared import form_options, numbers, plain_errors, show


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "--subsample",
    callback=numbers(
        float, "shares above 0 and up to 1, such as 0.25,0.5", lambda share: 0 < share <= 1
    ),
    default="0.5",
    show_default=True,
    metavar="SHARE[,SHARE…]",
    help="Shares of the items that are ranked again.",
)
@click.option(
    "--seeds", type=click.IntRange(1), default=30, show_default=True, help="Subsamples per share."
)
@form_options("json")
def stability(
    logs: tuple[str, ...], subsample: tuple[float, ...], seeds: int, form: str | None
) -> None:
    """Show how far rankings depend on their items, and, with repeated runs, on the run.

    \b
    Ballots are not asked for again: leaderboards are made of parts of them. Runs of one protocol
    over the same candidates (-T repeat=2, -T repeat=3, …) are compared with each other.

    \b
    Examples:
      tiebreak stability logs/
      tiebreak stability logs/ --subsample 0.25,0.5,0.75 --seeds 100 --json
    """
    from tiebreak.analysis.stability import stability as stability_of
    from tiebreak.ranking_logs import RankingLogError
    from tiebreak.report.sheets import stability as sheets

    with plain_errors(RankingLogError):
        report = stability_of(logs, shares=subsample, n_seeds=seeds)
    show(form, sheets, report)
