"""The verb `bank expand`: more questions out of those that a bank has."""

from dataclasses import asdict

import click

from tiebreak.cli._shared import bank_option, echo_json, verb


@verb()
@bank_option
@click.option(
    "--to",
    "method",
    type=click.Choice(["true_false", "fill_in", "statements"]),
    required=True,
    help="What becomes of a question: see above.",
)
@click.option(
    "--approve",
    is_flag=True,
    help="Approve the variants at once, and earlier drafts that are as the method makes them. "
    "Statements that a model wrote are never approved here.",
)
@click.option("--model", metavar="MODEL", help="The model of Inspect's that writes statements.")
@click.option("--checker", metavar="MODEL", help="The model that checks them. [default: --model]")
@click.option(
    "--statements",
    "n",
    type=click.IntRange(2, 20),
    default=4,
    show_default=True,
    help="Statements about each text, half of them true.",
)
@click.option("--limit", type=click.IntRange(1), help="Write about so many texts at most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every refused question.")
def expand(
    url: str,
    method: str,
    approve: bool,
    model: str | None,
    checker: str | None,
    n: int,
    limit: int | None,
    as_json: bool,
) -> None:
    """Make more questions out of those in a bank. They are variants, as drafts for `bank review`.

    \b
    true_false   a choice of n options becomes n questions: does this option
                 fill the blank?
    fill_in      a choice becomes its stem, to be filled with the text of the
                 right option; one question, since without its options a stem
                 asks one thing
    statements   a material question becomes true/false statements about its
                 text, which a model writes (--model) and a second call checks;
                 what fails is kept as rejected

    Expanding twice changes nothing: a variant that is there stays as it is. Questions that would
    become nonsense ("all of the above", "which is NOT", two blanks) are refused and named.

    Expansion changes scores. Of n statements one is true, so who always answers "false" is right
    in n - 1 of n: 75% with four options. `bank stats` and the boards show what such answers earn,
    and sampling can balance them. Variants of one question give each other away, so a session gets
    at most one of them.

    \b
    Examples:
      tiebreak bank expand --bank fair.db --to true_false
      tiebreak bank expand --bank fair.db --to fill_in --approve
      tiebreak bank expand --bank fair.db --to statements --model openai/gpt-5 --limit 20
    """
    if (method == "statements") != (model is not None):
        wrong = "needs" if model is None else "is the only one that takes"
        raise click.UsageError(f"--to statements {wrong} --model")
    if approve and model is not None:
        raise click.UsageError("Statements of a model are read by people first: bank review")
    from tiebreak.fair.bank.expansion import expand_bank
    from tiebreak.fair.bank.schema import open_bank

    engine = open_bank(url)
    if model is not None:
        from inspect_ai.model import get_model

        from tiebreak.fair.bank.material import StatementWriter, write_statements

        writer = StatementWriter(get_model(model), get_model(checker or model), n)
        done = write_statements(engine, writer, limit=limit)
    else:
        done = expand_bank(engine, method, approve=approve)  # type: ignore[arg-type]
    if as_json:
        echo_json(asdict(done))
    else:
        from tiebreak.fair.report.bank import expansion_sheet
        from tiebreak.report import terminal

        terminal.show(expansion_sheet(done, approve=approve))
