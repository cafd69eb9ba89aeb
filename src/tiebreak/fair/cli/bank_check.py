"""The verbs `bank check` and `bank stats`: is anything wrong with a bank, and what it holds."""

from tiebreak.cli._shared import bank_option, form_options, show, shown_option, verb


@verb()
@bank_option
@shown_option("How many findings of each kind are named.")
@form_options("json")
def check(url: str, most_shown: int, form: str | None) -> None:
    """Check a bank for faults. It looks at formats, siblings, parents, statements and duplicates.

    Exit code 1 when something is wrong. Near duplicates are shown for a person to decide and are
    nothing wrong by themselves.

    \b
    Examples:
      tiebreak bank check
      tiebreak bank check --bank postgresql://me@host/bank --json
    """
    from tiebreak.fair.bank.checks import check_bank
    from tiebreak.fair.bank.schema import open_bank, shown
    from tiebreak.fair.report import bank as sheets

    report = check_bank(open_bank(url), bank=shown(url), most_shown=most_shown)
    show(form, sheets, report)
    if report.n_wrong:
        raise SystemExit(1)


@verb()
@bank_option
@form_options("json")
def stats(url: str, form: str | None) -> None:
    """Show what a bank holds. It also shows what one answer to every question would score.

    Counts by category, type and status; raw questions and what expansion made of them, by category
    and by source (LLMEval-Fair, tables 6 and 5); the share that always answering true, false or
    one letter gets right: one true and three false statements make "false" right in 75%.

    \b
    Examples:
      tiebreak bank stats
      tiebreak bank stats --bank postgresql://me@host/bank --json
    """
    from tiebreak.fair.bank.schema import open_bank, shown
    from tiebreak.fair.bank.stats import bank_stats
    from tiebreak.fair.report import bank as sheets

    report = bank_stats(open_bank(url), bank=shown(url))
    show(form, sheets, report)
