"""The verbs `bank token`, `bank revoke` and `bank quota`: who may be asked, and how much."""

import re
from datetime import timedelta

import click

from tiebreak.cli._shared import bank_option, plain_errors

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def _lifetime(context: click.Context, option: click.Parameter, text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,5})([mhd])", text)
    if not found or not int(found[1]):
        raise click.BadParameter(f"{text!r} is no time such as 7d, 12h or 30m", context, option)
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


@click.command()
@bank_option
@click.option("--user", required=True, help="Who gets it.")
@click.option("--institution", required=True, help="Whose quota it draws on.")
@click.option(
    "--role",
    type=click.Choice(["examinee", "examiner", "admin"]),
    default="examinee",
    show_default=True,
)
@click.option("--session", metavar="ID", help="Good for this session only.")
@click.option(
    "--expires",
    "lifetime",
    callback=_lifetime,
    default="7d",
    show_default=True,
    metavar="TIME",
    help="How long it is good for: 7d, 12h, 30m.",
)
def token(
    url: str, user: str, institution: str, role: str, session: str | None, lifetime: timedelta
) -> None:
    """Print a token for the server of a bank. It is shown once, and kept nowhere.

    It is signed with TIEBREAK_JWT_SECRET (or TIEBREAK_JWT_PRIVATE_KEY), which the server must have,
    too. Its id, for `bank revoke`, goes to the error stream.

    \b
    Examples:
      export TIEBREAK_JWT_SECRET=$(openssl rand -hex 32)
      tiebreak bank token --user ada --institution example.org
      tiebreak bank token --user me --institution organiser --role admin --expires 12h
    """
    from typing import cast

    from tiebreak.bank.errors import BankError
    from tiebreak.bank.schema import Role, open_bank
    from tiebreak.bank.tokens import issue, jti_of, keys_from

    with plain_errors(BankError):
        made = issue(
            open_bank(url),
            keys_from(),
            user=user,
            institution=institution,
            role=cast("Role", role),
            session=session,
            lifetime=lifetime,
        )
    click.echo(made)
    click.echo(f"Revoke it with: tiebreak bank revoke {jti_of(made)}", err=True)


@click.command()
@bank_option
@click.argument("token_or_id")
def revoke(url: str, token_or_id: str) -> None:
    """Make a token worthless from now on. It is named by itself, or by its id (jti).

    \b
    Example:
      tiebreak bank revoke 0f8e5bd2f8b04f1e9a4c7d2b6a3e1c90
    """
    from tiebreak.bank.errors import BankError
    from tiebreak.bank.schema import open_bank
    from tiebreak.bank.tokens import jti_of, revoke

    with plain_errors(BankError):
        revoke(open_bank(url), jti_of(token_or_id) if "." in token_or_id else token_or_id)
    click.echo("The token is revoked.")


@click.command()
@bank_option
@click.argument("institution")
@click.argument("n", type=click.IntRange(0))
def quota(url: str, institution: str, n: int) -> None:
    """Set how many questions an institution may be given in all.

    \b
    Example:
      tiebreak bank quota example.org 4000
    """
    from tiebreak.bank.errors import BankError
    from tiebreak.bank.quotas import grant
    from tiebreak.bank.schema import open_bank
    from tiebreak.words import count

    with plain_errors(BankError):
        now = grant(open_bank(url), institution, n)
    click.echo(
        f"{institution}: {count(now.granted, 'question')} granted, {now.allocated:,} allocated "
        f"({now.pending:,} pending, {now.completed:,} completed), {now.left:,} left."
    )
