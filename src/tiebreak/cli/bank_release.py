"""The verbs `bank sessions`, `bank close` and `bank release`: how examinees stand."""

import click

from tiebreak.cli._shared import bank_option, form_options, plain_errors, show


@click.command()
@bank_option
@click.option("--state", type=click.Choice(["open", "complete", "closed"]), help="Only these.")
@click.option("--institution", help="Only its own.")
@form_options("json")
def sessions(url: str, state: str | None, institution: str | None, form: str | None) -> None:
    """List the sessions of a bank's server. Shown is how far each is, and its results.

    \b
    Examples:
      tiebreak bank sessions
      tiebreak bank sessions --state complete --json
    """
    from typing import cast

    from tiebreak.bank import organiser_sheet
    from tiebreak.bank.errors import BankError
    from tiebreak.bank.overview import sessions_of
    from tiebreak.bank.schema import State, open_bank

    with plain_errors(BankError), open_bank(url).connect() as connection:
        found = sessions_of(connection, state=cast("State | None", state), institution=institution)
    show(form, organiser_sheet, found)


@click.command()
@click.argument("session")
@bank_option
def close(session: str, url: str) -> None:
    """End a session now. What was not asked goes back to the quota, but is not drawn again.

    \b
    Example:
      tiebreak bank close 3f2a…
    """
    from tiebreak.bank.errors import BankError
    from tiebreak.bank.schema import open_bank
    from tiebreak.bank.sessions import close

    with plain_errors(BankError):
        found = close(open_bank(url), session)
    click.echo(f"Session {found.id} is closed, {found.answered:,} of {found.k:,} answered.")


@click.command()
@click.argument("session")
@click.option("--log", "logs", multiple=True, metavar="LOG", help="Its log of stars. Repeatable.")
@click.option("--hold", is_flag=True, help="Keep the results, and do not release them yet.")
@click.option("--withdraw", is_flag=True, help="Keep what was released from the owner again.")
@bank_option
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True)
@form_options("json")
def release(
    session: str,
    logs: tuple[str, ...],
    hold: bool,
    withdraw: bool,
    url: str,
    level: float,
    form: str | None,
) -> None:
    """Release the results of a session to its owner.

    They come from the log that judged it by stars. The owner gets the score with its interval,
    scores by subject, and how many answers these are of, nothing about single
    questions: a subject of fewer than five answers is left out. A log of other questions or other
    answers is refused. Without --log what is held is released.

    \b
    Examples:
      tiebreak bank export 3f2a… --out session.parquet
      inspect eval tiebreak/stars -T candidates=session.parquet --model-role judge=openai/gpt-5
      tiebreak bank release 3f2a… --log logs/stars.eval
      tiebreak bank release 3f2a… --withdraw
    """
    from tiebreak.bank import organiser_sheet, results
    from tiebreak.bank.errors import BankError
    from tiebreak.bank.schema import open_bank

    if (withdraw and (logs or hold)) or (hold and not logs):
        raise click.UsageError("Give --log, with --hold if you like, or --withdraw alone.")
    if not logs:
        with plain_errors(BankError):
            results.show(open_bank(url), session, shown=not withdraw)
        click.echo(
            f"The results of session {session} are {'withdrawn' if withdraw else 'released'}."
        )
        return
    from tiebreak.analysis.errors import AnalysisError
    from tiebreak.bank.release import result_of
    from tiebreak.rankers.uncertainty import Resampling
    from tiebreak.ranking_logs.log import RankingLogError

    with plain_errors(BankError, RankingLogError, AnalysisError):
        engine = open_bank(url)
        found = result_of(engine, session, logs, how=Resampling(level=level))
        (results.hold if hold else results.release)(engine, session, found.data())
    show(form, organiser_sheet, found)
