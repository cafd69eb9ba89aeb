"""The verb `bank expand`: more questions out of those that a bank has."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli._shared import bank_option, echo_json, verb
from tiebreak.text import count, percent

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tiebreak.fair.bank.expansion import Refused
    from tiebreak.fair.bank.variants import Expanded
    from tiebreak.report.sheet import Sheet

_MOST_SHOWN = 10


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
    from tiebreak.fair.bank.schema import open_bank
    from tiebreak.fair.bank.variants import expand_bank

    engine = open_bank(url)
    if model is not None:
        done = _written(engine, model, checker or model, n, limit=limit)
    else:
        done = expand_bank(engine, method, approve=approve)  # type: ignore[arg-type]
    if as_json:
        echo_json(_as_dict(done))
    else:
        from tiebreak.report import terminal

        terminal.show(_sheet(done, approve=approve))


def _written(engine: "Engine", model: str, checker: str, n: int, **how: Any) -> "Expanded":
    from inspect_ai.model import get_model

    from tiebreak.fair.bank.material import StatementWriter
    from tiebreak.fair.bank.variants import write_statements

    return write_statements(engine, StatementWriter(get_model(model), get_model(checker), n), **how)


def _as_dict(done: "Expanded") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(done)


def _sheet(done: "Expanded", *, approve: bool) -> "Sheet":
    from tiebreak.report import cells
    from tiebreak.report.sheet import Section, Sheet, Table, names, numbers

    of_texts = done.method == "statements"
    looked = count(done.n_questions, "text" if of_texts else "multiple-choice question")
    status = "approved" if approve else "drafts: tiebreak bank review"
    lines = [
        f"{looked}; {count(done.n_made, 'new variant')}" + (f" ({status})." if done.n_made else ".")
    ]
    if done.n_made and done.method != "fill_in":
        false = 1 - done.n_true / done.n_made
        lines.append(
            f"{done.n_true:,} true, {done.n_made - done.n_true:,} false: who always answers "
            f'"false" is right in {percent(false)} of the new ones.'
        )
    if done.n_there:
        lines.append(f"{count(done.n_there, 'variant')} there before, left as they were.")
    if done.n_other:
        lines.append(
            f"{done.n_other:,} of them not as they would be made now: they, or their question, "
            "were edited since."
        )
    if done.n_approved:
        lines.append(f"{count(done.n_approved, 'earlier draft')} approved.")
    if of_texts:
        lines.append(_bill(done))
    reasons = Counter(one.why for one in done.refused).most_common()
    rows = [(cells.words(why), cells.integer(n)) for why, n in reasons]
    table = Table.of((names("Refused, because", 60), *numbers("Questions")), rows)
    sections = (
        Section.of(lines=lines),
        Section.of(table, lines=_named("Refused", done.refused)),
        Section.of(lines=_named("Rejected by the check", done.rejected)),
    )
    return Sheet(f"Expansion to {done.method}", sections=tuple(filter(None, sections)))


def _bill(done: "Expanded") -> str:
    cost = "at an unknown price" if done.cost is None else f"for ${done.cost:.2f}"
    tokens = f"{done.input_tokens:,} tokens in, {done.output_tokens:,} out"
    return f"{count(done.n_calls, 'call')} ({done.n_cached:,} from the cache); {tokens}, {cost}."


def _named(what: str, refused: "tuple[Refused, ...]") -> list[str]:
    lines = [f"{what}: {one.uuid}: {one.why}" for one in refused[:_MOST_SHOWN]]
    if (more := len(refused) - _MOST_SHOWN) > 0:
        lines.append(f"… and {more:,} more; --json names all.")
    return lines
