"""The verb `canary`: how often do answers that talk to a judge persuade it?"""

from typing import TYPE_CHECKING, Any, Literal

import click

from tiebreak.cli._families import form_options, level_option, price_option
from tiebreak.cli._options import Count, File, Model, Name, option, verb
from tiebreak.cli._shared import show

if TYPE_CHECKING:
    from tiebreak.study.estimate.estimate import Estimate


@verb()
def canary(
    paths: tuple[File, ...],
    *,
    judge: Model | None = option("Model to ask. Without it, PATHS are ranking logs."),
    number: Count | None = option(
        "How many canaries.  [default: one for each attack]", "-n", "--number", metavar="N"
    ),
    seed: int = option("Draws items and attacks.", default=0),
    log_dir: str = option(
        "Where Inspect's log is kept.", default="canaries", type=click.Path(file_okay=False)
    ),
    mode: Literal["strict", "intersect"] = option(default="strict", show_default=False),
    task_type: Name | None = option("As -T task_type of the judging tasks."),
    rubric: File | None = option("As -T rubric."),
    price_file: str | None = price_option,
    dry: bool = option("Only say what it would cost; ask nobody.", "--estimate"),
    level: float = level_option,
    form: str | None = form_options,
) -> None:
    """Measure how often answers that talk to a judge persuade it.

    A canary is a weak answer with an attack on the judge (a forged verdict, a fence, a role, a
    reference, …), compared with an ordinary answer to the same task. Its control is the same pair
    without the attack. Both are judged in both orders: 4 calls per canary. The weak answer is one
    that failed where another passed, or else the first fifth of an ordinary one.

    PATHS are logs, pools and files of answers; without --judge, logs that already contain canaries
    (-T canaries=N plants them in a ranking). Calls that were already paid for come from the cache.
    Exit code 1: a canary has no verdict.

    \b
    Examples:
      tiebreak canary logs/ --judge openai/gpt-5 --estimate
      tiebreak canary logs/ --judge openai/gpt-5
      tiebreak canary logs/ --judge openai/gpt-5 -n 200 --seed 1 --json
      tiebreak canary ranking/
    """
    from tiebreak.analysis.judge.canaries import canary_reports
    from tiebreak.inspect_tasks.canaries import ask
    from tiebreak.rankers.uncertainty import Resampling
    from tiebreak.scorers.attacks import attacks
    from tiebreak.study.estimate import sheet
    from tiebreak.study.estimate.cost import estimate_canaries

    n = number or len(attacks())
    judging: dict[str, Any] = {"seed": seed, "mode": mode, "task_type": task_type, "rubric": rubric}
    if judge is not None:
        cost = estimate_canaries(paths, n, judge, price_file=price_file, **judging)
        if dry:
            show(form, cost, sheet)
            return
        click.echo(_cost(cost), err=True)
        log = ask(
            paths,
            judge,
            log_dir,
            display="none" if form else None,
            model_cost_config=price_file,
            canaries=n,
            **{name: value for name, value in judging.items() if value is not None},
        )
        paths = (log.location,)
    elif dry:
        raise click.UsageError("--estimate is about a --judge")
    reports = canary_reports(paths, how=Resampling(level=level))
    show(form, reports)
    click.get_current_context().exit(any(report.canaries.n_unscored for report in reports))


def _cost(estimate: "Estimate") -> str:
    [row] = estimate.protocols
    price = "price unknown" if row.cost is None else f"about ${row.cost.likely:,.2f}"
    return (
        f"Asking {estimate.judges.judge}: {row.calls.likely:,.0f} calls, about "
        f"{row.tokens_in.likely:,.0f} tokens in and {row.tokens_out.likely:,.0f} out, {price}"
    )
