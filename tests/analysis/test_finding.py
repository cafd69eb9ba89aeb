"""Results: a short repr, and their sheets in a notebook and on a terminal."""

from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiebreak
from tests.analysis.peers.builders import reviews
from tests.analysis.test_anchored import judged, votes
from tests.analysis.test_ranking import PAIRS
from tests.analysis.test_ranking import write as write_planted
from tests.analysis.test_votes import votes as matches
from tests.candidates.builders import make_rows, write_inspect_log
from tests.fair.analysis.test_contamination import replayed
from tests.ranking_logs.builders import bracket, sample, starred, write_log
from tests.report.figures.samples import calibration
from tests.tables.builders import write
from tests.tables.test_matches import written
from tiebreak.analysis.finding import Finding
from tiebreak.analysis.judge.canaries import canary_reports
from tiebreak.fair.analysis.contamination import contamination_of
from tiebreak.rankers import Profile
from tiebreak.report.sheets import html_of, sheets_of
from tiebreak.tables import BallotFile, ScoreTable

HOW = tiebreak.Resampling(draws=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("findings")
    for number, protocol in enumerate(("seal", "full_pairwise")):
        items = [bracket(f"q{k}", "a<b>", "m2", "m3", protocol=protocol) for k in range(3)]
        ids: dict[str, Any] = {"eval_id": f"E{number}", "task_id": f"T{number}"}
        write_log(path / "logs" / f"{protocol}.eval", items, **ids)
    panel = [reviews(f"q{k}", {"a": "abc", "b": "bac", "c": "acb"}) for k in range(3)]
    write_log(path / "peers" / "peers.eval", panel)
    write_log(path / "stars" / "stars.eval", [starred(f"q{k}", {"a": 3, "b": k}) for k in range(3)])
    write_planted(path / "canaries", 1, *PAIRS)
    write(path / "arena.csv", "model,rank\na,1\nb,2\nc,3\n")
    write_log(path / "judged" / "log.eval", judged("points", "round_robin"))
    for model in ("x", "y"):
        rows = make_rows(4, answer=f"{model}: {{i}}")
        write_inspect_log(path / "pool" / f"{model}.eval", model, rows)
    return path


@pytest.fixture(scope="module")
def findings(folder: Path) -> dict[str, Any]:
    review = tiebreak.peer_report(folder / "peers", how=HOW)
    ranks = Profile.from_ranks(np.array([[1.0, 2, 3], [1, 3, 2]]), ["ada", "ben", "cleo"])
    scores = np.array([[9.0, 8], [7, 9], [1, 2]])
    table = ScoreTable(("ada", "ben", "cleo"), ("maths", "law"), scores)
    board = tiebreak.leaderboards(folder / "logs", how=HOW)[0]
    return {
        "Leaderboard(gsm8k · full_pairwise: 3 models, 3 items, top: a<b>, m2, m3)": board,
        "PairComparison(gsm8k · full_pairwise: m2 - m3 = +0.500, 3 items)": tiebreak.compare_pair(
            folder / "logs", "m2", "m3"
        )[0],
        "AnchoredBoard(gsm8k · round_robin: 3 models, 60 labels of people, first: a, b, c)": (
            tiebreak.anchored_boards(folder / "judged", votes(range(20)))[0]
        ),
        f"VoteBoard({folder / 'm.csv'}: 3 models, 240 matches, first: ash)": tiebreak.vote_board(
            written(folder, "m.csv", matches())
        ),
        "Comparison(gsm8k: 2 logs against full_pairwise)": tiebreak.compare(
            folder / "logs", how=HOW
        ),
        "StabilityReport(2 subsampled logs, 0 repeated runs)": tiebreak.stability(
            folder / "logs", n_seeds=2
        ),
        "StarReport(gsm8k: 2 models judged by stars)": tiebreak.star_report(folder / "stars"),
        "PeerReport(gsm8k: 3 reviewers, 3 models, 3 items)": review,
        "StarStability(gsm8k: 1 benchmark judged by stars)": tiebreak.star_stability(
            folder / "stars"
        ),
        f"Alignment(gsm8k against {folder / 'arena.csv'})": tiebreak.align(
            review, folder / "arena.csv", how=HOW
        ),
        "Calibration(2 judges against stars $x$.csv)": calibration(["ada", "ben"]),
        "Contamination(1 model on 2 datasets)": contamination_of(
            [replayed("ada", "public", 30, 100), replayed("ada", "ours", 3, 100)],
            baselines=["ours"],
        ),
        "Diagnosis(gsm8k: too few items, judging could help)": tiebreak.diagnose(
            tiebreak.load_candidates(folder / "pool")
        )[0],
        "Election(ballots: 3 candidates, first by kemeny_young: ada)": tiebreak.elect(
            BallotFile("ballots", "ballots.csv", ranks)
        ),
        "CanaryReport(j/gsm8k: persuaded by 1 of 1 canary)": canary_reports(folder / "canaries")[0],
        "ContestReport(3 models, 2 rounds, first: ada, ben)": tiebreak.contest_report(
            table, options={"iterations": 50}
        ),
    }


def test_a_line_each(findings: dict[str, Any]) -> None:
    assert [repr(finding) for finding in findings.values()] == list(findings)
    kinds = {type(finding).__name__ for finding in findings.values()}
    assert kinds == {kind.__name__ for kind in Finding.__subclasses__()}


class Balance(HTMLParser):
    """Fails where an element is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":  # which has no end
            self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_notebook_shows_the_sheet(findings: dict[str, Any]) -> None:
    for finding in findings.values():
        page = finding._repr_html_()
        parsed = Balance(page)
        assert parsed.open == []
        assert "table" in parsed.seen
        assert "b" not in parsed.seen  # the model a<b> is escaped
        for sheet in sheets_of(finding):
            for section in sheet.sections:
                if section.table:
                    assert page.count("<tr") >= len(section.table.rows)
    board = next(iter(findings.values()))
    page = board._repr_html_()
    assert "a&lt;b&gt;" in page
    # Before any table: what was found.
    assert page.index(escape(str(board.verdict.sentence))) < page.index("<table")


def test_several_of_one_kind(findings: dict[str, Any], folder: Path) -> None:
    boards = tiebreak.leaderboards(folder / "logs", how=HOW)
    assert len(sheets_of(boards)) == 2
    assert html_of(boards).count('<div class="tiebreak">') == 2
    assert sheets_of([]) == []


def test_on_a_terminal(findings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for finding in findings.values():
        tiebreak.show(finding)
    assert "gsm8k · full_pairwise" in capsys.readouterr().out
    with pytest.raises(TypeError, match="str is not a finding; there are: Alignment, Anch"):
        tiebreak.show("board")


def test_without_a_first_and_with_many(tmp_path: Path) -> None:
    write_log(tmp_path / "a.eval", [sample(None, "q", error="it broke")])
    [board] = tiebreak.leaderboards(tmp_path, how=HOW)
    assert repr(board) == "Leaderboard(candidates · seal: 0 models, 0 items)"
    for names, said in (("abcde", "a, b, c, … (5 in all))"), (["\x1b[31mred", "b"], "")):
        tied = Profile.from_ranks(np.ones((1, len(names))), list(names))
        found = repr(tiebreak.elect(BallotFile("e", "e.csv", tied), ["borda"]))
        assert found.startswith(f"Election(e: {len(names)} candidates, first by borda: ")
        assert found.endswith(said)
        # Names steer no terminal.
        assert found.isprintable()


def test_a_pool_shows_what_it_holds(folder: Path) -> None:
    pool = tiebreak.load_candidates(folder / "pool")
    page = pool._repr_html_()
    assert Balance(page).open == []
    assert page == html_of(tiebreak.audit(pool))
    assert "4 items" in page
