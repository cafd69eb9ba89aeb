"""The verbs of `bank`: a private bank of questions."""

from typing import Any

import click

from tiebreak.cli._help import Stage, Stages
from tiebreak.extras import to_install
from tiebreak.fair.cli.bank_check import check, stats
from tiebreak.fair.cli.bank_expand import expand
from tiebreak.fair.cli.bank_export import export, sample
from tiebreak.fair.cli.bank_import import import_
from tiebreak.fair.cli.bank_review import review
from tiebreak.fair.cli.bank_serve import close, quota, release, revoke, serve, sessions, token


class _Bank(Stages):
    """Says what to install where a package of the extra is missing; the help needs none."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if not error.name or error.name.startswith("tiebreak"):
                raise
            message = f"A bank needs {error.name.partition('.')[0]}: {to_install('bank')}."
            raise click.ClickException(message) from error


@click.group(cls=_Bank)
def bank() -> None:
    """Keep a private bank of questions (LLMEval-Fair). Models are asked what they have not seen.

    A bank is a file (SQLite) or a database by URL: --bank, or the variable TIEBREAK_BANK.

    \b
    Examples:
      tiebreak bank import example
      tiebreak bank expand --to true_false --approve
      inspect eval tiebreak/fair --model openai/gpt-5-mini -T bank=bank.db -T k=100
    """


bank.add_stages(
    Stage("Fill it", (import_, check, stats, expand, review)),
    Stage("Ask its questions", (sample, export)),
    Stage("Serve it to examinees", (serve, token, revoke, quota, sessions, close, release)),
)
