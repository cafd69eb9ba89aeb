"""The verb `diagnose`: whether a benchmark is saturated, and whether judging could help."""

import shlex
from typing import Any

import click

from tiebreak.cli._shared import FILES, form_options, level_option, loading_options, show, verb


@verb()
@click.argument("paths", type=FILES, nargs=-1, required=True)
@loading_options()
@level_option
@click.option(
    "--power",
    type=click.FloatRange(0.5, 0.999),
    default=0.8,
    help="Probability with which a detectable difference is to be found.",
)
@form_options("json")
def diagnose(
    paths: tuple[str, ...], loading: dict[str, Any], level: float, power: float, form: str | None
) -> None:
    """Say whether a benchmark is saturated for your models.

    It also says whether judging could help. PATHS are Inspect logs, lm-eval outputs
    and Parquet pools. No judge is asked.

    \b
    Examples:
      tiebreak diagnose logs/
      tiebreak diagnose pool.parquet --level 0.99 --json
    """
    from tiebreak.analysis.diagnosis import diagnose as diagnoses_of
    from tiebreak.candidates import load_candidates

    pool = load_candidates(paths, **loading)
    diagnoses = diagnoses_of(pool, level=level, power=power)
    show(form, diagnoses)
    if form is None and any(diagnosis.verdict.judging == "could_help" for diagnosis in diagnoses):
        where = shlex.join(paths)
        click.echo(f"\nWhat judging would cost:\n  tiebreak estimate {where} --judge MODEL")
        from tiebreak.study.estimate.cost import small_field

        if few := small_field(pool):
            click.echo(f"{few}.")
