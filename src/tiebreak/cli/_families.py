"""Options that several verbs have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from tiebreak.cli._options import FILES, Name, family, option
from tiebreak.paths import problem_with
from tiebreak.rankers.aggregators import AGGREGATORS
from tiebreak.scorers.rules import ANEW
from tiebreak.text import all_of

if TYPE_CHECKING:
    from tiebreak.rankers.uncertainty import Resampling
    from tiebreak.scorers.ballots import Rule
    from tiebreak.tables.inputs import ReadingOptions


def numbers(
    kind: Callable[[str], float],
    described: str,
    valid: Callable[[float], bool] = lambda number: True,
) -> Callable[[click.Context, click.Parameter, str | None], tuple[float, ...] | None]:
    """A callback that reads comma-separated numbers; `described` names them, with an example."""

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


def method_option(help: str, **more: Any) -> tuple[str, ...]:
    """The option --method: aggregators that merge rankings, without duplicates.

    "all" adds all others after the named ones.
    """

    def chosen(context: object, option: object, given: tuple[str, ...]) -> tuple[str, ...]:
        named = [method for method in given if method != "all"]
        return tuple(dict.fromkeys([*named, *(AGGREGATORS if "all" in given else ())]))

    return option(
        f"{help} Methods: {', '.join(AGGREGATORS)}; or all of them: all.",
        "--method",
        multiple=True,
        type=click.Choice([*AGGREGATORS, "all"]),
        callback=chosen,
        metavar="METHOD",
        **more,
    )


bank_option: str = option(
    "The bank: a file, or a URL such as postgresql://user@host/bank.",
    "--bank",
    default="bank.db",
    type=FILES,
    envvar="TIEBREAK_BANK",
    metavar="FILE|URL",
)
"""The option --bank: a private bank of questions."""

price_option: str | None = option(
    "Prices in the form that `inspect eval` takes.",
    "--model-cost-config",
    type=click.Path(),
    metavar="FILE",
    envvar="INSPECT_EVAL_MODEL_COST_CONFIG",
)
"""The option --model-cost-config: a file of prices."""

prices_option: tuple[str, ...] = option(
    "Dollars per million tokens in and out; costs that logs know stay. Repeatable.",
    "--price",
    metavar="[MODEL=]IN,OUT",
)
"""The option --price: prices of models."""

skip_faulty_option: bool = option(
    "Leave faulty rows of people's and judges' files out, with a note. [default: an error]"
)
"""The option --skip-faulty: leave faulty rows out instead of raising an error."""

level_option: float = option(default=0.95, type=click.FloatRange(0.5, 0.999))
"""The option --level: confidence level of intervals."""

json_option: bool = option("Print JSON instead of lines.", "--json")
"""The option --json of verbs that print lines."""


def shown_option(help: str) -> int:
    """The option --show: how many findings of a bank are named."""
    return option(help, "--show", default=20, type=click.IntRange(1))


def place_option(help: str) -> "Rule | None":
    """The option --place: another rule of placement than the one the ballots name."""
    return option(help, "--place", type=click.Choice(ANEW), required=False)


def also_option(name: str, help: str) -> bool:
    """The option --also: show another ranking beside the verb's own."""

    def given(context: object, option: object, value: str | None) -> bool:
        return value is not None

    return option(help, type=click.Choice([name]), callback=given)


def rename_option(help: str) -> dict[str, str]:
    """The option --rename: new names of benchmarks by their old names."""
    return assignments_option("--rename", "OLD=NEW", help)


def assignments_option(flag: str, form: str, help: str, *, commas: bool = False) -> dict[str, str]:
    """A repeatable option of the form A=B, read as a dict of A to B.

    With `commas` each use may contain several, separated by commas.
    """

    def read(context: object, option: object, texts: Sequence[str]) -> dict[str, str]:
        pairs = [pair for text in texts for pair in (text.split(",") if commas else [text])]
        parts = [pair.partition("=") for pair in pairs]
        for text, part in zip(pairs, parts, strict=True):
            if not all(part):
                raise click.BadParameter(f"{text!r} is not of the form {form}", param_hint=flag)
        return {first: second for first, _, second in parts}

    return option(help, flag, multiple=True, callback=read, metavar=form)


def _path_and_model(text: str) -> tuple[str, str]:
    """Split PATH=MODEL into PATH and MODEL, both of which may contain "=".

    PATH is the longest one that exists as a file or folder, or else ends at the first "=".
    """
    cuts = [at for at, char in enumerate(text) if char == "=" and at]
    at = max((at for at in cuts if not problem_with(text[:at])), default=text.find("="))
    if at < 1 or at + 1 == len(text):
        raise click.BadParameter(f"{text!r} is not of the form PATH=MODEL", param_hint="--name")
    return text[:at], text[at + 1 :]


MODES = "strict: any hole is an error. intersect: keep the items that all models answered."


@dataclass(frozen=True, kw_only=True)
class CandidateOptions:
    """Options that are arguments of `load_candidates`."""

    mode: Literal["strict", "intersect", "union"] = option(
        MODES, default="strict", type=click.Choice(["strict", "intersect"])
    )
    rename: dict[str, str] = rename_option(
        "Read benchmark OLD under the name NEW, so that it aligns with other logs. Repeatable."
    )
    names: dict[str, str] = option(
        "Call the model of a log, or of a folder of logs, MODEL. Repeatable.",
        "--name",
        multiple=True,
        callback=lambda context, option, texts: dict(map(_path_and_model, texts)),
        metavar="PATH=MODEL",
    )
    same_settings: bool = option(
        "Refuse models that were asked in different ways (temperature, shots, solver …)."
    )
    native: Name | None = option(
        "Scorer or metric to take native scores from; of a score of several values NAME.PART.  "
        "[default: the first that all logs have]",
        "--metric",
    )
    filter: Name | None = option("lm-eval filter to take scores from.")


_JSON: bool = option("Print JSON instead of tables.")
_STYLE: str | None = option(
    "Print the tables as Markdown, LaTeX or HTML.", type=click.Choice(["markdown", "latex", "html"])
)


def _form(json: bool = _JSON, format: str | None = _STYLE) -> str | None:
    return _form_or_csv(json, csv=False, format=format)


def _form_or_csv(
    json: bool = _JSON,
    csv: bool = option("Print CSV instead of tables."),
    format: str | None = _STYLE,
) -> str | None:
    options = {"--json": json and "json", "--csv": csv and "csv", f"--format {format}": format}
    given = {option: form for option, form in options.items() if form}
    if len(given) > 1:
        raise click.UsageError(f"{all_of(list(given))} are several forms: give one of them")
    return next(iter(given.values()), None)


form_options: str | None = family(_form)
"""The options --json and --format: the `form` in which `show` prints a finding."""

form_or_csv_options: str | None = family(_form_or_csv)
"""The same with --csv, for findings that can be printed as rows."""


def _resampling(
    level: float = level_option,
    draws: int = option(default=2000, type=click.IntRange(100)),
    seed: int = option("Seed of the bootstrap.", default=0),
) -> "Resampling":
    # Imported here so that --help does not load NumPy.
    from tiebreak.rankers.uncertainty import Resampling

    return Resampling(level, draws, seed)


bootstrap_options: "Resampling" = family(_resampling)
"""The options --level, --draws and --seed of bootstrap intervals."""


def _reading(
    stderr: str | None = option(
        "CSV file of the scores' standard errors, shaped like one of scores. [default: those in "
        "logs or a pool]",
        type=click.Path(),
        metavar="FILE",
    ),
    metric: Name | None = option("Metric or scorer to take from logs. [default: the headline]"),
    filter: Name | None = option("lm-eval filter to take."),
    rename: dict[str, str] = rename_option("Read benchmark OLD as NEW."),
) -> "ReadingOptions":
    return {"stderr": stderr, "metric": metric, "filter": filter, "rename": rename}


reading_options: "ReadingOptions" = family(_reading)
"""The options that are arguments of `read_scores`."""
