"""The verb `aggregate`: many rankings into one."""

import click

from tiebreak.cli._shared import form_options, method_option, plain_errors, show
from tiebreak.rankers.aggregators import AGGREGATORS

_METHODS = "\n".join(f"  {one.name:<13} {one.help}" for one in AGGREGATORS.values())


@click.command(epilog=f"\b\nMethods, by what they order:\n{_METHODS}")
@click.argument("files", nargs=-1, required=True)
@method_option("How to count the ballots. Repeatable.", default=["kemeny_young"], show_default=True)
@click.option(
    "--per-item",
    is_flag=True,
    help="A consensus for every item, then the mean of the ranks; default: all ballots at once.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Then Kemeny–Young gives the best order so far and how far it may be from the optimum.",
)
@click.option("--drop-unranked", is_flag=True, help="Leave out candidates that no ballot ranks.")
@form_options("json")
def aggregate(
    files: tuple[str, ...],
    methods: tuple[str, ...],
    per_item: bool,
    time_limit: float | None,
    drop_unranked: bool,
    form: str | None,
) -> None:
    """Merge many rankings into one: CSV, PrefLib files (.soc .soi .toc .toi) or ranking logs.

    \b
    A CSV file has a column per candidate and a ballot per row (ranks, 1 = best, equal = tied,
    empty = not ranked; columns `item` and `reviewer` are optional), or the columns `reviewer`,
    `candidate`, `rank` and perhaps `item`. In a ranking log every item is a ballot, in that of a
    peer review every review.

    \b
    Examples:
      tiebreak aggregate ballots.csv
      tiebreak aggregate ballots.csv --method all
      tiebreak aggregate reviews.csv --per-item --json
      tiebreak aggregate logs/ --method borda --method kemeny_young
    """
    from tiebreak.analysis.consensus import elect
    from tiebreak.rankers import MissingPackageError, RankingError
    from tiebreak.report.sheets import consensus as sheets
    from tiebreak.tables import TableError, read_ballots

    with plain_errors(TableError, RankingError, MissingPackageError):
        elections = [
            elect(file, methods, per_item=per_item, time_limit=time_limit)
            for file in read_ballots(files, drop_unranked=drop_unranked)
        ]
    show(form, sheets, elections)
