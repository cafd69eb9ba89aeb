"""Writers of small but real files: PrefLib, lm-eval summaries, Inspect logs of finished runs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Scorer, match

from tiebreak.tables import ScoreTable


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def preflib(
    *ballots: str,
    names: Sequence[str] = ("ann", "bob", "cy"),
    voters: int | None = None,
    orders: int | None = None,
    data_type: str = "toi",
) -> str:
    """A PrefLib file as the format describes it; counts are right unless they are given."""
    if voters is None:
        voters = sum(int(ballot.split(":")[0]) for ballot in ballots)
    return "\n".join(
        [
            f"# FILE NAME: x.{data_type}",
            "# TITLE: three candidates",
            f"# DATA TYPE: {data_type}",
            "# MODIFICATION TYPE: synthetic",
            f"# NUMBER ALTERNATIVES: {len(names)}",
            f"# NUMBER VOTERS: {voters}",
            f"# NUMBER UNIQUE ORDERS: {len(ballots) if orders is None else orders}",
            *(f"# ALTERNATIVE NAME {n}: {name}" for n, name in enumerate(names, start=1)),
            *ballots,
            "",
        ]
    )


def task_values(
    n: int = 10, /, **metrics: float | str | None
) -> dict[str, float | str | int | None]:
    """A task's entry in lm-eval's `results`; `acc__none` stands for "acc,none"."""
    values: dict[str, float | str | int | None] = {"alias": "shown", "sample_len": n}
    for name, value in metrics.items():
        metric, _, after = name.partition("__")
        values[f"{metric},{after or 'none'}"] = value
        values[f"{metric}_stderr,{after or 'none'}"] = 0.01
    return values


def write_summary(
    path: Path,
    model: str | None,
    results: Mapping[str, Mapping[str, Any]],
    *,
    date: float = 1_700_000_000.5,
    directions: Mapping[str, Mapping[str, bool | None]] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    n_items: int | None = None,
    **more: Any,
) -> Path:
    """A summary as lm-eval 0.4.13 writes it, with the configuration that holds a key."""
    metrics = {
        task: {key.split(",")[0] for key in row if "," in key} for task, row in results.items()
    }
    up = {task: dict.fromkeys(sorted(names), True) for task, names in metrics.items()}
    summary = {
        "results": results,
        "groups": {},
        "group_subtasks": groups or {task: [] for task in results},
        "configs": {task: {"task": task} for task in results},
        "versions": dict.fromkeys(results, 1.0),
        "n-shot": dict.fromkeys(results, 0),
        "higher_is_better": up if directions is None else {**up, **directions},
        "n-samples": {
            task: {"original": 100, "effective": n_items or row.get("sample_len", 10)}
            for task, row in results.items()
        },
        "config": {"model": "local-chat", "model_args": {"api_key": "sk-hidden"}},
        "date": date,
        "model_source": "local-chat",
        "model_name": model,
        **more,
    }
    return write(path, json.dumps(summary))


def run_inspect(
    folder: Path,
    model: str,
    answers: Sequence[str],
    *,
    task: str = "gsm8k",
    scorer: Scorer | list[Scorer] | None = None,
    fail_on_error: bool | float = True,
    **options: Any,
) -> Path:
    """Really run a task with a mock model; the right answer is always "1"."""
    outputs = []
    for answer in answers:
        output = ModelOutput.from_content(f"mockllm/{model}", answer)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        outputs.append(output)
    samples = [Sample(input=f"Question {n}", target="1") for n in range(len(answers))]
    options |= {"fail_on_error": fail_on_error, "scorer": match() if scorer is None else scorer}
    [log] = eval(
        Task(name=task, dataset=MemoryDataset(samples), **options),
        model=get_model(f"mockllm/{model}", custom_outputs=outputs, memoize=False),
        log_dir=str(folder),
        max_samples=1,
    )
    return Path(log.location)


def cells(table: ScoreTable) -> dict[tuple[str, str], float]:
    """Scores by model and benchmark, without the missing ones."""
    return {
        (model, benchmark): float(table.scores[row, column])
        for row, model in enumerate(table.models)
        for column, benchmark in enumerate(table.benchmarks)
        if not np.isnan(table.scores[row, column])
    }
