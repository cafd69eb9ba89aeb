"""The verb `bank stats`: what a bank holds."""

from tiebreak.cli._shared import bank_option, form_options, show, verb


@verb()
@bank_option
@form_options("json")
def stats(url: str, form: str | None) -> None:
    """Show what a bank holds. Shown is also what the same answer to every question would score.

    Counts by category, type and status; raw questions and what expansion made of them, by category
    and by source (LLMEval-Fair, tables 6 and 5); the share that always answering true, false or
    one letter gets right: one true and three false statements make "false" right in 75%.

    \b
    Examples:
      tiebreak bank stats
      tiebreak bank stats --bank postgresql://me@host/bank --json
    """
    from tiebreak.bank import stats_sheet as sheets
    from tiebreak.bank.schema import open_bank, shown
    from tiebreak.bank.stats import bank_stats

    found = bank_stats(open_bank(url), bank=shown(url))
    show(form, sheets, found)
