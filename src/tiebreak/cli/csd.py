"""The verb `csd`: Swiss-system contests over many benchmarks."""

from typing import Any

import click

from tiebreak.cli import _shared
from tiebreak.cli._contest import Contest, contest_options, play
from tiebreak.cli._pictures import Plot, plot_options
from tiebreak.cli._shared import FILES, SCORES_LIMIT, show, verb


@verb()
@click.argument("scores", type=FILES, nargs=-1, required=True)
@contest_options
@_shared.scores_options
@click.option("--iterations", type=click.IntRange(1), default=100_000)
@click.option("--seed", type=click.IntRange(0), default=0)
@click.option(
    "--jobs",
    "n_jobs",
    type=int,
    metavar="N",
    help="Worker processes. [default: one a core, with joblib]",
)
@_shared.also_option(
    "kemeny", "Also show each model's place by Kemeny–Young, each benchmark a ballot."
)
@plot_options(
    "Draw expected wins, and beside it, with -sensitivity and -perturbation in their names, what "
    "else was asked for:"
)
@_shared.form_options("json")
def csd(
    scores: tuple[str, ...],
    contest: Contest,
    reading: dict[str, Any],
    also: bool,
    plot: Plot,
    form: str | None,
    **options: Any,  # arguments of csd
) -> None:
    """Rank models by contests over many benchmarks (CSD). The contests are simulated Swiss systems.

    SCORES is a CSV file (a column `model`, then one column per benchmark, higher is better), or in
    any mix Inspect logs, lm-eval results_*.json, Parquet pools of `tiebreak candidates` and
    `tiebreak score-code`, and folders of these. Where a pool and a log have the same score, the
    pool's counts. Intervals over items need standard errors: logs hold them, a pool's items give
    smaller ones (paired), for a CSV file give --stderr.

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
    report = play(scores, reading, contest, options)
    if also:
        report = with_kemeny(report, time_limit=SCORES_LIMIT)
    show(form, report)
    plot.draw("contest", report, label="Plots")
