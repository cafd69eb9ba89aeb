"""The verb `align`: do judges rank models as people do?"""

from typing import TYPE_CHECKING, Literal

import click

from tiebreak.cli._families import bootstrap_options, form_or_csv_options, method_option
from tiebreak.cli._options import File, option, verb
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import show
from tiebreak.rankers.aggregators import AGGREGATORS

if TYPE_CHECKING:
    from tiebreak.rankers import Resampling


@verb()
def align(
    logs: tuple[File, ...],
    *,
    human: File = option(
        "CSV with columns model, rank (1 = best) or score, and perhaps benchmark."
    ),
    methods: tuple[str, ...] = method_option(
        "Aggregators of peer reviews. Repeatable. Default: all, Dodgson only where it is quick."
    ),
    scores: Literal["order", "mean-rank"] = option(
        "What Pearson correlates item by item: everybody's order; or of average, SR and PR the "
        "mean ranks themselves (as the paper does for its Average), and the order of all others.",
        default="order",
    ),
    plot: Plot = plot_options("Draw the correlations item by item as boxes:"),
    plot_method: str | None = option(
        "Whose boxes to draw where there are several: a method, a reviewer, or native score. "
        "Default: the first method. Or views: SR, PR, SIA and SFA of each.",
        metavar="RATER",
    ),
    form: str | None = form_or_csv_options,
    items: bool = option("In JSON: the correlations of all items, too."),
    how: "Resampling" = bootstrap_options,
) -> None:
    """Compare boards with a ranking by people, whoever judged. It may be a leaderboard of votes.

    LOGS are ranking logs of any protocol, and folders of them. For a judge's or a jury's board
    (also by stars) you get how many pairs of models it decides as people do, both orders, the
    models that it places higher than people do, and Pearson's and Kendall's correlation of its
    scores with people. For a peer review you get these correlations item by item and over all
    items, for each reviewer, each aggregator and four views (SR: a model's rank by itself, PR: by
    its peers, SIA: in the consensus by the first method, SFA: the same without own ranks). Both
    show the benchmark's own score. The CSV file has one ranking, or one per benchmark:

    \b
      benchmark,model,rank
      gsm8k,gpt-5,1

    Rows without a benchmark count for all benchmarks that have no rows of their own.

    \b
    Examples:
      tiebreak align logs/ --human arena.csv
      tiebreak align logs/ stars/ --human arena.csv
      tiebreak align logs/ --human arena.csv --method kemeny_young --method borda --json
      tiebreak align logs/ --human arena.csv --plot alignment.svg
      tiebreak align logs/ --human arena.csv --plot views.svg --plot-method views
      tiebreak align logs/ --human arena.csv --scores mean-rank
    """
    from tiebreak.analysis.alignment import align as alignment_of

    if items and form != "json":
        raise click.UsageError("--items goes with --json.")
    plot.check()
    alignment = alignment_of(logs, human, methods=methods or None, scores=scores, how=how)
    show(form, alignment, items=items)
    plot.draw("alignment", alignment, rater=plot_method or (methods or tuple(AGGREGATORS))[0])
