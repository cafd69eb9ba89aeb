"""The verbs of `bank` that fill a private bank of questions.

The verbs that ask its questions and serve it are in `bank_serve`.
"""

from dataclasses import asdict
from typing import Any, Literal

import click

from tiebreak.cli._families import assignments_option, bank_option, form_options, shown_option
from tiebreak.cli._help import Stage, Stages
from tiebreak.cli._options import Count, File, Model, Name, NewFile, option, verb
from tiebreak.cli._shared import echo_json, show
from tiebreak.extras import to_install
from tiebreak.fair.cli.bank_serve import (
    close,
    export,
    quota,
    release,
    revoke,
    sample,
    serve,
    sessions,
    token,
)
from tiebreak.text import count


@verb("import", metavar="FILE|DATASET...")
def import_(
    files: tuple[File, ...],
    *,
    url: str = bank_option,
    names: dict[str, str] = assignments_option(
        "--map",
        "NAME=FIELD",
        "What the files call NAME is this field of a question. Repeatable, or with commas.",
        commas=True,
    ),
    values: dict[str, str] = assignments_option(
        "--set", "FIELD=VALUE", "All questions have this value of a field. Repeatable."
    ),
    skip_faulty: bool = option(
        "Import the rows without a fault. Default: one fault, and nothing is imported."
    ),
    near_duplicates: Literal["draft", "skip", "keep"] = option(
        "What becomes of near duplicates of earlier questions: drafts, which are not asked until "
        "somebody approves them; left out; or imported as they are.",
        "--near",
        default="draft",
    ),
    most_shown: int = shown_option("How many faults and duplicates are named."),
    form: str | None = form_options,
) -> None:
    """Take questions from files into a bank: all of them, or none.

    FILE is JSON (an array), JSON lines, Parquet or CSV; DATASET is one on the Hugging Face Hub,
    hf://datasets/OWNER/NAME[@REVISION][/FILE] or OWNER/NAME; "example" are the 254 questions that
    come with Tiebreak. A file that was imported before changes nothing. Fields, with other names
    that they may have:

    \b
      question (text)           or dialog, turns with role and content, of the
                                published form
      answer (key, target)      true or false; a letter (A is the first option) or
                                a whole number (0 is the first); the fill, several
                                with ; between them; after a solution and ####
      category (subject)        and sub_category; without it, the file's name
      type (question_type)      true_false, multiple_choice, fill_in,
                                short_answer, term, material; without it, what
                                text and key look like
      options (choices)         a list; in CSV as JSON, or with | between them
      hint (explanation)        where there is no answer, the hint holds the key
      uuid (question_uuid, id)  without it, made of the content
      raw_uuid (raw_id)         the same for all variants of one question
      source, date, status, parent, made_by

    --map names fields that files call otherwise, --set gives what they lack; both replace what the
    files have.

    A question with the same text and options as an earlier one is left out. Near duplicates are
    found by runs of three characters; different questions with one stem may be among them.

    \b
    Examples:
      tiebreak bank import example
      tiebreak bank import questions.jsonl
      tiebreak bank import test.jsonl --set category=math --set type=short_answer
      tiebreak bank import exam.csv --map topic=category,task=question
      tiebreak bank import exams/*.json --bank postgresql://me@host/bank
      tiebreak bank import OWNER/NAME --skip-faulty --near keep
    """
    from tiebreak.fair.bank.importing import import_files
    from tiebreak.fair.bank.reading import Fields, sources_of
    from tiebreak.fair.bank.schema import open_bank, shown
    from tiebreak.fair.report import bank as sheets

    fields, sources = Fields(names, values), sources_of(files)
    bank = open_bank(url, create=True)
    report = import_files(
        bank,
        sources,
        bank=shown(url),
        skip_faulty=skip_faulty,
        near_duplicates=near_duplicates,
        fields=fields,
        most_shown=most_shown,
    )
    show(form, report, sheets)
    if report.refused:
        raise SystemExit(1)


@verb()
def check(
    url: str = bank_option,
    most_shown: int = shown_option("How many findings of each kind are named."),
    form: str | None = form_options,
) -> None:
    """Check a bank for faults. It looks at formats, siblings, parents, statements and duplicates.

    Exit code 1 when something is wrong. Near duplicates are shown for a person to decide; they
    are no faults by themselves.

    \b
    Examples:
      tiebreak bank check
      tiebreak bank check --bank postgresql://me@host/bank --json
    """
    from tiebreak.fair.bank.checks import check_bank
    from tiebreak.fair.bank.schema import open_bank, shown
    from tiebreak.fair.report import bank as sheets

    report = check_bank(open_bank(url), bank=shown(url), most_shown=most_shown)
    show(form, report, sheets)
    if report.n_wrong:
        raise SystemExit(1)


@verb()
def stats(url: str = bank_option, form: str | None = form_options) -> None:
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
    show(form, report, sheets)


@verb()
def expand(
    url: str = bank_option,
    method: Literal["true_false", "fill_in", "statements"] = option(
        "What becomes of a question: see above.", "--to"
    ),
    approve: bool = option(
        "Approve the variants at once, and earlier drafts that are as the method makes them. "
        "Statements that a model wrote are never approved here."
    ),
    model: Model | None = option("The model of Inspect's that writes statements."),
    checker: Model | None = option("The model that checks them. [default: --model]"),
    n: int = option(
        "Statements about each text, half of them true.",
        "--statements",
        default=4,
        type=click.IntRange(2, 20),
    ),
    limit: Count | None = option("Write about so many texts at most."),
    as_json: bool = option("Print JSON, with every refused question.", "--json"),
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

    Expansion changes scores. Of n statements one is true, so a model that always answers "false" is
    right in n - 1 of n: 75% with four options. `bank stats` and the boards show what such answers
    earn, and sampling can balance them. Variants of one question give each other away, so a session
    gets at most one of them.

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
        from tiebreak.fair.bank.errors import BankError
        from tiebreak.fair.bank.material import StatementWriter, write_statements
        from tiebreak.prerequisite import model_named

        author = model_named(model, BankError)
        writer = StatementWriter(author, model_named(checker or model, BankError), n)
        done = write_statements(engine, writer, limit=limit)
    else:
        done = expand_bank(engine, method, approve=approve)  # type: ignore[arg-type]
    if as_json:
        from tiebreak.report.json import json_ready

        echo_json(json_ready(done))
    else:
        from tiebreak.fair.report.bank import expansion_sheet
        from tiebreak.report import terminal

        terminal.show(expansion_sheet(done, approve=approve))


@verb()
def review(
    url: str = bank_option,
    out: NewFile | None = option(
        "Write the questions to a new file. It holds their keys.", metavar="CSV"
    ),
    given: NewFile | None = option(
        "Take over what was decided in that file: all of it or nothing.", "--in", metavar="CSV"
    ),
    statuses: tuple[Literal["draft", "approved", "rejected"], ...] = option(
        "With --out: questions of this status. Repeatable.", "--status", default=("draft",)
    ),
    reviewer: Name = option("With --in: who decided.", default="", show_default=False),
    as_json: bool = option("Print JSON instead of sentences.", "--json"),
) -> None:
    """Have people read questions before they are asked. Drafts go out as CSV, decisions come in.

    \b
    1. --out writes the drafts.
    2. In any spreadsheet, set status to approved or rejected. The text of the
       question, its answer and its hint may be edited. Rows and columns may
       go, except uuid, digest and status.
    3. --in takes the decisions over, and keeps each change with its time and
       reviewer.

    Rows that changed in the bank meanwhile are refused and named; then nothing is taken over. An
    apostrophe in front of a cell keeps the spreadsheet from running or changing it.

    \b
    Examples:
      tiebreak bank review --bank fair.db --out drafts.csv
      tiebreak bank review --bank fair.db --in drafts.csv --reviewer "A. Reader"
      tiebreak bank review --bank fair.db --out all.csv --status approved --status rejected
    """
    if (out is None) == (given is None):
        raise click.UsageError("Give one of --out and --in.")
    from tiebreak.fair.bank.review import read_review, write_review
    from tiebreak.fair.bank.schema import open_bank

    engine = open_bank(url)
    if out is not None:
        n = write_review(engine, out, statuses)
        if as_json:
            echo_json({"file": str(out) if n else None, "questions": n})
        elif n:
            click.echo(f"{out}: {count(n, 'question')}, with their keys.")
        else:
            click.echo(f"No question is {' or '.join(statuses)}; no file was written.")
    elif given is not None:
        done = read_review(engine, given, reviewer)
        counts = {
            "approved": done.n_to("approved"),
            "rejected": done.n_to("rejected"),
            "draft_again": done.n_to("draft"),
            "edited": done.n_edited,
            "unchanged": done.n_unchanged,
        }
        if as_json:
            echo_json({**asdict(done), **counts})
        else:
            listed = [f"{n:,} {name.replace('_', ' ')}" for name, n in counts.items() if n]
            click.echo(f"{count(done.n_rows, 'row')}: {', '.join(listed)}.")


class _Bank(Stages):
    """A group that says what to install if a package of the extra is missing; help needs none."""

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
