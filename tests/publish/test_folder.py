"""The folder of a dry run: it is the dataset, loads as one, and nothing in it is lost."""

from pathlib import Path

import pytest

from tests.publish.judged_runs import bundle, contents, rows_in, write_both
from tests.ranking_logs.builders import bracket, write_log
from tiebreak.publish.bundle import as_json
from tiebreak.publish.dataset import Written, write_folder
from tiebreak.publish.errors import PublishError
from tiebreak.publish.runs import Run
from tiebreak.rankers import Resampling

pytestmark = pytest.mark.usefixtures("no_plots")

HOW = Resampling(draws=20)


def write(folder: Path, *logs: Path, with_candidates: bool = False) -> tuple[Written, ...]:
    made = bundle(logs, with_candidates=with_candidates, how=HOW)
    return write_folder(made, folder, license=None, repo_id="me/rankings")


@pytest.fixture
def dataset(tmp_path: Path, no_plots: None) -> Path:
    """A dataset with one run and its answers, and its log beside it."""
    write(tmp_path / "rankings", write_both(tmp_path), with_candidates=True)
    return tmp_path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "1.eval", [bracket("q0", "a", "b", "c")])


@pytest.fixture
def ranks(log: Path, tmp_path: Path, no_plots: None) -> Path:
    """A dataset with this log's run."""
    write(tmp_path / "rankings", log)
    return tmp_path / "rankings"


@pytest.mark.slow
def test_another_run_is_added(ranks: Path, log: Path, tmp_path: Path) -> None:
    created = "2026-01-02T00:00:00+00:00"
    ballots = [bracket("q0", "c", "b", "a")]
    later = write_log(tmp_path / "2.eval", ballots, eval_id="E2", task_id="T2", created=created)
    readme = ranks / "README.md"
    readme.write_text(readme.read_text().replace("# rankings", "# Ours\n\nRead this first."))
    before = contents(ranks)
    write(ranks, later)
    after = contents(ranks)
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {"README.md", "leaderboard/latest.parquet"}
    assert "# Ours\n\nRead this first." in after["README.md"].decode()
    latest = rows_in(after["leaderboard/latest.parquet"])
    assert {row["created"] for row in latest} == {"2026-01-02T00:00:00Z"}
    write(ranks, log)  # an older one does not go back
    assert contents(ranks) == after


@pytest.mark.slow
def test_the_same_run_with_other_content_is_refused(ranks: Path, log: Path) -> None:
    before = contents(ranks)
    other = bundle([log], how=Resampling(level=0.9, draws=20))
    with pytest.raises(PublishError, match="--level, --draws or --seed are others"):
        write_folder(other, ranks, license=None, repo_id="me/rankings")
    write_log(log, [bracket("q0", "c", "b", "a")])
    with pytest.raises(PublishError, match="never changes"):
        write(ranks, log)
    assert contents(ranks) == before


class Killed(BaseException):
    """As if it were signal 9."""


@pytest.mark.slow
def test_it_goes_on_where_killed(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bundle([log], how=HOW)

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
def test_plots_are_added_later(ranks: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(ranks)

    def drawn(run: Run) -> dict[str, bytes]:
        folder = f"plots/{run.run_id}"
        words = {"plots": [{"name": "board", "benchmark": "gsm8k", "alt": "All models."}]}
        return {f"{folder}/board.png": b"drawn", f"{folder}/plots.json": as_json(words)}

    monkeypatch.setattr("tiebreak.publish.bundle.plots", drawn)
    write(ranks, log)
    after = contents(ranks)
    assert {path.split("/")[0] for path in after.keys() - before.keys()} == {"plots"}
    assert {path for path in before if before[path] != after[path]} == {"README.md"}
    assert "![All models.](plots/" in after["README.md"].decode()


def test_a_secret_on_the_card(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk_live_in_a_title")
    made = bundle([log], how=HOW)
    with pytest.raises(PublishError, match=r"README\.md .* MY_API_KEY"):
        write_folder(made, tmp_path / "x", license=None, repo_id="me/sk_live_in_a_title")
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_a_folder_in_the_way(log: Path, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match=r"holds something else.* with --out"):
        write(tmp_path, log)
    with pytest.raises(PublishError, match="is not a folder"):
        write(log, log)
    with pytest.raises(OSError, match="Not a directory"):
        write(log / "below", log)
    (tmp_path / "empty").mkdir()
    assert write(tmp_path / "empty", log)
    clone = tmp_path / "clone" / ".git"
    clone.mkdir(parents=True)
    (clone / "config").write_text("[core]")
    assert write(tmp_path / "clone", log)
