"""The verb `csd`: Swiss-system contests over many benchmarks."""

from typing import Literal

import click

from tiebreak.cli._shared import form_options, numbers, plain_errors, renamed, show


@click.command()
@click.argument("scores", nargs=-1, required=True)
@click.option(
    "--rounds",
    "rounds_file",
    type=click.Path(),
    metavar="FILE",
    help="YAML list: one entry per round, a benchmark, a list of them, or a mapping with "
    "benchmarks, name, eliminate, weight. [default: every benchmark is a round, in order]",
)
@click.option(
    "--eliminate",
    callback=numbers(int, "whole numbers such as 0,1,2"),
    metavar="T[,T…]",
    help="Models that go out after each round; several values show what elimination costs. "
    "[default: that of the rounds file, else 0]",
)
@click.option("--iterations", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--missing",
    type=click.Choice(["error", "available", "worst"]),
    default="error",
    show_default=True,
    help="A missing score: an error, left out of the round's mean, or (a whole round) the worst.",
)
@click.option(
    "--spoil",
    metavar="MODEL=BENCHMARK[,…]",
    help="Also show what scores of 0 there would do to this model, here and in the plain mean.",
)
@click.option("--metric", metavar="NAME", help="Metric to take from logs. [default: the headline]")
@click.option("--filter", "filter_name", metavar="NAME", help="lm-eval filter to take.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="Read benchmark OLD as NEW.")
@click.option("--jobs", type=int, metavar="N", help="Worker processes; -1 = one per core.")
@form_options("json")
def csd(
    scores: tuple[str, ...],
    rounds_file: str | None,
    eliminate: tuple[int, ...] | None,
    iterations: int,
    seed: int,
    missing: Literal["error", "available", "worst"],
    spoil: str | None,
    metric: str | None,
    filter_name: str | None,
    rename: tuple[str, ...],
    jobs: int | None,
    form: str | None,
) -> None:
    """Rank models over many benchmarks by simulated Swiss-system contests (CSD).

    \b
    SCORES is a CSV file (a column `model`, then one column per benchmark, higher is better), or
    logs and folders: Inspect logs and lm-eval results_*.json.

    \b
    Examples:
      tiebreak csd scores.csv
      tiebreak csd scores.csv --rounds rounds.yaml --eliminate 0,1,2
      tiebreak csd logs/ lm_eval_out/ --rename gsm8k_cot=gsm8k --json
    """
    from tiebreak.analysis.contests import contest_report
    from tiebreak.rankers import MissingPackageError, RankingError
    from tiebreak.report.sheets import contest as sheets
    from tiebreak.tables import TableError, read_rounds, read_scores

    with plain_errors(TableError, RankingError, MissingPackageError):
        names = dict(map(renamed, rename))
        table = read_scores(scores, metric=metric, filter=filter_name, rename=names)
        report = contest_report(
            table,
            read_rounds(rounds_file, table.benchmarks) if rounds_file else None,
            eliminate=eliminate,
            spoil=spoil,
            options={"iterations": iterations, "seed": seed, "missing": missing, "n_jobs": jobs},
        )
    show(form, sheets, report)
