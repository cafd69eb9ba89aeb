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

FAST: dict[str, Any] = {"how": Resampling(level=0.9, draws=100, seed=3)}


def parts(contents: Contents) -> set[str]:
    names = ("comparison", "peers", "alignment", "stability", "contest")
    return {name for name in names if getattr(contents, name) is not None}


@pytest.mark.slow
def test_the_figures_are_those_of_the_other_verbs(tmp_path: Path) -> None:
    whole(tmp_path)
    found = contents_of([tmp_path], **FAST)
    assert parts(found) == {"comparison", "peers", "stability"}
    assert found.comparison
    assert found.peers
    assert found.stability

    def named(data: Any) -> Any:
        """The same with names of files for their paths."""
        return json.loads(json.dumps(data).replace(f"{tmp_path}/", ""))

    boards = [entry.board for entry in found.entries]
    ranked, compared = leaderboards([tmp_path], **FAST), compare([tmp_path], **FAST)
    assert board_sheet.data_of(boards) == named(board_sheet.data_of(ranked))
    assert comparison_sheet.data_of(found.comparison) == named(
        # The logs' own notes stand beside their leaderboards.
        comparison_sheet.data_of(compared)
        | {"notes": ["mmlu is left out: no log of it is the reference"]}
    )
    reviewed, parted = peer_report([tmp_path], **FAST), stability([tmp_path])
    assert peers_sheet.data_of(found.peers) == named(peers_sheet.data_of(reviewed))
    assert stability_sheet.data_of(found.stability) == named(stability_sheet.data_of(parted))


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


def test_one_protocol_is_compared_with_nothing(tmp_path: Path) -> None:
    assert parts(contents_of([small(tmp_path)], **FAST)) == {"stability"}


def test_only_the_reference(tmp_path: Path) -> None:
    Folder(tmp_path).add([all_pairs(f"q{n}", "abc") for n in range(3)])
    found = contents_of([tmp_path], **FAST)
    assert parts(found) == {"stability"}
    assert found.notes == ()


@pytest.mark.slow
def test_references(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add([bracket(f"q{n}", "a", "b", "c") for n in range(3)])
    folder.add([graded(f"q{n}", {"a": 0.5, "b": 0.2, "c": 0.1}) for n in range(3)])
    assert contents_of([tmp_path], **FAST).comparison is None
    chosen = some(contents_of([tmp_path], reference="seal", **FAST).comparison)
    assert chosen.reference == "seal"
    with pytest.raises(NothingToCompareError, match="No log is the reference 'full_pairwise'"):
        contents_of([tmp_path], reference="full_pairwise", **FAST)


@pytest.mark.slow
def test_an_unclear_reference_is_a_note_unless_it_was_named(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for swap in ("always", "never"):
        folder.add([all_pairs(f"q{n}", "abc") for n in range(3)], swap=swap)
    found = contents_of([tmp_path], **FAST)
    assert found.comparison is None
    [note] = found.notes
    assert note.startswith("Protocols are not compared: Several logs of gsm8k")
    with pytest.raises(AnalysisError, match="not runs of one another"):
        contents_of([tmp_path], reference="full_pairwise", **FAST)


@pytest.mark.slow
def test_people(tmp_path: Path) -> None:
    whole(tmp_path / "logs")
    found = contents_of([tmp_path / "logs"], human=people("abc"), **FAST)
    assert found.alignment is not None
    kinds = [(one.benchmark, one.order is None) for one in found.alignment.benchmarks]
    assert kinds == [("mmlu", True), *[("gsm8k", False)] * 5]
    other = contents_of([small(tmp_path / "none")], human=people("abc"), **FAST)
    assert other.alignment is not None
    assert other.alignment.benchmarks[0].order is not None
    [part, *_], [beside, *_] = sections.people(found.alignment), sections.people(other.alignment)
    assert len(part[1]) == 2
    assert beside[1] == []
    assert " pairs of models as people do" in beside[0].verdict
    with pytest.raises(AnalysisError, match="ranks 0 candidates out of 3"):
        contents_of([tmp_path / "logs"], human=people("xyz"), **FAST)


def test_a_peer_review_that_asked_nobody(tmp_path: Path) -> None:
    Folder(tmp_path).add([identical(f"q{n}", "abc", protocol="peer_review") for n in range(2)])
    found = contents_of([tmp_path], **FAST)
    assert found.peers is None
    assert any("no reviewer was called" in note for note in found.notes)


def test_attempts_that_were_replaced_are_noted(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add([bracket(f"q{n}", "a", "b", "c") for n in range(2)])
    folder.n = 0
    (tmp_path / "1.eval").rename(tmp_path / "old.eval")
    folder.add([bracket(f"q{n}", "a", "b", "c") for n in range(3)])
    found = contents_of([tmp_path], **FAST)
    assert len(found.logs) == len(found.entries) == 1
    [note] = found.logs[0].notes
    assert note.split(" is left out")[0].endswith("old.eval")


def test_no_logs(tmp_path: Path) -> None:
    assert parts(contents_of([])) == set()
    with pytest.raises(RankingLogError, match="No ranking log in "):
        contents_of([tmp_path])


def test_steps_are_told(tmp_path: Path) -> None:
    seen: list[Activity | None] = []
    with watch(seen.append):
        contents_of([small(tmp_path)], **FAST)
    steps = list(dict.fromkeys(activity.description for activity in seen if activity is not None))
    assert "reading logs" in steps
    assert len(steps) > 3


def test_peer_review_beside_others(tmp_path: Path) -> None:
    """A log without reviewers is no part of the peer review, and no obstacle to it."""
    folder = Folder(tmp_path)
    folder.add([bracket(f"q{n}", "a", "b", "c") for n in range(3)])
    folder.add([reviews(f"q{n}", {"a": "abc", "b": "acb"}) for n in range(3)])
    found = contents_of([tmp_path], **FAST)
    assert found.peers is not None
    assert len(found.peers.reviews) == 1
