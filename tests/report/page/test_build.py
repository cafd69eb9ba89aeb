"""The report as files: what is written, that it is the same again, and what is refused."""

import base64
import hashlib
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import tiebreak
from tests.analysis.peers.builders import reviews
from tests.analysis.test_contests import report as contest
from tests.cases import cases, some
from tests.ranking_logs.builders import bracket, write_log
from tests.report.page.logs import Folder, judged, small
from tests.report.page.test_items import told
from tests.tables.builders import write
from tiebreak.rankers import Resampling
from tiebreak.rankers.errors import MissingPackageError
from tiebreak.report import ReportError
from tiebreak.report.figures import canvas
from tiebreak.report.html import visible
from tiebreak.report.page.build import check_folder, write_contents, write_report
from tiebreak.report.page.contents import Contents, contents_of
from tiebreak.report.page.items import ChunkWriter, items_view
from tiebreak.tables import read_human_ranking

HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u202e \x00"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    folder = tmp_path_factory.mktemp("logs")
    samples = [
        judged(bracket(f"q{n}", "a", "b", "c"), task=HOSTILE, answers={"a": HOSTILE})
        for n in range(3)
    ]
    Folder(folder).add(samples)
    return contents_of([folder], how=Resampling(draws=100))


@pytest.fixture(scope="module")
def written(logs: Contents, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_contents(logs, tmp_path_factory.mktemp("report"), version="1", title=HOSTILE)


@pytest.mark.slow
def test_what_is_written(written: list[Path]) -> None:
    page, *plots = written
    assert page.name == "index.html"
    assert sorted(page.parent.rglob("*.*")) == sorted(written)
    assert {plot.parent for plot in plots} == {page.parent / "plots"}
    assert sorted(plot.stem for plot in plots if plot.suffix == ".svg") == sorted(
        plot.stem for plot in plots if plot.suffix == ".png"
    )
    assert all(plot.read_bytes().startswith(b"\x89PNG") for plot in plots if plot.suffix == ".png")


def test_the_page_names_its_pictures(written: list[Path]) -> None:
    page = written[0].read_text(encoding="utf-8")
    for plot in written[1:]:
        assert (f"plots/{plot.name}" in page) or plot.suffix in (".png", ".txt")
    captions = written[-1].read_text(encoding="utf-8")
    for plot in written[1:-1]:
        assert f"{plot.stem}\n\\caption{{" in captions


@pytest.mark.slow
def test_the_same_again(logs: Contents, written: list[Path], tmp_path: Path) -> None:
    again = write_contents(logs, tmp_path, version="1", title=HOSTILE)
    assert [path.name for path in again] == [path.name for path in written]
    for first, second in zip(written, again, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name


@pytest.fixture(scope="module")
def soup(written: list[Path]) -> BeautifulSoup:
    """The page as another parser reads it."""
    return BeautifulSoup(written[0].read_text(encoding="utf-8"), "html.parser")


def test_nothing_breaks_out(written: list[Path], soup: BeautifulSoup) -> None:
    scripts = [str(tag.get("type", "")) for tag in soup("script")]
    assert [scripts.count(kind) for kind in ("application/json", "")] == [1, 1]
    assert set(scripts) == {"application/json", "text/plain", ""}
    attributes = {name for tag in soup(True) for name in tag.attrs}
    assert not {name for name in attributes if name.startswith("on") or name == "style"}
    # It is there as text: in the title, in the heading, and in the items' table.
    page = written[0].read_text(encoding="utf-8")
    shown = [text for text in page.split(">") if "alert(1)" in text]
    assert len(shown) >= 3
    assert all("&lt;script&gt;alert(1)&lt;/script&gt;" in text for text in shown)


def test_the_policy_allows_this_script_and_no_other(soup: BeautifulSoup) -> None:
    policy = str(some(soup.select_one('meta[http-equiv="Content-Security-Policy"]'))["content"])
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        [part] = soup.select(f"{tag}:not([type])")
        digest = base64.b64encode(hashlib.sha256(str(part.string).encode()).digest()).decode()
        assert directives[f"{tag}-src"] == f"'sha256-{digest}'"


def test_the_store_is_in_the_page(logs: Contents, soup: BeautifulSoup) -> None:
    view = some(items_view(logs, ChunkWriter()))
    assert [chunk.string for chunk in soup.select("script.tiebreak-chunk")] == list(view.chunks)
    assert told(view)[0]["task"] == HOSTILE


@pytest.mark.slow
def test_an_earlier_report_is_written_over_no_others(logs: Contents, tmp_path: Path) -> None:
    _, *contests = write_contents(Contents(contest=contest()), tmp_path, version="0.9")
    mine = [tmp_path / "mine.txt", tmp_path / "plots" / "mine.svg"]
    for path in mine:
        path.write_text("mine")
    assert len(contests) >= 2
    page, *plots = write_contents(logs, tmp_path, version="1")
    assert "alert(1)" in page.read_text(encoding="utf-8")
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {page, *plots, *mine}
    assert files & set(contests) == {tmp_path / "plots" / "captions.txt"}
    assert [path.read_text() for path in mine] == ["mine", "mine"]


def test_a_page_that_is_no_report_is_not_written_over(logs: Contents, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text('<a href="plots/mine.svg"></a>&lt;p>Made by Tiebreak ')
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "mine.svg").write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    with pytest.raises(ReportError, match=r"index\.html is not a report of Tiebreak's"):
        check_folder(tmp_path)
    with pytest.raises(ReportError, match=r"index\.html is not a report of Tiebreak's"):
        write_contents(logs, tmp_path, version="1")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


@pytest.mark.parametrize("folder", ["taken", "taken/report"])
def test_a_file_is_no_folder(tmp_path: Path, folder: str) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(ReportError, match="taken is a file"):
        check_folder(tmp_path / folder)


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="give ranking logs, or --scores"):
        write_contents(Contents(), tmp_path / "report", version="1")
    assert not (tmp_path / "report").exists()


@pytest.mark.slow
def test_a_contest_alone(tmp_path: Path) -> None:
    page, *plots = write_contents(Contents(contest=contest()), tmp_path / "a" / "b", version="1")
    assert page.exists()
    parsed = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    assert parsed.select(".tiebreak-chunk") == []
    assert [plot.name for plot in plots] == ["csd-wins.svg", "csd-wins.png", "captions.txt"]


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingPackageError("A plot needs matplotlib")

    monkeypatch.setattr(canvas, "require_matplotlib", missing)
    with pytest.raises(MissingPackageError):
        write_contents(Contents(contest=contest()), tmp_path, version="1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("value", "shown"), cases(__file__, "signs_for_what_cannot_be_seen"))
def test_signs_for_what_cannot_be_seen(value: object, shown: object) -> None:
    assert visible(value) == shown


@pytest.mark.slow
def test_small_logs_make_small_pages(tmp_path: Path) -> None:
    """A page is mostly what the logs say: what it is made of itself has a bound."""
    contents = contents_of([small(tmp_path / "logs")], how=Resampling(draws=100))
    page, *_ = write_contents(contents, tmp_path / "report", version="1")
    assert page.stat().st_size < 500_000


@pytest.mark.slow
def test_from_logs_and_a_ranking_by_people(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    small(folder)
    panel = [reviews(f"q{k}", {"a": "abc", "b": "bac", "c": "acb"}) for k in range(3)]
    write_log(folder / "peers.eval", panel, eval_id="P", task_id="P")
    human = write(tmp_path / "human.csv", "model,rank\na,1\nb,2\nc,3\n")
    how = Resampling(draws=100)
    written = write_report(str(folder), tmp_path / "one", human=human, title="T", how=how)
    contents = contents_of([folder], human=read_human_ranking(human), how=how)
    assert contents.alignment is not None
    version = tiebreak.__version__
    again = write_contents(contents, tmp_path / "two", version=version, title="T")
    assert [file.read_bytes() for file in written] == [file.read_bytes() for file in again]
