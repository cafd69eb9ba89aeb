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
    metavar="SHARE[,SHARE…]",
    help="Shares of the items that are ranked again.  [default: 0.5]",
)
@click.option(
    "--sizes",
    callback=numbers(int, "numbers of questions, such as 1000,2000", lambda size: size > 0),
    metavar="N[,N…]",
    help="Of logs judged by stars: relative scores by round, and in draws of so many questions.",
)
@click.option(
    "--reference", metavar="MODEL", help="Whom relative scores refer to.  [default: the best]"
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    help="Draws per share or size.",
)
@form_options("json", "csv")
def stability(
    logs: tuple[str, ...],
    subsample: tuple[float, ...] | None,
    sizes: tuple[int, ...] | None,
    reference: str | None,
    seeds: int,
    form: str | None,
) -> None:
    """Show how far rankings depend on their items, and, with repeated runs, on the run.

    \b
    Ballots are not asked for again: leaderboards are made of parts of them. Runs of one protocol
    over the same candidates (-T repeat=2, -T repeat=3, …) are compared with each other.

    \b
    With --sizes it is about logs judged by stars (tiebreak/stars) alone: each sample of questions
    is a round, and samples are drawn from all questions at hand.

    \b
    Examples:
      tiebreak stability logs/
      tiebreak stability logs/ --subsample 0.25,0.5,0.75 --seeds 100 --json
      tiebreak stability stars/ --sizes 1000,2000,4000 --reference openai/gpt-5
    """
    from tiebreak.analysis.errors import AnalysisError
    from tiebreak.analysis.stability import stability as stability_of
    from tiebreak.analysis.star_stability import star_stability
    from tiebreak.ranking_logs import RankingLogError
    from tiebreak.report.sheets import stability as sheets
    from tiebreak.report.sheets import star_stability as star_sheets

    of_stars = sizes is not None
    if of_stars and subsample is not None:
        raise click.UsageError("--subsample is about parts of any log; leave it out with --sizes")
    if reference is not None and not of_stars:
        raise click.UsageError("--reference is for relative scores; give --sizes as well")
    with plain_errors(AnalysisError, RankingLogError):
        if sizes is None:
            show(form, sheets, stability_of(logs, shares=subsample or (0.5,), n_seeds=seeds))
        else:
            found = star_stability(logs, sizes=sizes, reference=reference, n_draws=seeds)
            show(form, star_sheets, found)
