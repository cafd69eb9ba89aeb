"""The verbs of `bank`: a private bank of questions."""

import click

from tiebreak.cli import (
    bank_check,
    bank_expand,
    bank_export,
    bank_import,
    bank_release,
    bank_review,
    bank_sample,
    bank_serve,
    bank_stats,
    bank_token,
)


@click.group()
def bank() -> None:
    """Keep a private bank of questions, and ask unseen ones (LLMEval-Fair).

    \b
    A bank is a file (SQLite) or a database by URL: --bank, or the variable TIEBREAK_BANK.

    \b
    Examples:
      tiebreak bank import example
      tiebreak bank expand --to true_false --approve
      inspect eval tiebreak/fair --model openai/gpt-5-mini -T bank=bank.db -T k=100
    """


for verb in (
    bank_import.import_,
    bank_check.check,
    bank_stats.stats,
    bank_expand.expand,
    bank_review.review,
    bank_sample.sample,
    bank_export.export,
    bank_serve.serve,
    bank_token.token,
    bank_token.revoke,
    bank_token.quota,
    bank_release.sessions,
    bank_release.close,
    bank_release.release,
):
    bank.add_command(verb)
