"""What a peer review looks like: on terminals of all widths, and as JSON."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.analysis.peers.builders import LETTERS, identical, reviews
from tests.analysis.peers.test_sparse import opinions, thinned
from tests.expected import check
from tests.ranking_logs.builders import write_log
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.peers.review import PeerReport, peer_report
from tiebreak.analysis.peers.self_preference import favour_reason
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.report import terminal
from tiebreak.report.sheets.peers import data_of, sheets_of


def printed(report: PeerReport, width: int) -> str:
    return show(sheets_of(report), width)


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PeerReport:
    """Figures that can be seen at a glance: twelve items, and one of identical answers."""
    ballots = {"a": "abc", "b": "bc", "c": "bca", "X1": "bca", "X2": None}
    items = [reviews(f"q{k}", ballots, left_out={"b": "a"}, shown={"b": "bc"}) for k in range(12)]
    log = tmp_path_factory.mktemp("small") / "peers.eval"
    write_log(log, [*items, identical("same", "abc")])
    return peer_report([log], how=Resampling(draws=100))


def test_who_favours_itself_in_a_sentence(small: PeerReport) -> None:
    [review, *_] = small.reviews
    a, *others = review.views
    assert a.verdict == "removed"
    assert favour_reason(others) == Reason("no_self_favour")
    untold = replace(a, verdict=None, reason=Reason("few_items_to_tell"))
    assert favour_reason([untold]) is None
    assert favour_reason([untold, *others]) == Reason("no_self_favour_of_tested", n=2)
    humble = replace(a, verdict="kept", gap=replace(a.gap, value=-0.5))
    assert str(favour_reason([humble, a])) == (
        "a ranks itself 2.0 places higher than its peers rank it (the consensus removes that); "
        "a ranks itself 0.5 places lower than its peers rank it (the consensus keeps that)."
    )


def test_colours_say_who_favours_itself(small: PeerReport) -> None:
    text = io.StringIO()
    console = Console(file=text, width=120, force_terminal=True, color_system="standard")
    terminal.show(sheets_of(small), console)
    red = "\x1b[31m"
    assert f"{red}+2.00" in text.getvalue()
    assert f"{red}+0.00" not in text.getvalue()


def test_other_reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse ones, which have no views, a method without a result, many reviewers, no prices."""
    monkeypatch.chdir(tmp_path)
    unpriced = reviews("q0", {"a": "ab", "b": "ba"})
    calls = {"calls": tuple(replace(one, cost=None) for one in unpriced.calls)}
    many = [reviews(f"q{k}", dict.fromkeys(LETTERS[:9], LETTERS[:9])) for k in range(3)]
    write_log(Path("sparse/1.eval"), thinned(opinions(12, 4, 1, 1), 2), task_args={"degree": 2})
    write_log(Path("kendall/1.eval"), thinned(opinions(12, 4, 1, 1), 2))
    write_log(Path("many/1.eval"), many)
    write_log(Path("unpriced/1.eval"), [unpriced.model_copy(update=calls)])
    texts = []
    for name in ("sparse", "kendall", "many", "unpriced"):
        methods = {"methods": ("kendall",)} if name == "kendall" else {}
        report = peer_report([name], how=Resampling(draws=100), **methods)
        texts.append(f"({name})\n{printed(report, 80)}")
    check(__file__, "other_reviews.txt", "\n".join(texts))


def test_json_with_items_holds_every_certificate(small: PeerReport) -> None:
    data = round_trip(data_of(small, items=True))
    items = data["reviews"][0]["items"]
    assert {item["item_id"] for item in items} == {*(f"q{k}" for k in range(12)), "same"}
    assert items[-1] == {"item_id": "same", "n_reviews": 0, "election": None}
    assert items[0]["n_reviews"] == 4
    [result] = items[0]["election"]["results"]
    assert result["kemeny"]["optimal"] is True
    # a is twice before b or c, in its own ballot.
    certificate = result["kemeny"]["certificate"]
    assert result["kemeny"]["cost"] == certificate["value"] / certificate["denominator"] == 2
