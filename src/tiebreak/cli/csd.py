"""The verb `csd`: Swiss-system contests over many benchmarks."""

from typing import TYPE_CHECKING

import click

from tiebreak.cli._contest import Contest, contest_options, play
from tiebreak.cli._families import also_option, form_options, reading_options
from tiebreak.cli._options import Count, File, option, verb
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import SCORES_LIMIT, show

if TYPE_CHECKING:
    from tiebreak.rankers.contests.expected_wins import CsdOptions
    from tiebreak.tables.inputs import ReadingOptions


@verb()
def csd(
    scores: tuple[File, ...],
    *,
    contest: Contest = contest_options,
    reading: "ReadingOptions" = reading_options,
    iterations: Count = option(default=100_000),
    seed: int = option(default=0, type=click.IntRange(0)),
    n_jobs: int | None = option(
        "Worker processes. [default: one a core, with joblib]", "--jobs", metavar="N"
    ),
    also: bool = also_option(
        "kemeny", "Also show each model's place by Kemeny–Young, each benchmark a ballot."
    ),
    plot: Plot = plot_options(
        "Draw expected wins, and beside it, with -sensitivity and -perturbation in their names, "
        "what else was asked for:"
    ),
    form: str | None = form_options,
) -> None:
    """Rank models by contests over many benchmarks (CSD). The contests are simulated Swiss systems.

    SCORES is a CSV file (a column `model`, then one column per benchmark, higher is better), or in
    any mix Inspect logs, lm-eval results_*.json, Parquet pools of `tiebreak candidates` and
    `tiebreak score-code`, and folders of these. If a pool and a log have the same score, the pool's
    counts. Intervals over items need standard errors: logs contain them, a pool's items give
    smaller ones (paired), and a CSV file needs --stderr.

    \b
    Examples:
      tiebreak csd scores.csv
      tiebreak csd scores.csv --stderr errors.csv --also kemeny
      tiebreak csd scores.csv --order ifeval,gsm8k,humaneval
      tiebreak csd scores.csv --rounds rounds.yaml --eliminate 0,1,2 --plot csd.svg
      tiebreak csd scores.csv --spoil qwen3-max=ifeval,muldimif --spoil qwen3-max=aime25:best
      tiebreak csd pool.parquet --tiers 10 --benchmark mmlu_pro --eliminate 0,1,2
      tiebreak csd logs/ lm_eval_out/ pool.parquet --rename gsm8k_cot=gsm8k --json
    """
    from tiebreak.analysis.contests import with_kemeny

    plot.check()
    options: CsdOptions = {"iterations": iterations, "seed": seed, "n_jobs": n_jobs}
    report = play(scores, reading, contest, options)
    if also:
        report = with_kemeny(report, time_limit=SCORES_LIMIT)
    show(form, report)
    plot.draw("contest", report, label="Plots")
