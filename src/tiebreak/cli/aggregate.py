"""The verb `aggregate`: merge many rankings into one."""

from typing import TYPE_CHECKING, Literal

import click

from tiebreak.cli._families import also_option, form_options, method_option, reading_options
from tiebreak.cli._options import File, option, verb
from tiebreak.cli._shared import SCORES_LIMIT, show
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.text import split_names

if TYPE_CHECKING:
    from tiebreak.tables.benchmark_ballots import ScoreBallotOptions
    from tiebreak.tables.inputs import ReadingOptions

# The criterion by which each method orders.
_ORDERS_BY = {
    "kemeny_young": "the fewest pairwise disagreements, proven optimal",
    "average": "the mean rank",
    "borda": "the candidates left behind",
    "copeland": "pairwise victories minus defeats",
    "dodgson": "the swaps that make a candidate beat every other",
    "irv": "the order in which candidates are eliminated",
    "kendall": "Kemeny–Young on complete ballots alone",
    "spearman": "the places with the least squared distance",
}
_METHODS = "\n".join(f"  {name:<13} {_ORDERS_BY[name]}" for name in AGGREGATORS)


def _weights(
    context: click.Context, option: click.Parameter, text: str | None
) -> dict[str, str] | None:
    """Read the option --weights: the weight of each benchmark, still as text."""
    if text is None:
        return None
    parts = [part.rpartition("=") for part in split_names(text)]
    weights = {name: weight for name, _, weight in parts if name and weight}
    if len(weights) < len(parts):
        message = f"{text!r} is not a list such as gsm8k=2,mmlu=1/2, each benchmark once"
        raise click.BadParameter(message, context, option)
    return weights


@verb(epilog=f"\b\nMethods, by what they order:\n{_METHODS}")
def aggregate(
    files: tuple[File, ...],
    *,
    methods: tuple[str, ...] = method_option(
        "How to count the ballots. Repeatable.", default=["kemeny_young"]
    ),
    per_item: bool = option(
        "A consensus for every item, then the mean of the ranks; default: all ballots at once."
    ),
    time_limit: float | None = option(
        "For each of Kemeny–Young (which then gives the best order so far, and how far it may be "
        "from the optimum), Kendall and Dodgson. "
        f"[default: for scores {SCORES_LIMIT:g}, else none]",
        type=click.FloatRange(0),
        metavar="SECONDS",
    ),
    drop_unranked: bool = option("Leave out candidates that no ballot ranks."),
    ties: Literal["equal", "se"] = option(
        "Scores that tie on a benchmark: equal ones, or, from the top, those within the standard "
        "error of their difference from the best of a group (no test at 95%; needs standard "
        "errors).",
        default="equal",
    ),
    weights: dict[str, str] | None = option(
        "How much benchmarks count, exactly: as whole numbers of equal ballots. Others have 1.",
        callback=_weights,
        metavar="A=2,B=1/2",
    ),
    also: bool = also_option(
        "csd", "Also show each model's place in Swiss-system contests over the benchmarks."
    ),
    reading: "ReadingOptions" = reading_options,
    form: str | None = form_options,
) -> None:
    """Merge many rankings into one: ballots, logs or scores.

    Scores are what `tiebreak csd` takes: a CSV file whose first column is `model`, with a column
    per benchmark (higher is better); a Parquet pool; Inspect logs, lm-eval results_*.json and
    folders of them. Each benchmark is a ballot; a missing score is not ranked. If a folder also
    contains ranking logs, scores and logs are merged separately.

    Ballots are PrefLib files (.soc .soi .toc .toi) or CSV, with a column per candidate and a ballot
    per row (ranks, 1 = best, equal = tied, empty = not ranked; columns `item` and `reviewer` are
    optional), or with the columns `reviewer`, `candidate`, `rank` and optionally `item`. In a
    ranking log every item is a ballot, in the log of a peer review every review.

    \b
    Examples:
      tiebreak aggregate ballots.csv
      tiebreak aggregate ballots.csv --method all
      tiebreak aggregate reviews.csv --per-item --json
      tiebreak aggregate logs/ --method borda --method kemeny_young
      tiebreak aggregate scores.csv --weights gsm8k=2,mmlu=1/2
      tiebreak aggregate logs/ lm_eval_out/ --ties se --method all --also csd
    """
    from tiebreak.analysis.consensus import elect
    from tiebreak.analysis.contests import with_csd
    from tiebreak.tables import TableError, read_ballots

    making: ScoreBallotOptions = {"ties": ties, "weights": weights}
    elections = []
    read = read_ballots(files, drop_unranked=drop_unranked, making=making, reading=reading)
    if also and not any(ballots.scores for ballots in read):
        raise TableError("--also csd needs scores of benchmarks, and there are only ballots")
    for ballots in read:
        limit = SCORES_LIMIT if time_limit is None and ballots.scores else time_limit
        election = elect(ballots, methods, per_item=per_item, time_limit=limit)
        if also and ballots.scores:
            election = with_csd(election, ballots.scores)
        elections.append(election)
    show(form, elections)
