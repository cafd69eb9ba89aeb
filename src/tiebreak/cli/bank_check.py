"""The verb `bank check`: is anything wrong with a bank."""

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
    from tiebreak.bank import check_sheet as sheets
    from tiebreak.bank.checks import check_bank
    from tiebreak.bank.schema import open_bank, shown

    found = check_bank(open_bank(url), bank=shown(url), most_shown=most_shown)
    show(form, sheets, found)
    if found.n_wrong:
        raise SystemExit(1)
