"""The verb `candidates`: align and audit answers."""

from pathlib import Path

import click

from tiebreak.cli._families import CandidateOptions, form_options
from tiebreak.cli._options import File, family, option, verb
from tiebreak.cli._shared import show


@verb()
def candidates(
    paths: tuple[File, ...],
    *,
    out: Path | None = option("Write the pool to a Parquet file."),
    loading: CandidateOptions = family(CandidateOptions),
    form: str | None = form_options,
) -> None:
    """Align the answers in logs and pools, and audit them.

    PATHS are Inspect logs, lm-eval outputs, Parquet pools, and files with rows of prompt, model and
    answer. A published pool on the Hub is hf://datasets/OWNER/NAME[@REVISION][/FILE].

    \b
    Examples:
      tiebreak candidates logs/
      tiebreak candidates logs/ lm_eval_out/ --rename gsm8k_cot=gsm8k --out pool.parquet
      tiebreak candidates answers.jsonl
      tiebreak candidates hf://datasets/OWNER/NAME
    """
    from tiebreak.candidates import audit, load_candidates, write_parquet

    pool = load_candidates(paths, alone=True, **vars(loading))
    if out is not None:
        write_parquet(pool, out)
    show(form, audit(pool))
    if out is not None and form is None:
        click.echo(f"\nPool: {out}")
