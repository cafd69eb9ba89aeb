"""The verbs of `bank`: a private bank of questions."""

from typing import Any

import click

from tiebreak.cli._help import Stage, Stages
from tiebreak.extras import to_install
from tiebreak.fair.cli import (
    bank_check,
    bank_expand,
    bank_export,
    bank_import,
    bank_review,
    bank_serve,
)


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
    Stage(
        "Fill it",
        (
            bank_import.import_,
            bank_check.check,
            bank_check.stats,
            bank_expand.expand,
            bank_review.review,
        ),
    ),
    Stage("Ask its questions", (bank_export.sample, bank_export.export)),
    Stage(
        "Serve it to examinees",
        (
            bank_serve.serve,
            bank_serve.token,
            bank_serve.revoke,
            bank_serve.quota,
            bank_serve.sessions,
            bank_serve.close,
            bank_serve.release,
        ),
    ),
)
