"""What a peer review looks like: on terminals of all widths, and as JSON."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.analysis.peers.builders import LETTERS, by_scores, identical, reviews
from tests.analysis.peers.test_self_preference import planted
from tests.analysis.peers.test_sparse import opinions, thinned
from tests.ranking_logs.builders import write_log
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.peers.review import PeerReport, peer_report
from tiebreak.analysis.peers.self_preference import favour_reason
from tiebreak.rankers import Resampling
from tiebreak.reason import Reason
from tiebreak.report import terminal
from tiebreak.report.sheets.peers import data_of, sheets_of
from tiebreak.scorers.ballots import ItemBallots

MARKUP = "[bold red]x[/]"
LONG = dict(
    zip(
        "abcde",
        ("openai/gpt-5", "smollm2-135m/greedy", "anthropic/claude-opus-4-5", "qwen3", MARKUP),
        strict=True,
    )
)


def printed(report: PeerReport, width: int) -> str:
    return show(sheets_of(report), width)


def cells(text: str, start: str, number: int = 0) -> list[str]:
    """Of the lines that start so the one of this number, as words."""
    found = [row for row in text.splitlines() if row.startswith(start)]
    return found[number].split()


def flat(text: str) -> str:
    return " ".join(text.split())


def renamed(item: ItemBallots) -> ItemBallots:
    """The same with longer names of models."""

    def other(value: object) -> object:
        if isinstance(value, str):
            return LONG.get(value, value)
        if isinstance(value, dict):
            return {other(key): other(part) for key, part in value.items()}
        return [other(part) for part in value] if isinstance(value, list) else value

    return ItemBallots.model_validate(other(item.model_dump(mode="json")))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> PeerReport:
    folder = tmp_path_factory.mktemp("logs")
    scores = planted(30, np.random.default_rng(1))
    for name, items, args in (
        ("full", by_scores(scores), {}),
        ("sparse", thinned(scores, 3), {"degree": 3}),
    ):
        named = [renamed(item) for item in items]
        write_log(folder / f"{name}.eval", named, task_args=args, task_id=name)
    return peer_report(
        [folder], methods=("kemeny_young", "borda", "irv"), how=Resampling(draws=100)
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PeerReport:
    """Figures that can be seen at a glance: twelve items, and one of identical answers."""
    ballots = {"a": "abc", "b": "bc", "c": "bca", "X1": "bca", "X2": None}
    items = [reviews(f"q{k}", ballots, left_out={"b": "a"}, shown={"b": "bc"}) for k in range(12)]
    log = tmp_path_factory.mktemp("small") / "peers.eval"
    write_log(log, [*items, identical("same", "abc")])
    return peer_report([log], how=Resampling(draws=100))


@pytest.mark.parametrize("width", [80, 99, 100, 120, 200])
def test_no_line_is_too_long_and_nothing_is_cut(report: PeerReport, width: int) -> None:
    text = printed(report, width)
    assert max(cell_len(row) for row in text.splitlines()) <= width
    assert "…" not in text
    assert " Ranks " in text
    words = (
        "gsm8k · peer review · 30 items · 5 models · 5 reviewers",
        *("Mean rank", "All at once", "PR−SR", "SFA−SIA", "Fair gap", "Place τ", "Paid"),
        *(
            "Kem Bor IRV",
            "τ of two",
            "Krippendorff's α of the ranks:",
            "Independent votes: between 1.",
        ),
        *("Sparse peer review beside the full one", "proven optimal", "removed", MARKUP),
    )
    for word in words:
        assert word in flat(text), word


def test_a_review_begins_with_who_is_first_and_who_favours_itself(small: PeerReport) -> None:
    [sheet, *_] = sheets_of(small)
    assert sheet.verdict == (
        "b is first (p < .001 against each other model). All 3 models are told apart on these 12 "
        "items. a ranks itself 2.0 places higher than its peers rank it (the consensus takes that "
        "away)."
    )
    assert data_of(small)["reviews"][0]["verdict"] == sheet.verdict
    words = flat(printed(small, 100))
    assert words.index(sheet.verdict) < words.index("Mean rank")
    for view in ("SR, self-ranking:", "PR, peer-ranking:", "SIA, self-incl", "SFA, self-free"):
        assert view in words


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
        "a ranks itself 2.0 places higher than its peers rank it (the consensus takes that away); "
        "a ranks itself 0.5 places lower than its peers rank it (the consensus keeps that)."
    )


def test_the_tables_by_hand(small: PeerReport) -> None:
    whole = printed(small, 120)
    text = whole[whole.index("Model") :]
    # Rank, mean rank, its interval, ranks that are left open, all at once.
    assert cells(text, "b ") == ["b", "1", "1.00", "1.00", "to", "1.00", "1–1", "1"]
    # a: SR 1, PR 3, and the consensus bca is that of all the others.
    assert cells(text, "a ", 1) == [
        "a",
        "1.00",
        "3.00",
        "+2.00",
        "3.00",
        "3.00",
        "+0.00",
        "removed",
    ]
    # c: 3rd by a, 2nd by all others. Without the other's answer it is where it puts itself.
    assert cells(text, "c ", 1) == ["c", "2.00", "2.33", "+0.33", "2.00", "2.00", "+0.00", "none"]
    assert cells(text, "c ", 2)[4:6] == ["+0.00", "0.00"]
    # a agrees with b on b and c, and with c and X1 in one of three pairs: τ 1 and −1/3, −1/3.
    reviewers = text[text.index("Far") :]
    assert cells(reviewers, "a ")[:2] == ["a", "0.11"]
    assert cells(reviewers, "c ")[-2:] == ["1", "same"]
    assert "12 in 12" in text
    assert cells(text, "X2 (panel)")[2:4] == ["12", "100%"]
    assert cells(text, "X1", -1) == ["X1", "12", "0", "1,200", "120", "$0.1200", "$0.1200"]
    words = flat(whole)
    for sentence in (
        "WARNING: X2 gave no usable review in any of 12 items, and the others decide alone.",
        "WARNING: b did not see all answers in 12 of 12 reviews",
        "Mean rank: by kemeny_young, item by item (12 items).",
        "Kemeny orders of the items: all proven optimal, unique in 12 of 12 items; 20% of the",
        "All at once, 48 ballots. Cost: 24 pairwise disagreements, proven optimal, by this order",
        "Note: In 1 item of 13 all answers are identical",
        "Note: No candidates, but on the panel: X1, X2",
        # a then is before b, or behind c, as likely as not: 2nd on average, and c 3rd.
        "Without c, a rises by 1 place; no reviewer matters more (consensus by kemeny_young)",
        "Calls: 60, of which 0 from the cache · tokens: 6,000 in, 600 out Money: worth $0.60",
        "Intervals: bootstrap over items, 100 draws, seed 0",
    ):
        assert sentence in words, sentence


def test_colours_say_who_favours_itself(small: PeerReport) -> None:
    text = io.StringIO()
    console = Console(file=text, width=120, force_terminal=True, color_system="standard")
    terminal.show(sheets_of(small), console)
    red = "\x1b[31m"
    assert f"{red}+2.00" in text.getvalue()
    assert f"{red}+0.00" not in text.getvalue()


@pytest.mark.slow
def test_a_sparse_log_alone_has_no_views(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", thinned(opinions(12, 4, 1, 1), 2), task_args={"degree": 2})
    text = printed(peer_report([tmp_path], how=Resampling(draws=100)), 80)
    assert "Self-preference: – (in sparse mode no reviewer is shown its own answer)" in flat(text)
    assert "PR−SR" not in text
    assert "beside the full one" not in text


def test_a_method_without_result_is_told(tmp_path: Path) -> None:
    write_log(tmp_path / "1.eval", thinned(opinions(12, 4, 1, 1), 2))
    report = peer_report([tmp_path], methods=("kendall",), how=Resampling(draws=100))
    assert "kendall: no result (it can read no ballot of any item)" in flat(printed(report, 80))


@pytest.mark.slow
def test_many_reviewers_have_no_matrix(tmp_path: Path) -> None:
    letters = LETTERS[:9]
    items = [reviews(f"q{k}", dict.fromkeys(letters, letters)) for k in range(3)]
    write_log(tmp_path / "1.eval", items)
    text = printed(peer_report([tmp_path], how=Resampling(draws=100)), 80)
    assert "No model moves when a reviewer is left out" in text
    assert max(cell_len(row) for row in text.splitlines()) <= 80
    assert "τ of two" not in text


def test_prices_that_are_not_known(tmp_path: Path) -> None:
    items = [reviews(f"q{k}", {"a": "ab", "b": "ba"}) for k in range(2)]
    unpriced = [
        item.model_copy(update={"calls": tuple(replace(c, cost=None) for c in item.calls)})
        for item in items
    ]
    write_log(tmp_path / "1.eval", unpriced)
    text = flat(printed(peer_report([tmp_path], how=Resampling(draws=100)), 80))
    assert "worth –, paid in this run –" in text
    assert "no price known for m/a, m/b; rank, report and compare take --price IN,OUT" in text


def test_json_holds_the_figures(small: PeerReport) -> None:
    data = round_trip(data_of(small))
    assert (data["format"], data["version"]) == ("tiebreak/peer-review", 2)
    assert (data["level"], data["draws"], data["seed"]) == (0.95, 100, 0)
    [one] = data["reviews"]
    assert (one["n_items"], one["n_identical"], one["degree"]) == (13, 1, None)
    assert [row["model"] for row in one["ranking"]["rows"]] == ["b", "c", "a"]
    assert one["ranking"]["orders"]["n_unique"] == 12
    [at_once] = one["ranking"]["at_once"]["results"]
    assert at_once["kemeny"]["order"] == ["b", "c", "a"]
    views = {row["model"]: row for row in one["views"]}
    assert (views["a"]["gap"]["value"], views["a"]["verdict"]) == (2, "removed")
    panel = one["panel"]
    names = [row["name"] for row in panel["reviewers"]]
    assert names == ["a", "b", "c", "X1", "X2"]
    assert panel["tau"][0] == [pytest.approx(tau) for tau in (1, 1, -1 / 3, -1 / 3)] + [None]
    assert panel["tau_n_items"][4] == [0] * 5
    by_name = {row["name"]: row for row in panel["reviewers"]}
    assert by_name["X2"]["replies"]["unscored_rate"] == 1
    assert by_name["X2"]["agreement"]["value"] is None
    assert (by_name["b"]["n_cut"], by_name["b"]["n_left_out"]) == (12, 12)
    # Without a all is bca. Without c a is even with both: of abc, bac and bca Borda takes bac.
    assert by_name["a"]["mean_ranks_without"] == {"a": 3, "b": 1, "c": 2}
    assert by_name["c"]["mean_ranks_without"] == {"a": 2, "b": 1, "c": 3}
    assert [use["reviewer"] for use in one["receipt"]["usage"]] == ["X1", "X2", "a", "b", "c"]
    assert "items" not in one
    assert data["sparse"] == []


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


def test_json_of_sparse_beside_full(report: PeerReport) -> None:
    data = round_trip(data_of(report))
    [sparse] = data["sparse"]
    assert (sparse["degree"], sparse["n_items"]) == (3, 30)
    assert sparse["macro"]["kendall"]["value"] == report.sparse[0].macro.kendall.value
    assert sparse["price"]["relative_calls"] == 1
    assert {row["reason"] for row in data["reviews"][1]["views"]} == {
        "in sparse mode no reviewer is shown its own answer"
    }
