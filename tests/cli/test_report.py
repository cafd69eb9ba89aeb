"""The verb `report`: what it writes and says, and what it says when it is used wrongly."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from tests.cli.handed import tiebreak, wrong_use
from tests.report.page.logs import small
from tiebreak.report.page import build
from tiebreak.report.page.items import ChunkWriter

FAST = ("--draws", "100")
SCORES = "model,maths,code,law\nx,9,8,7\ny,8,9,6\nz,1,2,3\n"


run = partial(tiebreak, "report")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("logs"))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(SCORES, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_report(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    done = run(logs, "-o", folder, "--title", "Our models", *FAST)
    assert done.exit_code == 0, done.output
    page = folder / "index.html"
    plots = [file for file in (folder / "plots").iterdir() if file.suffix != ".txt"]
    assert "<title>Our models</title>" in page.read_text(encoding="utf-8")
    size = f"{page.stat().st_size / 1e6:.1f} MB"
    assert done.stdout == f"Report: {page} ({size}) · {len(plots)} plots in {folder / 'plots'}\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_items_beside_the_page_until_a_report_has_room_for_them(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "report"
    with monkeypatch.context() as small_pages:
        small_pages.setattr(build, "ChunkWriter", partial(ChunkWriter, most=0))
        printed = run(logs, "-o", folder, *FAST).stdout
        assert f" · its items in {folder / 'items'} (0.0 MB), to be kept beside it\n" in printed
        again = json.loads(run(logs, "-o", folder, "--json", *FAST).stdout)
    files = {str(path) for path in folder.rglob("*.*")}
    assert {file["path"] for file in again["files"]} == files
    assert any("items" in Path(file).parts for file in files)
    run(logs, "-o", folder, *FAST)
    assert not (folder / "items").exists()


@pytest.mark.slow
def test_json(logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    paper = ("--pictures", "svg, SVG", "--width", "85mm")
    data = json.loads(run(logs, "-o", folder, "--json", *paper, *FAST).stdout)
    assert data["page"] == str(folder / "index.html") == data["files"][0]["path"]
    assert {file["path"]: file["bytes"] for file in data["files"]} == {
        str(path): path.stat().st_size for path in folder.rglob("*.*")
    }
    # The pictures are as wide as was asked where they can be, and those in the page as they were.
    plots = sorted((folder / "plots").glob("*.svg"))
    widths = {}
    for plot in plots:
        found = re.search(r' width="([0-9.]+)pt"', plot.read_text(encoding="utf-8"))
        assert found is not None
        widths[plot.stem.partition("-")[0]] = float(found[1]) / 72 * 25.4
    assert widths["leaderboard"] == pytest.approx(85, abs=0.01)
    assert max(widths.values()) < 85.01
    assert (folder / "plots" / "captions.txt").exists()
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert max(map(int, re.findall(r'<img [^>]*width="([0-9]+)"', page))) > 400


@pytest.mark.slow
def test_a_contest_names_files_only(scores: Path, tmp_path: Path) -> None:
    rounds = tmp_path / "rounds.yaml"
    rounds.write_text("- maths\n- code\n", encoding="utf-8")
    errors = tmp_path / "errors.csv"
    errors.write_text(
        re.sub(r"\d+\.?\d*", "1", scores.read_text(encoding="utf-8")), encoding="utf-8"
    )
    contest = ("--scores", scores, "--stderr", errors, "--rounds", rounds)
    done = run("-o", tmp_path / "r", *contest)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert "over other items like these" in page
    assert "rounds.yaml: in no round, so not used: &#39;law&#39;" in page
    assert str(tmp_path) not in page


@pytest.mark.slow
def test_a_folder_that_cannot_be_written(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "plots").write_text("mine")
    done = run(logs, "-o", tmp_path, *FAST)
    assert done.exit_code == 1
    assert "plots" in done.stderr
    assert not (tmp_path / "index.html").exists()


def test_errors_are_plain(logs: Path, scores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scores.parent)
    Path("logs").symlink_to(logs)
    wrong_use(__file__, "report.txt")
    assert not Path("page").exists()
