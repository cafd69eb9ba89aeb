"""The verb `run`: from a question to a board."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli import _shared
from tiebreak.cli._shared import FILES, echo_json, show, verb
from tiebreak.text import split_names

if TYPE_CHECKING:
    from tiebreak.study.design import Study

_YAML = (".yaml", ".yml")


def _names(context: object, option: object, text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, split_names(text or "")))


def _plain(text: str) -> Any:
    """A value as Inspect's command line would read it."""
    from tiebreak.plain_yaml import read_yaml

    try:
        return read_yaml(text)
    except ValueError:
        return text


@verb()
@click.argument("questions", type=FILES, nargs=-1)
@click.option(
    "--models",
    metavar="MODEL,MODEL…",
    callback=_names,
    help="Who answers, in Inspect's notation, such as openai/gpt-5-mini.",
)
@click.option(
    "--judge",
    metavar="MODEL[,MODEL…]",
    callback=_names,
    help="Who judges; several are a jury.",
)
@click.option(
    "--peers", metavar="MODEL,MODEL…", callback=_names, help="Who reviews in peer_review."
)
@click.option(
    "--protocol",
    "protocols",
    metavar="NAME[:SETTING=VALUE,…][,NAME…]",
    help="How answers are judged.  [default: round_robin, or peer_review with --peers]",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="DOLLARS",
    help="What answers and judging may cost in this folder, in all.",
)
@click.option("--calls", type=click.IntRange(1), metavar="N", help="Judging alone, in calls.")
@_shared.prices_option
@_shared.price_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Items of each benchmark.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Answers to each item.")
@_shared.assignments_option(
    "-T", "arguments", "NAME=VALUE", "Argument of the tasks that are answered. Repeatable."
)
@click.option("--rubric", type=FILES, metavar="FILE", help="As -T rubric of the judging tasks.")
@click.option("--seed", type=int, metavar="N", help="Seed of every draw.  [default: 0]")
@click.option(
    "-o",
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where all is kept; a study that is there goes on.  [default: study-QUESTIONS, or the "
    "name of a study.yaml]",
)
@click.option("--yes", is_flag=True, help="Do not ask whether the price is right.")
@click.option("--anyway", is_flag=True, help="Judge even where it is not worth its price.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of study.yaml, for editors.")
@_shared.form_options("json", "csv")
def run(
    questions: tuple[str, ...],
    folder: Path | None,
    yes: bool,
    anyway: bool,
    schema: bool,
    form: str | None,
    **asked: Any,
) -> None:
    """Go from a question to a board. Models answer, and a judge compares.

    QUESTIONS are benchmarks of Tiebreak's (gsm8k, mmlu, humaneval, bfcl), files of your own prompts
    (.jsonl, .csv, .parquet), any task of Inspect's, a folder of logs with answers, or a study.yaml
    that says all this.

    It does what is missing and uses what lies in the folder. Killed and called again, it goes on.
    With one more model it asks that model and judges it against the others; with a larger budget it
    judges more. It shows the price of answers and judging, and you confirm it before it is paid.

    \b
    Examples:
      tiebreak run gsm8k --models openai/gpt-5-mini,anthropic/claude-haiku-4-5 \\
        --judge openai/gpt-5 --price 1.25,10 --budget 20
      tiebreak run prompts.jsonl --models openai/gpt-5-mini,google/gemini-2.5-flash \\
        --judge openai/gpt-5
      tiebreak run inspect_evals/gpqa_diamond --models openai/gpt-5-mini,openai/gpt-5-nano \\
        --judge openai/gpt-5 --limit 100 --yes
      tiebreak run logs/ --judge openai/gpt-5 --price 1.25,10 --budget 20
      tiebreak run study.yaml
    """
    if schema:
        from tiebreak.study.design import schema as schema_of

        echo_json(schema_of())
        return
    if not questions:
        raise click.UsageError("Give benchmarks, prompts, logs or a study.yaml.")
    from tiebreak.analysis.ranking import rank_logs
    from tiebreak.study import StudyError
    from tiebreak.study.run import run_study

    study = _study(questions, **asked)
    folder = folder or _folder(questions)
    may_ask = _may_ask()
    limited = study.budget is not None or study.calls is not None
    if not (yes or limited or may_ask or (folder / "plans.json").exists()):
        raise click.UsageError(
            "There is no terminal to confirm the price on: give --budget DOLLARS, --calls N or "
            "--yes."
        )
    confirm = None if yes or (limited and not may_ask) else _confirmed
    result = run_study(study, folder, anyway=anyway, confirm=confirm)
    show(form, rank_logs(result.logs))
    if result.unfinished:
        raise StudyError(
            f"Not everything is judged: look at {', '.join(result.unfinished)}, and give the same "
            "command again to go on."
        )
    if result.unpublished:
        raise StudyError(f"Not published: {result.unpublished}")


def _folder(questions: tuple[str, ...]) -> Path:
    names = [Path(text.rpartition("@")[2]).stem for text in questions]
    if questions[0].endswith(_YAML):
        return Path(names[0])
    return Path("-".join(["study", *names]))


def _may_ask() -> bool:
    return sys.stdin.isatty()


def _confirmed(question: str) -> bool:
    if not _may_ask():
        raise click.UsageError(
            "There is more to pay, and no terminal to confirm it on: give --budget, --calls or "
            "--yes."
        )
    return click.confirm(question, err=True)


def _study(questions: tuple[str, ...], **asked: Any) -> "Study":
    """The study of a command line, or of a file."""
    from tiebreak.candidates.answers import holds_prompts
    from tiebreak.scorers.protocols import split_labels
    from tiebreak.study.design import benchmark_of, read_study, study_of

    arguments = {name: _plain(text) for name, text in asked.pop("arguments").items()}
    rubric = asked.pop("rubric")
    labels = split_labels(asked.pop("protocols") or "")
    judge = asked.pop("judge")
    more: dict[str, Any] = {
        **asked,
        **({"judge": judge[0]} if len(judge) == 1 else {"jury": judge}),
        "protocols": labels,
        "judging": {"rubric": rubric} if rubric else {},
    }
    more = {name: value for name, value in more.items() if value not in (None, (), [], {})}
    if len(questions) == 1 and questions[0].endswith(_YAML):
        return read_study(questions[0], **more)
    if not asked["models"]:
        for path in map(Path, questions):
            if not path.exists() or holds_prompts(path):
                missing = "is no folder of logs and no file of answers: say who answers it"
                raise click.UsageError(f"{path} {missing}, --models A,B")
        return study_of({"answers": questions, **more})
    benchmarks = [benchmark_of(text) for text in questions]
    for benchmark in benchmarks:
        benchmark["args"] = {**benchmark.get("args", {}), **arguments}
    return study_of({"benchmarks": benchmarks, **more})
