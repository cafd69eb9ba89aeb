"""What several verbs of `bank` need."""

from typing import TYPE_CHECKING

import click

from tiebreak.words import visible

if TYPE_CHECKING:
    from sqlalchemy import Engine


def bank_to_write(url: str, **how: bool) -> "Engine":
    """A bank as `open_bank` opens it, with a note where others may use its file.

    Raises:
        BankError: as `open_bank` does.
    """
    from tiebreak.bank.rights import open_to_others
    from tiebreak.bank.schema import open_bank

    engine = open_bank(url, **how)
    if said := open_to_others(url):
        click.echo(f"Note: {visible(said)}", err=True)
    return engine
