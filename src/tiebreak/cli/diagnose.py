"""The verb `diagnose`: is a benchmark saturated, and could judging help?"""

import shlex

import click

from tiebreak.cli._families import CandidateOptions, form_options, level_option
from tiebreak.cli._options import File, family, option, verb
from tiebreak.cli._shared import show


@verb()
def diagnose(
    paths: tuple[File, ...],
    *,
    loading: CandidateOptions = family(CandidateOptions),
    level: float = level_option,
    power: float = option(
        "Probability with which a detectable difference is to be found.",
        default=0.8,
        type=click.FloatRange(0.5, 0.999),
    ),
    form: str | None = form_options,
) -> None:
    """Say whether a benchmark is saturated for your models.

    It also says whether judging could help. PATHS are Inspect logs, lm-eval outputs and Parquet
    pools. No judge is asked.

    \b
    Examples:
      tiebreak diagnose logs/
      tiebreak diagnose pool.parquet --level 0.99 --json
    """
    from tiebreak.analysis.diagnosis import diagnose as diagnoses_of
    from tiebreak.candidates import load_candidates

    pool = load_candidates(paths, **vars(loading))
    diagnoses = diagnoses_of(pool, level=level, power=power)
    show(form, diagnoses)
    if form is None and any(diagnosis.verdict.judging == "could_help" for diagnosis in diagnoses):
        from tiebreak.study.estimate.cost import small_field
        from tiebreak.study.estimate.plan import loading_words

        where = shlex.join([*paths, *loading_words(vars(loading))])
        click.echo(f"\nWhat judging would cost:\n  tiebreak estimate {where} --judge MODEL")
        if few := small_field(pool):
            click.echo(f"{few}.")
