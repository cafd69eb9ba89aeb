"""What several verbs need."""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from tiebreak.cli._bar import progress_bar
from tiebreak.errors import TiebreakError
from tiebreak.paths import problem_of, problem_with
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.scorers.rules import ANEW
from tiebreak.text import visible

if TYPE_CHECKING:
    from tiebreak.rankers.uncertainty import Resampling
    from tiebreak.tables.human import HumanLabels

_BEYOND_ASCII = re.compile(r"[^ -~\n]")

Command = Callable[..., Any]

SCORES_LIMIT = 60.0
"""Seconds that a method has to rank models by scores, if no other number is asked for.

Kemeny–Young takes one for 126 models on 23 benchmarks, and half a minute where half of the scores
are missing.
"""


class Files(click.types.StringParamType):
    """Paths, addresses or names, taken as they are; a shell completes them as files."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave it to the shell, which knows its files."""
        return [CompletionItem(incomplete, type=self.name)]


FILES = Files()
"""What the arguments and options are that name logs, pools, tables and folders."""


def numbers(
    kind: Callable[[str], float],
    described: str,
    valid: Callable[[float], bool] = lambda number: True,
) -> Callable[[click.Context, click.Parameter, str | None], tuple[float, ...] | None]:
    """What reads an option of numbers with commas between them; `described` ends in an example."""

    def read(
        context: click.Context, option: click.Parameter, text: str | None
    ) -> tuple[float, ...] | None:
        if text is None:
            return None
        try:
            values = tuple(map(kind, text.split(",")))
        except ValueError:
            values = ()
        if not values or not all(map(valid, values)):
            raise click.BadParameter(f"{text!r} is not a list of {described}", context, option)
        return values

    return read


def refuse_given(names: Collection[str], why: str) -> None:
    """Refuse options of the running verb, by their parameters, that were given; `why` follows it.

    Raises:
        click.UsageError: one was.
    """
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name in names:
            raise click.UsageError(f"{option.opts[0]} {why}")


def method_option(help: str, **more: Any) -> Callable[[Command], Command]:
    """The option that says by which aggregators rankings are merged: methods, each once.

    "all" adds the others after those that are named.
    """

    def chosen(context: object, option: object, given: tuple[str, ...]) -> tuple[str, ...]:
        named = [method for method in given if method != "all"]
        return tuple(dict.fromkeys([*named, *(AGGREGATORS if "all" in given else ())]))

    return click.option(
        "--method",
        "methods",
        multiple=True,
        type=click.Choice([*AGGREGATORS, "all"]),
        callback=chosen,
        metavar="METHOD",
        help=f"{help} Methods: {', '.join(AGGREGATORS)}; or all of them: all.",
        **more,
    )


bank_option = click.option(
    "--bank",
    "url",
    envvar="TIEBREAK_BANK",
    default="bank.db",
    type=FILES,
    metavar="FILE|URL",
    help="The bank: a file, or a URL such as postgresql://user@host/bank.",
)
"""The option that names the bank."""


price_option = click.option(
    "--model-cost-config",
    "price_file",
    type=click.Path(),
    metavar="FILE",
    envvar="INSPECT_EVAL_MODEL_COST_CONFIG",
    help="Prices in the form that `inspect eval` takes.",
)
"""The option that names a file of prices, as `price_file`."""

prices_option = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="[MODEL=]IN,OUT",
    help="Dollars per million tokens in and out; costs that logs know stay. Repeatable.",
)
"""The option that gives prices of models, as `prices`."""


def shown_option(help: str) -> Callable[[Command], Command]:
    """The option that says how many findings of a bank are named, as `most_shown`."""
    kind = click.IntRange(1)
    return click.option("--show", "most_shown", type=kind, default=20, help=help)


def place_option(help: str) -> Callable[[Command], Command]:
    """The option that names another rule of placement than the ballots do, as `rule`."""
    return click.option("--place", "rule", type=click.Choice(ANEW), help=help)


def also_option(name: str, help: str) -> Callable[[Command], Command]:
    """The option --also that puts another ranking beside the verb's own: `also`, a bool."""

    def given(context: object, option: object, value: str | None) -> bool:
        return value is not None

    return click.option("--also", type=click.Choice([name]), callback=given, help=help)


def form_options(*flags: str) -> Callable[[Command], Command]:
    """The options that say in which form a finding is printed, as `show` takes it: one `form`."""
    return family(
        "form",
        lambda form, style: form or style,
        *(
            click.option(
                f"--{flag}",
                "form",
                flag_value=flag,
                help=f"Print {flag.upper()} instead of tables.",
            )
            for flag in flags
        ),
        click.option(
            "--format",
            "style",
            type=click.Choice(["markdown", "latex", "html"]),
            help="Print the tables as Markdown, LaTeX or HTML.",
        ),
    )


skip_faulty_option = click.option(
    "--skip-faulty",
    is_flag=True,
    help="Leave faulty rows of people's and judges' files out, with a note. [default: an error]",
)
"""The option that says what becomes of faulty rows, as `skip_faulty`."""


def labels_of(people: str | None, *, skip_faulty: bool) -> "str | HumanLabels | None":
    """The file of people's labels, or the labels in it that are not faulty."""
    if not skip_faulty:
        return people
    if people is None:
        raise click.UsageError("--skip-faulty goes with --people")
    from tiebreak.tables.human import read_human_labels

    return read_human_labels(people, skip_faulty=True)


level_option = click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95)
"""The option that says with which probability intervals hold, as `level`."""


def loading_options(modes: Sequence[str] = ("strict", "intersect")) -> Callable[[Command], Command]:
    """The options that say how candidates are loaded: one `loading`, for `load_candidates`."""
    return family(
        "loading",
        dict,
        click.option(
            "--mode",
            type=click.Choice(modes),
            default="strict",
            help="strict: any hole is an error. intersect: keep the items that all models "
            "answered." + (" union: keep all, for stars." if "union" in modes else ""),
        ),
        rename_option(
            "Read benchmark OLD under the name NEW, so that it aligns with other logs. Repeatable."
        ),
        click.option(
            "--name",
            "names",
            multiple=True,
            callback=lambda context, option, texts: dict(map(_path_and_model, texts)),
            metavar="PATH=MODEL",
            help="Call the model of a log, or of a folder of logs, MODEL. Repeatable.",
        ),
        click.option(
            "--same-settings",
            is_flag=True,
            help="Refuse models that were asked in different ways (temperature, shots, solver …).",
        ),
        click.option(
            "--metric",
            "native",
            metavar="NAME",
            help="Scorer or metric to take native scores from; of a score of several values "
            "NAME.PART.  [default: the first that all logs have]",
        ),
        click.option("--filter", metavar="NAME", help="lm-eval filter to take scores from."),
    )


def rename_option(help: str) -> Callable[[Command], Command]:
    """The option that gives benchmarks other names: `rename`, old names with the new ones."""
    return assignments_option("--rename", "rename", "OLD=NEW", help)


def assignments_option(
    flag: str, name: str, form: str, help: str, *, commas: bool = False
) -> Callable[[Command], Command]:
    """An option of two texts with = between them: what comes before it with what comes after it.

    It can be given several times; with `commas` one option has several.
    """

    def read(context: object, option: object, texts: Sequence[str]) -> dict[str, str]:
        pairs = [pair for text in texts for pair in (text.split(",") if commas else [text])]
        parts = [pair.partition("=") for pair in pairs]
        for text, part in zip(pairs, parts, strict=True):
            if not all(part):
                raise click.BadParameter(f"{text!r} is not of the form {form}", param_hint=flag)
        return {first: second for first, _, second in parts}

    return click.option(flag, name, multiple=True, callback=read, metavar=form, help=help)


def _path_and_model(text: str) -> tuple[str, str]:
    """PATH and MODEL of PATH=MODEL; either may have an = of its own.

    PATH is as long as there is such a file or folder, else it ends at the first =.
    """
    cuts = [at for at, char in enumerate(text) if char == "=" and at]
    at = max((at for at in cuts if not problem_with(text[:at])), default=text.find("="))
    if at < 1 or at + 1 == len(text):
        raise click.BadParameter(f"{text!r} is not of the form PATH=MODEL", param_hint="--name")
    return text[:at], text[at + 1 :]


def family(
    argument: str, made: Callable[..., object], *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """Options that a verb takes as one argument: what `made` makes of them, by their names."""

    def decorated(command: Command) -> Command:
        # Several options may have one name.
        params = click.command()(_with(options, lambda: None)).params
        names = dict.fromkeys(str(param.name) for param in params)

        @wraps(command)
        def with_family(*args: Any, **given: Any) -> Any:
            values = {name: given.pop(name) for name in names}
            return command(*args, **given, **{argument: made(**values)})

        return _with(options, with_family)

    return decorated


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    """The command with these options, which its help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _resampling(level: float, draws: int, seed: int) -> "Resampling":
    # NumPy is not imported to print a help text.
    from tiebreak.rankers.uncertainty import Resampling

    return Resampling(level, draws, seed)


bootstrap_options = family(
    "how",
    _resampling,
    level_option,
    click.option("--draws", type=click.IntRange(100), default=2000),
    click.option("--seed", type=int, default=0, help="Seed of the bootstrap."),
)
"""The options that say how intervals are made: one `how`."""

scores_options = family(
    "reading",
    dict,
    click.option(
        "--stderr",
        type=click.Path(),
        metavar="FILE",
        help="CSV file of the scores' standard errors, shaped like one of scores. [default: those "
        "in logs or a pool]",
    ),
    click.option(
        "--metric", metavar="NAME", help="Metric to take from logs. [default: the headline]"
    ),
    click.option("--filter", metavar="NAME", help="lm-eval filter to take."),
    rename_option("Read benchmark OLD as NEW."),
)
"""The options that say how scores are read: one `reading`, for `read_scores`."""


class Verb(click.Command):
    """A command that shows how far it is, and for which an error of Tiebreak's is one message."""

    def invoke(self, ctx: click.Context) -> Any:
        """Do the work."""
        with plain_errors():
            return super().invoke(ctx)


def verb(name: str | None = None, **settings: Any) -> Callable[[Command], Verb]:
    """Make a function a verb; it is called as the function unless a name is given."""
    return click.command(name, cls=Verb, **settings)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Do some work: a bar shows how far it is, and what goes wrong is one message.

    Tiebreak's errors, Inspect's `PrerequisiteError` and those of files end with exit code 1. They
    name models, items and files: what would steer the terminal is made visible.
    """
    try:
        with progress_bar():
            yield
    except BrokenPipeError:  # whoever read the output has enough of it
        raise
    except Exception as error:
        if not isinstance(error, (TiebreakError, OSError, *_prerequisites())):
            raise
        text = problem_of(error) if isinstance(error, OSError) else str(error)
        raise click.ClickException(visible(text, keep="\n")) from error


def _prerequisites() -> tuple[type[Exception], ...]:
    """The error that Inspect shows as a message, where Inspect is loaded."""
    if "inspect_ai" not in sys.modules:
        return ()
    from tiebreak.prerequisite import PrerequisiteError

    return (PrerequisiteError,)


def echo_json(data: object) -> None:
    """Print data as JSON, indented; what cannot be seen is escaped, as JSON may always do."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(_BEYOND_ASCII.sub(_readable, text))


def _readable(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0]).strip('"')


def show(
    form: str | None, finding: object, made_by: ModuleType | None = None, **details: object
) -> None:
    """Print a finding, or several of one kind, in this form; for the terminal where it is None.

    `made_by` is the module that makes its sheets, its data and its rows, where it is none of
    `tiebreak.report.sheets`; `details` are options of its data.
    """
    from tiebreak.report import csv, html, latex, markdown, terminal
    from tiebreak.report.sheets import module_of

    if made_by is None:
        made_by = module_of(finding[0] if isinstance(finding, Sequence) else finding)
    if form == "json":
        echo_json(made_by.data_of(finding, **details))
    elif form == "csv":
        columns = made_by.columns_of(finding) if hasattr(made_by, "columns_of") else None
        shown = visible if sys.stdout.isatty() else str
        text = csv.text(made_by.rows_of(finding), columns, shown=shown)
        # In a file names stay as they are, where click would take escape sequences out of them.
        click.echo(text, nl=False, color=True)
    elif form is None:
        terminal.show(made_by.sheets_of(finding))
    else:
        write = {"markdown": markdown.text, "latex": latex.text, "html": html.fragment}[form]
        click.echo(write(made_by.sheets_of(finding)), nl=False)
