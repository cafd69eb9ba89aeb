"""The verb `stability`: how far a ranking depends on its items and on its run."""

import click

from tiebreak.cli._families import form_or_csv_options, numbers, skip_faulty_option
from tiebreak.cli._options import Count, File, Model, option, verb
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import labels_of, refuse_given, show


@verb()
def stability(
    logs: tuple[File, ...],
    *,
    subsample: tuple[float, ...] | None = option(
        "Shares of the items that are ranked again.  [default: 0.5]",
        callback=numbers(
            float, "shares above 0 and up to 1, such as 0.25,0.5", lambda share: 0 < share <= 1
        ),
        metavar="SHARE[,SHARE…]",
    ),
    sizes: tuple[int, ...] | None = option(
        "Of logs judged by stars: relative scores by round, and in draws of so many questions.",
        callback=numbers(int, "numbers of questions, such as 1000,2000", lambda size: size > 0),
        metavar="N[,N…]",
    ),
    reference: Model | None = option("Whom relative scores refer to.  [default: the best]"),
    elo: bool = option(
        "Of logs judged by stars: the order by stars, win rate, Bradley–Terry and Elo with fewer "
        "questions."
    ),
    against: File | None = option(
        "Scores by stars beside those on other benchmarks: CSV with model and their columns."
    ),
    dates: File | None = option("Scores by stars by date: CSV with model, date, series."),
    causes: File | None = option("Causes of errors: CSV with item_id, model, cause, rater."),
    people: File | None = option("CSV of people's votes or stars."),
    skip_faulty: bool = skip_faulty_option,
    seeds: Count = option("Draws per share or size.", default=30),
    plot: Plot = plot_options("Draw --elo, --dates and --causes:"),
    form: str | None = form_or_csv_options,
) -> None:
    """Show how far rankings depend on their items. With repeated runs, also on the run.

    Nothing is judged again: leaderboards are computed from parts of the ballots. Runs of one
    protocol over the same candidates (-T repeat=2, -T repeat=3, …) are compared with each other.

    --sizes, --elo, --against, --dates and --causes only work with logs judged by stars
    (tiebreak/stars). Each sample of questions is a round; --sizes draws from all questions in the
    logs.

    With --people it shows, for the board of `tiebreak rank --people`, how many labels of people it
    takes to tell the two leading models apart, with the judge and without.

    \b
    Examples:
      tiebreak stability logs/
      tiebreak stability logs/ --subsample 0.25,0.5,0.75 --seeds 100 --json
      tiebreak stability logs/ --people votes.csv
      tiebreak stability stars/ --sizes 1000,2000,4000 --reference openai/gpt-5
      tiebreak stability stars/ --elo --plot elo.svg
      tiebreak stability stars/ --against scores.csv
      tiebreak stability stars/ --dates dates.csv --causes causes.csv --json
    """
    from tiebreak.analysis.stability import stability as stability_of
    from tiebreak.fair.analysis.star_stability import star_stability
    from tiebreak.tables import read_scores
    from tiebreak.tables.dates import read_dates
    from tiebreak.tables.human import read_causes

    labels = labels_of(people, skip_faulty=skip_faulty)
    if labels is not None:
        from tiebreak.analysis.anchored import labels_needed

        refuse_given(
            {*click.get_current_context().params}
            - {"logs", "people", "skip_faulty", "json", "csv", "format"},
            "is not about labels of people that are missing: leave it or --people out",
        )
        show(form, labels_needed(logs, labels))
        return
    of_stars = elo or any(option is not None for option in (sizes, against, dates, causes))
    if of_stars and subsample is not None:
        raise click.UsageError("--subsample is about parts of any log; give it without the others")
    if reference is not None and sizes is None:
        raise click.UsageError("--reference is for relative scores; give --sizes as well")
    if plot.file and not (elo or dates or causes):
        raise click.UsageError("--plot draws --elo, --dates and --causes; give one of them")
    plot.check()
    if not of_stars:
        show(form, stability_of(logs, shares=subsample or (0.5,), n_seeds=seeds))
        return
    stars = star_stability(
        logs,
        sizes=sizes,
        reference=reference,
        orders=elo,
        against=read_scores(against) if against else None,
        dates=read_dates(dates) if dates else (),
        causes=read_causes(causes) if causes else None,
        n_draws=seeds,
    )
    show(form, stars)
    plot.draw("star_stability", stars, module="tiebreak.fair.report.figures")
