"""The verb `bank export`: sessions as pools of candidates."""

import click

from tiebreak.cli._shared import bank_option, plain_errors


@click.command()
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@bank_option
@click.option(
    "--out",
    metavar="FILE|FOLDER",
    help="The pool (.parquet) of one session, or a folder for SESSION.parquet of each. "
    "[default: this folder]",
)
@click.option(
    "--partial", is_flag=True, help="Take sessions that are not answered to the end, as they are."
)
def export(sessions: tuple[str, ...], url: str, out: str | None, partial: bool) -> None:
    """Make a pool of candidates of a session, with the keys, to be graded.

    \b
    Every session has questions of its own, so each is a pool of its own, and is judged in a log of
    its own; `tiebreak rank` joins these. A session that is not answered to the end is an error
    that names what is missing.

    \b
    Examples:
      tiebreak bank export 3f2a… --out gpt-5.parquet
      tiebreak bank export 3f2a… 77c1… --out pools/
      inspect eval tiebreak/stars -T candidates=gpt-5.parquet --model-role judge=openai/gpt-5
    """
    from pathlib import Path

    from tiebreak.bank.errors import BankError
    from tiebreak.bank.schema import open_bank
    from tiebreak.bank.session_pool import pool_of
    from tiebreak.candidates.parquet import write_parquet
    from tiebreak.words import count

    target = Path(out or ".")
    one = target.suffix == ".parquet"
    if one and len(sessions) > 1:
        raise click.UsageError(
            "sessions have different questions, so each is a pool of its own: give --out a folder"
        )
    with plain_errors(BankError):
        engine = open_bank(url)
        pools = {session: pool_of(engine, session, partial=partial) for session in sessions}
    for session, pool in pools.items():
        file = write_parquet(pool, target if one else target / f"{session}.parquet")
        click.echo(f"{file}: {count(len(pool), 'answer')} of {pool.models[0]}")
        for note in pool.notes:
            click.echo(str(note))
