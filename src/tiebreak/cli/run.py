"""The verb `run`: from benchmarks or prompts to a board, in one command."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli._families import (
    assignments_option,
    form_or_csv_options,
    price_option,
    prices_option,
)
from tiebreak.cli._options import Count, File, Folder, family, option, rest, verb
from tiebreak.cli._shared import echo_json, show
from tiebreak.text import split_names

if TYPE_CHECKING:
    from tiebreak.study.design import Study

_YAML = (".yaml", ".yml")


def _names(context: object, option: object, text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, split_names(text or "")))


def _plain(text: str) -> Any:
    """The value of an argument as Inspect's command line would read it: YAML, or else text."""
    from tiebreak.plain_yaml import read_yaml

    try:
        return read_yaml(text)
    except ValueError:
        return text


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Options that define a study; most are fields of `Study`."""

    models: tuple[str, ...] = option(
        "Who answers, in Inspect's notation, such as openai/gpt-5-mini.",
        metavar="MODEL,MODEL…",
        callback=_names,
    )
    judge: tuple[str, ...] = option(
        "Who judges; several are a jury.", metavar="MODEL[,MODEL…]", callback=_names
    )
    peers: tuple[str, ...] = option(
        "Who reviews in peer_review.", metavar="MODEL,MODEL…", callback=_names
    )
    protocols: str | None = option(
        "How answers are judged.  [default: round_robin, or peer_review with --peers]",
        "--protocol",
        metavar="NAME[:SETTING=VALUE,…][,NAME…]",
    )
    budget: float | None = option(
        "What answers and judging may cost in this folder, in all.",
        type=click.FloatRange(0, min_open=True),
        metavar="DOLLARS",
    )
    calls: Count | None = option("Judging alone, in calls.", metavar="N")
    prices: tuple[str, ...] = prices_option
    price_file: str | None = price_option
    limit: Count | None = option("Items of each benchmark.", metavar="N")
    epochs: Count | None = option("Answers to each item.", metavar="N")
    arguments: dict[str, str] = assignments_option(
        "-T", "NAME=VALUE", "Argument of the tasks that are answered. Repeatable."
    )
    rubric: File | None = option("As -T rubric of the judging tasks.")
    seed: int | None = option("Seed of every draw.  [default: 0]", metavar="N")


@verb()
def run(
    questions: tuple[File, ...] = (),
    *,
    asked: _Asked = family(_Asked),
    folder: Folder | None = option(
        "Where all is kept; a study that is there goes on.  [default: study-QUESTIONS, or the "
        "name of a study.yaml]",
        "-o",
        "--out",
        metavar="FOLDER",
    ),
    yes: bool = option("Do not ask whether the price is right."),
    anyway: bool = option("Judge even where it is not worth its price."),
    schema: bool = option("Print the JSON schema of study.yaml, for editors."),
    form: str | None = form_or_csv_options,
) -> None:
    """Go from a question to a board. Models answer, and a judge compares.

    QUESTIONS are benchmarks of Tiebreak's (gsm8k, mmlu, humaneval, bfcl), files of your own prompts
    (.jsonl, .csv, .parquet), any task of Inspect's, a folder of logs with answers, or a study.yaml
    with all settings.

    It reuses what is in the folder and does only what is missing. If it was killed, run it again to
    continue. With one more model it asks that model and judges it against the others; with a larger
    budget it judges more. It shows the price of answers and judging, and you confirm it before
    anything is paid.

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

    study = _study(questions, asked)
    folder = folder or _folder(questions)
    may_ask = _may_ask()
    limited = study.budget is not None or study.calls is not None
    if not (yes or limited or may_ask or (folder / "plans.json").exists()):
        raise click.UsageError(
            "There is no terminal to confirm the price on: give --budget DOLLARS, --calls N or "
            "--yes."
        )
    # Without a terminal a stated limit is the consent.
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


def _study(questions: tuple[str, ...], asked: _Asked) -> "Study":
    from tiebreak.candidates.answers import holds_prompts
    from tiebreak.scorers.protocols import split_labels
    from tiebreak.study.design import benchmark_of, read_study, study_of

    judge = asked.judge
    more: dict[str, Any] = {
        **rest(asked, "judge", "protocols", "arguments", "rubric"),
        **({"judge": judge[0]} if len(judge) == 1 else {"jury": judge}),
        "protocols": split_labels(asked.protocols or ""),
        "judging": {"rubric": asked.rubric} if asked.rubric else {},
    }
    more = {name: value for name, value in more.items() if value not in (None, (), [], {})}
    if len(questions) == 1 and questions[0].endswith(_YAML):
        return read_study(questions[0], **more)
    if not asked.models:
        for path in map(Path, questions):
            if not path.exists() or holds_prompts(path):
                missing = "is no folder of logs and no file of answers: say who answers it"
                raise click.UsageError(f"{path} {missing}, --models A,B")
        return study_of({"answers": questions, **more})
    arguments = {name: _plain(text) for name, text in asked.arguments.items()}
    benchmarks = [benchmark_of(text) for text in questions]
    for benchmark in benchmarks:
        benchmark["args"] = {**benchmark.get("args", {}), **arguments}
    return study_of({"benchmarks": benchmarks, **more})
