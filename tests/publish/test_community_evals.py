from pathlib import Path

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from tests.ranking_logs.builders import bracket, by_native, call, write_log
from tiebreak.publish.records import entries
from tiebreak.publish.runs import Run, read_runs


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    items = [bracket(f"q{number}", "a", "b", "c") for number in range(12)]
    runs, _ = read_runs([write_log(tmp_path_factory.mktemp("logs") / "ranking.eval", items)])
    return runs[0]


def test_the_hubs_own_reader_reads_them(run: Run) -> None:
    files = entries([run], "lab/rankings")
    assert sorted(files) == [
        f"unspecified/{model}/.eval_results/tiebreak-gsm8k-seal.yaml" for model in "abc"
    ]
    for path, content in files.items():
        [entry] = parse_eval_result_entries(yaml.safe_load(content))
        model = Path(path).parts[1]
        # First, second and last of three on every item: Borda 1, ½ and 0. Never the rank.
        assert entry.value == {"a": 1.0, "b": 0.5, "c": 0.0}[model]
        assert (entry.dataset_id, entry.task_id) == ("lab/rankings", "gsm8k-seal")
        assert entry.source_url == "https://huggingface.co/datasets/lab/rankings"
        # A quoted date is text; YAML would make a time of a bare one.
        assert entry.date == "2026-01-01T00:00:00Z"
        assert entry.notes is not None
        others = ", ".join(other for other in "abc" if other != model)
        assert entry.notes.endswith(f"a pool of 3 models; the others: {others}")
        assert "12 items" in entry.notes


def test_no_score_no_file(tmp_path: Path) -> None:
    undefined = by_native("q1", {"a": None, "b": None, "c": None})
    runs, _ = read_runs([write_log(tmp_path / "ranking.eval", [undefined])])
    assert entries(runs, "lab/rankings") == {}


def test_another_judge_is_another_task(tmp_path: Path) -> None:
    runs: list[Run] = []
    for number, judge in enumerate(("lab/strict", "lab/kind", "lab/kind")):
        items = [bracket("q1", "a", "b", "c", calls=[call(model=judge)])]
        log = write_log(
            tmp_path / f"{number}.eval", items, eval_id=f"E{number}", task_id=f"T{number}",
            created=f"2026-01-0{number + 1}T00:00:00+00:00",
        )  # fmt: skip
        runs += read_runs([log])[0]
    files = entries(runs, "lab/rankings")
    found = {
        entry.task_id: entry.date
        for content in files.values()
        for entry in parse_eval_result_entries(yaml.safe_load(content))
    }
    # Of one judge's runs the newest counts.
    assert found == {
        "gsm8k-seal-lab-strict": "2026-01-01T00:00:00Z",
        "gsm8k-seal-lab-kind": "2026-01-03T00:00:00Z",
    }
    assert len(files) == 6


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
    runs, _ = read_runs([write_log(tmp_path / "ranking.eval", [bracket("q1", *models)])])
    files = entries(runs, "lab/rankings")
    assert sorted(one_value(content) for content in files.values()) == [0.0, 0.5, 1.0]
    assert len({path.casefold() for path in files}) == 3
    folders = {path.partition("/.eval_results")[0] for path in files}
    hashed = {folder.rpartition("-")[0] for folder in folders} & shared
    assert hashed == shared
    assert entries(runs, "lab/rankings") == files


def test_benchmarks_with_names_that_make_one_task_have_a_file_each(tmp_path: Path) -> None:
    items = [bracket("q1", "a", "b", "c", benchmark=name) for name in ("gsm 8k", "gsm-8k", "mmlu")]
    runs, _ = read_runs([write_log(tmp_path / "ranking.eval", items)])
    files = entries(runs, "lab/rankings")
    assert len(files) == 9
    tasks = {
        entry.task_id
        for content in files.values()
        for entry in parse_eval_result_entries(yaml.safe_load(content))
    }
    assert len(tasks) == 3
    assert "mmlu-seal" in tasks


def one_value(content: bytes) -> float:
    [entry] = parse_eval_result_entries(yaml.safe_load(content))
    return float(entry.value)
