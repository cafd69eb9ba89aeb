"""Entries of community evals, before the Hub's own reader."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
import yaml
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from tests.publish.judged_runs import run_of
from tests.ranking_logs.builders import bracket, by_native, call
from tiebreak.publish.records import entries
from tiebreak.publish.runs import Run


def read(runs: Iterable[Run]) -> Mapping[str, EvalResultEntry]:
    """The entry of each file."""
    found = {}
    for path, content in entries([*runs], "lab/rankings").items():
        [found[path]] = parse_eval_result_entries(yaml.safe_load(content))
    return found


def test_the_hubs_own_reader_reads_them(tmp_path: Path) -> None:
    found = read([run_of(tmp_path, *(bracket(f"q{n}", "a", "b", "c") for n in range(12)))])
    assert sorted(found) == [
        f"unspecified/{model}/.eval_results/tiebreak-gsm8k-seal.yaml" for model in "abc"
    ]
    for path, entry in found.items():
        model = Path(path).parts[1]
        # First, second and last of three on every item: Borda 1, ½ and 0. Never the rank.
        assert entry.value == {"a": 1.0, "b": 0.5, "c": 0.0}[model]
        assert (entry.dataset_id, entry.task_id) == ("lab/rankings", "gsm8k-seal")
        assert entry.source_url == "https://huggingface.co/datasets/lab/rankings"
        # A quoted date is text; YAML would make a time of a bare one.
        assert entry.date == "2026-01-01T00:00:00Z"
        others = ", ".join(other for other in "abc" if other != model)
        assert entry.notes is not None
        assert entry.notes.endswith(f"a pool of 3 models; the others: {others}")
        assert "12 items" in entry.notes


def test_no_score_no_file(tmp_path: Path) -> None:
    undefined = by_native("q1", {"a": None, "b": None, "c": None})
    assert read([run_of(tmp_path, undefined)]) == {}


def test_another_judge_is_another_task(tmp_path: Path) -> None:
    found = read(
        run_of(
            tmp_path,
            bracket("q1", "a", "b", "c", calls=[call(model=judge)]),
            created=f"2026-01-0{number}T00:00:00+00:00",
            eval_id=f"E{number}",
        )
        for number, judge in enumerate(("lab/strict", "lab/kind", "lab/kind"), start=1)
    )
    # Of one judge's runs the newest counts.
    assert {entry.task_id: entry.date for entry in found.values()} == {
        "gsm8k-seal-lab-strict": "2026-01-01T00:00:00Z",
        "gsm8k-seal-lab-kind": "2026-01-03T00:00:00Z",
    }
    assert len(found) == 6


@pytest.mark.parametrize(
    ("models", "shared"),
    [
        (("x/m:1", "x/m?1", "x/m"), {"x/m_1"}),
        (("x/y/z", "x/y_z", "unspecified/q"), {"x/y_z"}),
        (("x/m", "X/M", "x_m"), {"x/m", "X/M"}),  # on many disks these are one folder
        (("q", "unspecified/q", "x/q"), {"unspecified/q"}),
    ],
)
def test_models_with_names_that_make_one_folder_have_a_file_each(
    tmp_path: Path, models: tuple[str, str, str], shared: set[str]
) -> None:
    run = run_of(tmp_path, bracket("q1", *models))
    found = read([run])
    assert sorted(entry.value for entry in found.values()) == [0.0, 0.5, 1.0]
    assert len({path.casefold() for path in found}) == 3
    folders = {path.partition("/.eval_results")[0] for path in found}
    assert {folder.rpartition("-")[0] for folder in folders} & shared == shared
    assert read([run]) == found


def test_benchmarks_with_names_that_make_one_task_have_a_file_each(tmp_path: Path) -> None:
    items = [bracket("q1", "a", "b", "c", benchmark=name) for name in ("gsm 8k", "gsm-8k", "mmlu")]
    found = read([run_of(tmp_path, *items)])
    assert len(found) == 9
    tasks = {entry.task_id for entry in found.values()}
    assert len(tasks) == 3
    assert "mmlu-seal" in tasks
