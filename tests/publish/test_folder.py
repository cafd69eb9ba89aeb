"""The folder of a dry run: it is the dataset, loads as one, and nothing in it is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.publish.judged_runs import bundle, rows_in, write_both
from tests.ranking_logs.builders import bracket, write_log
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.candidates import load_candidates
from tiebreak.publish.bundle import as_json
from tiebreak.publish.dataset import Written, write_folder
from tiebreak.publish.errors import PublishError
from tiebreak.publish.runs import Run
from tiebreak.rankers import Resampling

pytestmark = pytest.mark.usefixtures("no_plots")

LOAD = """
import json, sys
from datasets import load_dataset, logging
logging.disable_progress_bar()
found = {}
for config, split in json.loads(sys.argv[2]):
    found[f"{config}/{split}"] = load_dataset(sys.argv[1], config, split=split).to_list()
print(json.dumps(found))
"""


def write(folder: Path, *logs: Path, with_candidates: bool = False) -> tuple[Written, ...]:
    made = bundle(logs, with_candidates=with_candidates, how=Resampling(draws=20))
    return write_folder(made, folder, license=None, repo_id="me/rankings")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def dataset(tmp_path: Path, no_plots: None) -> Path:
    """A dataset with one run, and its log beside it."""
    write(tmp_path / "rankings", write_both(tmp_path), with_candidates=True)
    return tmp_path


@pytest.mark.slow
def test_the_real_load_dataset_gives_the_rows_back(dataset: Path) -> None:
    wanted = {
        "leaderboard/latest": "leaderboard/latest.parquet",
        "leaderboard/full": "leaderboard/full/*.parquet",
        "rankings/full": "rankings/*.parquet",
        "ballots/full": "ballots/*.parquet",
        "candidates/full": "candidates/*.parquet",
    }
    splits = json.dumps([key.split("/") for key in wanted])
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LOAD,
            str(dataset / "rankings"),
            splits,
        ],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(dataset / "hf")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    for config, pattern in wanted.items():
        [file] = (dataset / "rankings").glob(pattern)
        assert found[config] == json.loads(json.dumps(rows_in(file.read_bytes())))
    [board] = leaderboards([dataset / "ranking"], how=Resampling(draws=20))
    borda = [row for row in found["leaderboard/latest"] if row["metric"] == "normalized_borda"]
    assert [(r["model"], r["value"], r["lower"], r["rank"]) for r in borda] == [
        (row.model, row.borda, row.lower, row.rank) for row in board.rows
    ]


@pytest.mark.slow
def test_the_pool_comes_back(dataset: Path) -> None:
    found = load_candidates(dataset / "rankings" / "candidates")
    wanted = load_candidates(dataset / "candidates")
    assert found.items == wanted.items
    assert {key: {m: c.text for m, c in row.items()} for key, row in found.candidates.items()} == {
        key: {m: c.text for m, c in row.items()} for key, row in wanted.candidates.items()
    }


@pytest.mark.slow
def test_a_second_time_changes_nothing(dataset: Path) -> None:
    before = contents(dataset / "rankings")
    written = write(dataset / "rankings", dataset / "ranking", with_candidates=True)
    assert not any(file.new for file in written)
    assert contents(dataset / "rankings") == before


@pytest.mark.slow
def test_another_run_is_added(tmp_path: Path) -> None:
    first = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    later = write_log(
        tmp_path / "2.eval",
        [bracket("q0", "c", "b", "a")],
        eval_id="E2",
        task_id="T2",
        created="2026-01-02T00:00:00+00:00",
    )
    write(tmp_path / "rankings", first)
    readme = tmp_path / "rankings" / "README.md"
    readme.write_text(readme.read_text().replace("# rankings", "# Ours\n\nRead this first."))
    before = contents(tmp_path / "rankings")
    write(tmp_path / "rankings", later)
    after = contents(tmp_path / "rankings")
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {"README.md", "leaderboard/latest.parquet"}
    assert "# Ours\n\nRead this first." in after["README.md"].decode()
    latest = rows_in(after["leaderboard/latest.parquet"])
    assert {row["created"] for row in latest} == {"2026-01-02T00:00:00Z"}
    write(tmp_path / "rankings", first)  # an older one does not go back
    assert contents(tmp_path / "rankings") == after


@pytest.mark.slow
def test_the_same_run_with_other_content_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    write(tmp_path / "rankings", log)
    before = contents(tmp_path / "rankings")
    write_log(log, [bracket("q0", "c", "b", "a")])
    with pytest.raises(PublishError, match="never changes"):
        write(tmp_path / "rankings", log)
    assert contents(tmp_path / "rankings") == before


class Killed(BaseException):
    """As if it were signal 9."""


@pytest.mark.slow
def test_the_same_command_goes_on_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    made = bundle([log], how=Resampling(draws=20))

    def folder(name: str) -> dict[str, bytes]:
        write_folder(made, tmp_path / name, license=None, repo_id="me/rankings")
        return contents(tmp_path / name)

    whole = folder("undisturbed")
    whole_write, left = Path.write_bytes, 0

    def killed(path: Path, content: bytes) -> int:
        nonlocal left
        left -= 1
        written = whole_write(path, content if left else content[: len(content) // 2])
        if not left:
            raise Killed
        return written

    for left in range(1, len(whole) + 1):
        name = str(left)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_bytes", killed)
            patch.setattr(Path, "unlink", lambda path, missing_ok: None)  # nothing is tidied up
            with pytest.raises(Killed):
                folder(name)
        kept = {p: c for p, c in folder(name).items() if not p.endswith(".writing")}
        assert kept == whole


@pytest.mark.slow
def test_plots_are_added_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    write(tmp_path / "rankings", log)
    before = contents(tmp_path / "rankings")

    def drawn(run: Run) -> dict[str, bytes]:
        folder = f"plots/{run.run_id}"
        words = {"plots": [{"name": "board", "benchmark": "gsm8k", "alt": "All models."}]}
        return {f"{folder}/board.png": b"drawn", f"{folder}/plots.json": as_json(words)}

    monkeypatch.setattr("tiebreak.publish.bundle.plots", drawn)
    write(tmp_path / "rankings", log)
    after = contents(tmp_path / "rankings")
    assert {path.split("/")[0] for path in after.keys() - before.keys()} == {"plots"}
    assert {path for path in before if before[path] != after[path]} == {"README.md"}
    assert "![All models.](plots/" in after["README.md"].decode()


@pytest.mark.slow
def test_other_settings_for_a_published_run_are_named(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    write(tmp_path / "rankings", log)
    other = bundle([log], how=Resampling(level=0.9, draws=20))
    with pytest.raises(PublishError, match="--level, --draws or --seed are others"):
        write_folder(other, tmp_path / "rankings", license=None, repo_id="me/rankings")


def test_a_secret_on_the_card_stops_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk_live_in_a_title")
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    made = bundle([log], how=Resampling(draws=20))
    with pytest.raises(PublishError, match=r"README\.md .* MY_API_KEY"):
        write_folder(made, tmp_path / "x", license=None, repo_id="me/sk_live_in_a_title")
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_folder_in_the_way(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    with pytest.raises(PublishError, match=r"holds something else.* with --out"):
        write(tmp_path, log)
    with pytest.raises(PublishError, match="is not a folder"):
        write(log, log)
    (tmp_path / "empty").mkdir()
    assert write(tmp_path / "empty", log)
    clone = tmp_path / "clone" / ".git"
    clone.mkdir(parents=True)
    (clone / "config").write_text("[core]")
    assert write(tmp_path / "clone", log)


@pytest.mark.slow
def test_a_card_that_is_no_text(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    write(tmp_path / "rankings", log)
    readme = tmp_path / "rankings" / "README.md"
    readme.write_bytes(readme.read_bytes() + b"\xff")
    with pytest.raises(PublishError, match=r"README\.md in the dataset is not UTF-8 text"):
        write(tmp_path / "rankings", log)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])
    with pytest.raises(OSError, match="Not a directory"):
        write(tmp_path / "1.eval" / "below", log)
