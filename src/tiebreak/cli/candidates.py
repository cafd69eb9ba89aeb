"""The verb `candidates`: align and audit answers."""

from pathlib import Path
from typing import Any

import click

from tiebreak.cli._shared import FILES, form_options, loading_options, show, verb


@verb()
@click.argument("paths", type=FILES, nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write the pool to a Parquet file.")
@loading_options()
@form_options("json")
def candidates(
    paths: tuple[str, ...], out: Path | None, loading: dict[str, Any], form: str | None
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

    pool = load_candidates(paths, alone=True, **loading)
    if out is not None:
        write_parquet(pool, out)
    show(form, audit(pool))
    if out is not None and form is None:
        click.echo(f"\nPool: {out}")
