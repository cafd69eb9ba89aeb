"""The verb `candidates`: align and audit answers."""

from pathlib import Path
from typing import Any

import click

from tiebreak.cli._shared import format_option, loading_options, plain_errors, show


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the pool to a Parquet file.")
@loading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@format_option
def candidates(
    paths: tuple[str, ...],
    out: Path | None,
    loading: dict[str, Any],
    as_json: bool,
    style: str | None,
) -> None:
    """Align the answers in Inspect logs, lm-eval outputs and Parquet pools, and audit them.

    \b
    A pool that somebody published on the Hub is hf://datasets/OWNER/NAME[@REVISION][/FILE].

    \b
    Examples:
      tiebreak candidates logs/
      tiebreak candidates logs/ lm_eval_out/ --rename gsm8k_cot=gsm8k --out pool.parquet
      tiebreak candidates hf://datasets/OWNER/NAME
    """
    from tiebreak.candidates import CandidateError, audit, load_candidates, write_parquet
    from tiebreak.report.sheets import audit as sheets

    with plain_errors(CandidateError):
        pool = load_candidates(paths, **loading)
        if out is not None:
            write_parquet(pool, out)
    show("json" if as_json else style, sheets, audit(pool))
    if out is not None and not as_json:
        click.echo(f"\nPool: {out}")
