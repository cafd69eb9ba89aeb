"""What a report is about: every part that applies, none that does not, all of it read once."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.alignment.panels import people
from tests.analysis.peers.builders import identical, reviews
from tests.cases import some
from tests.ranking_logs.builders import all_pairs, bracket, graded
from tests.report.page.logs import Folder, small, whole
from tiebreak.analysis.comparison import compare
from tiebreak.analysis.errors import AnalysisError, NothingToCompareError
from tiebreak.analysis.leaderboard import leaderboards
from tiebreak.analysis.peers.review import peer_report
from tiebreak.analysis.stability import stability
from tiebreak.progress import Activity, watch
from tiebreak.rankers import Resampling
from tiebreak.ranking_logs import RankingLogError
from tiebreak.ranking_logs import read as reading
from tiebreak.ranking_logs.log_file import read_log_file
from tiebreak.report.page import sections
from tiebreak.report.page.contents import Contents, contents_of
from tiebreak.report.sheets import comparison as comparison_sheet
from tiebreak.report.sheets import leaderboard as board_sheet
from tiebreak.report.sheets import peers as peers_sheet
from tiebreak.report.sheets import stability as stability_sheet
from tiebreak.scorers.ballots import ItemBallots

FAST: dict[str, Any] = {"how": Resampling(level=0.9, draws=100, seed=3)}


BRACKETS = [bracket(f"q{n}", "a", "b", "c") for n in range(3)]
PAIRS = [all_pairs(f"q{n}", "abc") for n in range(3)]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def parts(contents: Contents) -> set[str]:
    names = ("comparison", "peers", "alignment", "stability", "contest")
    return {name for name in names if getattr(contents, name) is not None}


@pytest.mark.slow
def test_the_figures_are_those_of_the_other_verbs(tmp_path: Path) -> None:
    whole(tmp_path)
    found = contents_of([tmp_path], **FAST)
    assert parts(found) == {"comparison", "peers", "stability"}

    def named(data: Any) -> Any:
        """The same with names of files for their paths."""
        return json.loads(json.dumps(data).replace(f"{tmp_path}/", ""))

    boards = [entry.board for entry in found.entries]
    ranked, compared = leaderboards([tmp_path], **FAST), compare([tmp_path], **FAST)
    assert board_sheet.data_of(boards) == named(board_sheet.data_of(ranked))
    # The logs' own notes stand beside their leaderboards.
    notes = {"notes": ["mmlu is left out: no log of it is the reference"]}
    comparison = comparison_sheet.data_of(some(found.comparison))
    assert comparison == named(comparison_sheet.data_of(compared) | notes)
    reviewed, parted = peer_report([tmp_path], **FAST), stability([tmp_path])
    assert peers_sheet.data_of(some(found.peers)) == named(peers_sheet.data_of(reviewed))
    assert stability_sheet.data_of(some(found.stability)) == named(stability_sheet.data_of(parted))


@pytest.mark.slow
def test_every_log_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole(tmp_path)
    read: list[str] = []

    def noted(path: str, *given: Any, **options: Any) -> Any:
        read.append(path)
        return read_log_file(path, *given, **options)

    monkeypatch.setattr(reading, "read_log_file", noted)
    contents_of([tmp_path], human=people("abc"), **FAST)
    assert sorted(Path(path).name for path in read) == [f"{n}.eval" for n in range(1, 7)]


@pytest.mark.parametrize("items", [BRACKETS, PAIRS], ids=["one protocol", "the reference alone"])
def test_one_log_is_compared_with_nothing(folder: Folder, items: list[ItemBallots]) -> None:
    folder.add(items)
    seen: list[Activity | None] = []
    with watch(seen.append):
        found = contents_of([folder.path], **FAST)
    assert (parts(found), found.notes) == ({"stability"}, ())
    # Steps are told.
    steps = list(dict.fromkeys(activity.description for activity in seen if activity is not None))
    assert "reading logs" in steps
    assert len(steps) > 3


@pytest.mark.slow
def test_references(folder: Folder) -> None:
    folder.add(BRACKETS)
    folder.add([graded(f"q{n}", {"a": 0.5, "b": 0.2, "c": 0.1}) for n in range(3)])
    assert contents_of([folder.path], **FAST).comparison is None
    chosen = some(contents_of([folder.path], reference="seal", **FAST).comparison)
    assert chosen.reference == "seal"
    with pytest.raises(NothingToCompareError, match="No log is the reference 'full_pairwise'"):
        contents_of([folder.path], reference="full_pairwise", **FAST)


@pytest.mark.slow
def test_an_unclear_reference_is_a_note_unless_it_was_named(folder: Folder) -> None:
    for swap in ("always", "never"):
        folder.add(PAIRS, swap=swap)
    found = contents_of([folder.path], **FAST)
    assert found.comparison is None
    [note] = found.notes
    assert note.startswith("Protocols are not compared: Several logs of gsm8k")
    with pytest.raises(AnalysisError, match="not runs of one another"):
        contents_of([folder.path], reference="full_pairwise", **FAST)


@pytest.mark.slow
def test_people(tmp_path: Path) -> None:
    whole(tmp_path / "logs")
    aligned, other = (
        some(contents_of([path], human=people("abc"), **FAST).alignment)
        for path in (tmp_path / "logs", small(tmp_path / "none"))
    )
    kinds = [(one.benchmark, one.order is None) for one in aligned.benchmarks]
    assert kinds == [("mmlu", True), *[("gsm8k", False)] * 5]
    assert other.benchmarks[0].order is not None
    [part, *_], [beside, *_] = sections.people(aligned), sections.people(other)
    assert (len(part[1]), beside[1]) == (2, [])
    assert " pairs of models as people do" in beside[0].verdict
    with pytest.raises(AnalysisError, match="ranks 0 candidates out of 3"):
        contents_of([tmp_path / "logs"], human=people("xyz"), **FAST)


def test_peer_reviews_that_asked_nobody_and_beside_others(folder: Folder) -> None:
    """A log without reviewers is no part of the peer review, and no obstacle to it."""
    folder.add([identical(f"q{n}", "abc", protocol="peer_review") for n in range(2)])
    found = contents_of([folder.path], **FAST)
    assert found.peers is None
    assert any("no reviewer was called" in note for note in found.notes)
    folder.add([reviews(f"q{n}", {"a": "abc", "b": "acb"}) for n in range(3)])
    beside = Folder(folder.path / "beside")
    beside.add(BRACKETS)
    found = contents_of([folder.path / "2.eval", beside.path], **FAST)
    assert len(some(found.peers).reviews) == 1


def test_attempts_that_were_replaced_are_noted(folder: Folder) -> None:
    folder.add(BRACKETS[:2]).rename(folder.path / "old.eval")
    folder.n = 0
    folder.add(BRACKETS)
    found = contents_of([folder.path], **FAST)
    assert len(found.logs) == len(found.entries) == 1
    [note] = found.logs[0].notes
    assert note.split(" is left out")[0].endswith("old.eval")


def test_no_logs(tmp_path: Path) -> None:
    assert parts(contents_of([])) == set()
    with pytest.raises(RankingLogError, match="No ranking log in "):
        contents_of([tmp_path])
