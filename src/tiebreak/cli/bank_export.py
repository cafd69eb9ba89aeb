"""The verb `bank export`: sessions as pools of candidates, or the bank's questions."""

from typing import TYPE_CHECKING

import click

from tiebreak.cli._shared import FILES, bank_option, verb

if TYPE_CHECKING:
    from tiebreak.bank.question import Status


@verb()
@click.argument("sessions", nargs=-1, metavar="[SESSION...]")
@bank_option
@click.option(
    "--out",
    type=FILES,
    metavar="FILE|FOLDER",
    help="The pool (.parquet) of one session, or a folder for SESSION.parquet of each. "
    "[default: this folder]",
)
@click.option(
    "--partial", is_flag=True, help="Take sessions that are not answered to the end, as they are."
)
@click.option(
    "--questions",
    is_flag=True,
    help="Instead of sessions the bank's questions with their keys, as FILE.jsonl, .parquet or "
    ".csv, which `bank import` reads again.",
)
@click.option(
    "--status",
    type=click.Choice(["draft", "approved", "rejected"]),
    help="Only questions with this status.",
)
def export(
    sessions: tuple[str, ...],
    url: str,
    out: str | None,
    partial: bool,
    questions: bool,
    status: "Status | None",
) -> None:
    """Make a pool of a session's answers, with the keys to grade them. Or write the questions.

    Every session has questions of its own, so each is a pool of its own, and is judged in a log of
    its own; `tiebreak rank` joins these. A session that is not answered to the end is an error
    that names what is missing.

    \b
    Examples:
      tiebreak bank export 3f2a… --out gpt-5.parquet
      tiebreak bank export 3f2a… 77c1… --out pools/
      tiebreak bank export --questions --out questions.jsonl
      inspect eval tiebreak/stars -T candidates=gpt-5.parquet --model-role judge=openai/gpt-5
    """
    from pathlib import Path

    from tiebreak.bank.schema import open_bank
    from tiebreak.bank.session_pool import pool_of
    from tiebreak.candidates.parquet import write_parquet
    from tiebreak.words import count

    if questions == bool(sessions) or (status and not questions):
        raise click.UsageError("Give sessions, or --questions, which --status goes with.")
    if questions:
        _export_questions(url, out, status)
        return
    target = Path(out or ".")
    one = target.suffix == ".parquet"
    if one and len(sessions) > 1:
        raise click.UsageError(
            "sessions have different questions, so each is a pool of its own: give --out a folder"
        )
    engine = open_bank(url)
    pools = {session: pool_of(engine, session, partial=partial) for session in sessions}
    for session, pool in pools.items():
        file = write_parquet(pool, target if one else target / f"{session}.parquet")
        click.echo(f"{file}: {count(len(pool), 'answer')} of {pool.models[0]}")
        for note in pool.notes:
            click.echo(str(note))


def _export_questions(url: str, out: str | None, status: "Status | None") -> None:
    from tiebreak.bank.export import export_questions
    from tiebreak.bank.schema import open_bank
    from tiebreak.words import count

    if out is None:
        raise click.UsageError("--questions needs --out FILE.")
    n = export_questions(open_bank(url), out, status)
    click.echo(f"{out}: {count(n, 'question')}")
