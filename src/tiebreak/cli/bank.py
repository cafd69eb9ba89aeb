"""The verbs of `bank`: a private bank of questions."""

import click

from tiebreak.cli import bank_import


@click.group()
def bank() -> None:
    """Keep a private bank of questions, and ask unseen ones (LLMEval-Fair).

    \b
    A bank is a file (SQLite) or a database by URL: --bank, or the variable TIEBREAK_BANK.
    """


for verb in (bank_import.import_,):
    bank.add_command(verb)
