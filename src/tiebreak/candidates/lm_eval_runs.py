"""Names of lm-eval's files, and reading the summary of a run.

A run writes `samples_<task>_<date>.jsonl` for each task, and beside them one `results_<date>.json`,
its summary, with the model's name and the settings of each task.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from glob import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from tiebreak.candidates.settings import setting_text
from tiebreak.json_text import parse_json
from tiebreak.packed import unpacked
from tiebreak.paths import problem_with

T = TypeVar("T")

SAMPLES_NAME: Final = re.compile(
    r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl(\.gz|\.zst)?"
)
SAMPLES_ENDS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
SUMMARY_NAME: Final = re.compile(
    r"results\.json|.+_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.json(\.gz|\.zst)?"
)

SCORED_KEY: Final = "tiebreak"
"""Key of a summary that `tiebreak score-code` wrote: its samples file, the number of answers in it,
and how many of these are scored."""

_MODEL_KEYS = ("peft", "delta", "pretrained", "model", "path", "engine")  # lm-eval's own order


def task_of(samples: Path) -> str:
    """Name of the task of a samples file, from its name or the summary beside it."""
    if match := SAMPLES_NAME.fullmatch(samples.name):
        return match["task"]
    name = samples.name.partition(".jsonl")[0]
    # lm-eval 0.4.2 put the model's arguments before the task.
    tasks = [task for summary in summaries_of(samples) for task in run_of(summary).tasks]
    return max((task for task in tasks if name.endswith(f"_{task}")), key=len, default=name)


def summaries_of(samples: Path) -> list[Path]:
    """Summaries of the run that wrote a samples file: those with the same date in their name.

    It is `results_<date>.json`, or `<name>_<date>.json` if --output_path names a file. lm-eval
    0.4.2 put no date in file names: the summary is `results.json`.
    """
    match = SAMPLES_NAME.fullmatch(samples.name)
    date = match["date"] if match else None
    undated = samples.with_name("results.json")
    if match is None and undated.is_file():
        return [undated]
    dated = samples.parent.glob(f"*_{escape(date)}.json*") if date else ()
    return sorted(path for path in dated if SUMMARY_NAME.fullmatch(path.name))


def is_summary(path: Path) -> bool:
    """Whether a file is the summary of a run, or has the name of one (`results_`) at least."""
    named = SUMMARY_NAME.fullmatch(path.name)
    return named is not None and ("results_" in path.name or bool(run_of(path).tasks))


def unsampled(path: Path) -> list[str]:
    """Tasks that a run answered without a samples file beside its summary `path`, sorted.

    Empty for a file that is no summary.
    """
    if not is_summary(path):
        return []
    names = [file.name for file in path.parent.iterdir() if file.name.endswith(SAMPLES_ENDS)]
    stems = {name.rpartition(".jsonl")[0] for name in names}
    match = SUMMARY_NAME.fullmatch(path.name)
    date = match["date"] if match else None
    run = run_of(path)
    if not run.tasks and not stems:
        return ["any task"]
    return sorted(
        task
        for task in run.answered
        if not stems & {f"samples_{task}_{date}", f"samples_{task}"}
        # lm-eval 0.4.2 put model arguments before the task.
        and not (date is None and any(stem.endswith(f"_{task}") for stem in stems))
    )


def model_in(summary: Path) -> str | None:
    """Model name in a results file."""
    return run_of(summary).model


class Run(NamedTuple):
    """Model of a run, and the settings and number of documents of each task, from its summary.

    `answered` are the tasks that have documents: not groups of tasks, nor a task that was scored
    later. The rest of the configuration is dropped, because it may hold keys.
    """

    model: str | None = None
    tasks: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    answered: frozenset[str] = frozenset()

    def of(self, task: str, name: str, default: T) -> T:
        """A task's asked, shots, delimiter, template, filters or settings; `default` if absent."""
        value = self.tasks.get(task, {}).get(name)
        return default if value is None else value


def run_of(summary: Path) -> Run:
    """Read a summary; an empty `Run` if it cannot be read."""
    try:
        if problem_with(summary):
            return Run()
        with unpacked(summary) as plain:
            return _run_in(plain.read_bytes())
    except (OSError, ValueError):
        return Run()


@lru_cache(maxsize=8)  # a run over many tasks has one summary, and it may be long
def _run_in(summary: bytes) -> Run:
    try:
        results = parse_json(summary)
    except ValueError:
        return Run()
    if not isinstance(results, dict):
        return Run()
    names = {name for part in ("results", "configs") for name in _part(results, part)}
    members = _part(results, "group_subtasks")
    groups = {*_part(results, "groups"), *(name for name in members if members[name])}
    return Run(
        _model_of(results),
        {name: _about(results, name) for name in names},
        frozenset() if SCORED_KEY in results else frozenset(names - groups),
    )


def _part(results: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for name in path:
        value = results.get(name)
        results = value if isinstance(value, dict) else {}
    return results


def _about(results: Mapping[str, Any], task: str) -> dict[str, Any]:
    asked = _part(results, "n-samples", task).get("effective")
    shots = _part(results, "n-shot").get(task)
    delimiter = _part(results, "configs", task).get("fewshot_delimiter")
    listed = _part(results, "configs", task).get("filter_list")
    template = _part(results, "configs", task).get("doc_to_text")
    filters = [str(part.get("name")) for part in listed or () if isinstance(part, dict)]
    return {
        "filters": filters or None,
        "template": template if isinstance(template, str) else None,
        "asked": asked if isinstance(asked, int) else None,
        "shots": shots if isinstance(shots, int) else None,
        "delimiter": delimiter if isinstance(delimiter, str) and delimiter else None,
        "settings": _settings_of(results, task),
    }


def _settings_of(results: Mapping[str, Any], task: str) -> dict[str, str]:
    """Settings of a task that the summary has, by their names in notes."""
    settings = {
        "shots": _part(results, "n-shot").get(task),
        "task version": _part(results, "versions").get(task),
        "chat template": results.get("chat_template_sha") or results.get("chat_template"),
        "system prompt": results.get("system_instruction"),
        # Releases differ in whether they write an empty text, false or nothing.
        "examples as turns": results.get("fewshot_as_multiturn") or None,
    }
    return {
        name: setting_text(value) for name, value in settings.items() if value not in (None, "")
    }


def _model_of(results: Mapping[str, Any]) -> str | None:
    if isinstance(name := results.get("model_name"), str) and name:
        return name
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    if not isinstance(arguments, dict):
        return None
    return next((str(arguments[key]) for key in _MODEL_KEYS if arguments.get(key)), None)
