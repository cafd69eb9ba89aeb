"""Leaderboards as they are shown, as JSON and as CSV."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest
from inspect_ai.log import EvalSample

from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import (
    bracket,
    by_native,
    call,
    graded,
    item,
    listed,
    match,
    sample,
    skipped,
    write_log,
)
from tests.report.showing import printed, round_trip
from tiebreak.analysis.judge.biases import Flips, Length, Position
from tiebreak.analysis.judge.figures import Correctness, Cycles, JudgeFigures, JudgeReplies
from tiebreak.analysis.leaderboard import Leaderboard, LeaderboardRow, leaderboards
from tiebreak.analysis.receipt import KindCalls, Receipt, Settled, Usage
from tiebreak.analysis.strengths import StrengthRow, StrengthView
from tiebreak.analysis.trust import Trust
from tiebreak.candidates.settings import Different
from tiebreak.rankers import Estimate, Resampling
from tiebreak.rankers.settlement import SettleFor
from tiebreak.report.json import keys_of
from tiebreak.report.sheets.leaderboard import data_of, sheets_of
from tiebreak.report.terminal import plain
from tiebreak.scorers.ballots import ItemBallots


def boards_of(path: Path, *items: ItemBallots | EvalSample, status: str = "") -> list[Leaderboard]:
    about = {"status": status} if status else {}
    log = write_log(path / "r.eval", [*items], **about)  # type: ignore[arg-type]
    return leaderboards([log], how=Resampling(draws=100))


def shown(boards: Sequence[Leaderboard], width: int = 200) -> str:
    return printed(sheets_of(boards), width)


BRACKETS = [bracket(f"q{n}", "a", "b", "c") for n in range(12)]
LENGTHS = [{"a": 30, "b": 20 + n % 2, "c": 20} for n in range(12)]
BOARDS: dict[str, list[ItemBallots | EvalSample]] = {
    "matches": [*BRACKETS[:2]],
    "points": [graded(f"q{n}", {"a": 0.75, "b": None, "c": 0.25}) for n in range(2)],
    "lists": [listed(f"q{n}", [["a"], ["b", "c"]], calls=[call("list")]) for n in range(2)],
    "native scores, all equal": [by_native(f"q{n}", {"a": 1.0, "b": 1.0}) for n in range(2)],
    "native scores of some": [
        bracket("q1", "a", "b", "c", native={"a": 1.0, "b": None, "c": 0.0}),
        bracket("q2", "a", "b", "c", native={"a": None, "b": None, "c": 0.0}),
    ],
    "models that never met": [item("q", [match("a", "b", 0.1)], groups=["a", "b", "c"])],
    # Of no two models now one and now the other gave the longer answer.
    "lengths that differ always": [
        one.model_copy(update={"lengths": LENGTHS[0] | {"b": 25}}) for one in BRACKETS
    ],
    # b always beats c, longer or as long.
    "lengths that differ at times": [
        one.model_copy(update={"lengths": own}) for one, own in zip(BRACKETS, LENGTHS, strict=True)
    ],
    "no verdict, no price, and errors": [
        sample(item("q1", [match("a", "b", None), match("a", "c", 0.2)], calls=[call(cost=None)])),
        *(sample(None, f"bare{n}", error="[red]boom[/red]") for n in range(7)),
    ],
    "no item ranked": [sample(None, "q1", error="boom")],
}


def test_what_boards_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every protocol what it has, and what is missing."""
    monkeypatch.chdir(tmp_path)
    texts = []
    for name, items in BOARDS.items():
        status = "error" if "errors" in name else ""
        texts += [f"({name})\n", shown(boards_of(Path(), *items, status=status)), "\n"]
    check(__file__, "boards.txt", "".join(texts))


@pytest.mark.parametrize(
    ("tiers", "said"), cases(__file__, "tiers are listed where the sentence counts them")
)
def test_tiers_are_listed_where_the_sentence_counts_them(
    tmp_path: Path, tiers: tuple[tuple[str, ...], ...], said: str | None
) -> None:
    [board] = boards_of(tmp_path, *BRACKETS)
    text = shown([replace(board, verdict=replace(board.verdict, tiers=tiers))])
    assert ("Tiers," in text) == (said is not None)
    assert (said or "") in text


@pytest.mark.parametrize(("differ", "note"), cases(__file__, "settings"))
def test_settings_differ_in_one_note(tmp_path: Path, differ: Different, note: str | None) -> None:
    board = replace(boards_of(tmp_path, *BRACKETS[:1])[0], settings_differ=differ)
    [sheet] = sheets_of([board])
    said = [one for one in sheet.notes if "different ways" in one]
    assert said == ([f"The models were asked in different ways: {note}"] if note else [])
    [data] = round_trip(data_of([board]))["leaderboards"]
    assert data["settings_differ"] == differ


@pytest.mark.slow
@pytest.mark.parametrize(
    ("top", "settle_for", "words", "limit"), cases(__file__, "a settled run says what it saved")
)
def test_a_settled_run_says_what_it_saved(
    tmp_path: Path, top: int | None, settle_for: SettleFor, words: str, limit: str
) -> None:
    judged = [bracket(f"q{n}", "a", "b", "c", calls=[call()] * 10) for n in range(3)]
    rest = [skipped(f"s{n}", after=3, of=108, top=top, settle_for=settle_for) for n in range(105)]
    text = shown(boards_of(tmp_path, *judged, *rest))
    rate = "error rate 5%, 7% with the tests of pairs"
    said = f"Settled: {words} was decided after 3 of 108 items ({rate}){limit}; about 1,050 calls"
    assert said in text
    assert "not ranked" not in text


@pytest.mark.parametrize(("text", "shown"), cases(__file__, "plain"))
def test_plain(text: str, shown: str) -> None:
    assert plain(text).plain == shown


@pytest.fixture
def boards(tmp_path: Path) -> list[Leaderboard]:
    samples = [
        bracket("q1", 'm/"x", [bold]', "b", "c", calls=[call(cost=None)]),
        item("q1", [match("a", "b", None)], groups=(("a",), ("b",)), benchmark="mmlu"),
        skipped("q2", after=1, of=2),
    ]
    return boards_of(tmp_path, *samples)


def test_json_is_valid_and_has_the_documented_shape(boards: list[Leaderboard]) -> None:
    data = round_trip(data_of(boards))
    assert (data["format"], data["version"]) == ("tiebreak/leaderboards", 2)
    first = data["leaderboards"][0]
    parts = {
        LeaderboardRow: first["rows"][0],
        StrengthView: first["views"][0],
        StrengthRow: first["views"][0]["rows"][0],
        JudgeFigures: first["judge"],
        Estimate: first["judge"]["position"]["rate"],
        Position: first["judge"]["position"],
        Flips: first["judge"]["flips"],
        Length: first["judge"]["length"],
        Correctness: first["judge"]["correctness"],
        Cycles: first["judge"]["cycles"],
        JudgeReplies: first["judge"]["replies"][0],
        Trust: first["verdict"]["trust"],
        Receipt: first["receipt"],
        KindCalls: first["receipt"]["kinds"][0],
        Usage: first["receipt"]["usage"][0],
        Settled: first["settled"],
    }
    assert set(first) == {field.name for field in fields(Leaderboard)} | {"resolution_gain"}
    for kind, part in parts.items():
        assert list(part) == keys_of(kind)
        assert f"`{kind.__name__}`" in (data_of.__doc__ or ""), f"{kind} is not documented"
