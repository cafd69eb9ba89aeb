from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

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
from tests.report.showing import printed as show
from tests.report.showing import round_trip
from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
from tiebreak.analysis.strengths import StrengthRow
from tiebreak.candidates.settings import Different
from tiebreak.rankers import Resampling
from tiebreak.rankers.settlement import SettleFor
from tiebreak.report.sheets.leaderboard import data_of, sheets_of
from tiebreak.report.terminal import plain
from tiebreak.scorers.ballots import ItemBallots

LONG = "openrouter/some-organisation/a-very-long-model-name-2026-11-01-preview-thinking-high"
MARKUP = "m/[bold red]x[/] [/b] :smile:"


def printed(boards: list[Leaderboard], width: int) -> str:
    return show(sheets_of(boards), width)


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.fixture
def boards(tmp_path: Path) -> list[Leaderboard]:
    calls = [
        call("seed", cost=0.01, depth=0, input_tokens=12_345),
        call(cost=0.02, depth=1),
        call(cost=0.02, depth=2, cached=True),
    ]
    samples = [
        *(bracket(f"q{n}", LONG, MARKUP, "c", calls=calls) for n in range(30)),
        item("same", groups=((LONG, MARKUP, "c"),)),
    ]
    return leaderboards([write_log(tmp_path / "r.eval", [*samples])], how=Resampling(draws=100))


@pytest.mark.parametrize(
    ("tiers", "said"),
    [
        (((LONG, MARKUP), ("c",)), f"told apart: {LONG}, {MARKUP} · c"),
        (((LONG, MARKUP, "c"),), None),  # the sentence says it
        (((LONG,), (MARKUP,), ("c",)), None),
    ],
)
def test_tiers_are_listed_where_the_sentence_counts_them(
    boards: list[Leaderboard], tiers: tuple[tuple[str, ...], ...], said: str | None
) -> None:
    [board] = boards
    tiered = replace(board, verdict=replace(board.verdict, tiers=tiers))
    text = squeezed(printed([tiered], 120))
    assert ("Tiers," in text) == (said is not None)
    assert squeezed(said or "") in text


@pytest.mark.slow
def test_long_names_fold(boards: list[Leaderboard]) -> None:
    lines = printed(boards, 80).splitlines()
    start = next(n for n, line in enumerate(lines) if line.lstrip().startswith("1 "))
    folded = [line[3:].split(" ")[0] for line in lines[start : start + 2]]
    assert "".join(folded) == LONG
    assert folded[0][-1] in "/-"


@pytest.mark.slow
def test_names_are_no_markup(boards: list[Leaderboard]) -> None:
    assert MARKUP in printed(boards, 200)


def of(folder: Path, *items: ItemBallots, width: int = 200) -> str:
    return printed(
        leaderboards([write_log(folder / "r.eval", [*items])], how=Resampling(draws=100)), width
    )


@pytest.mark.parametrize(
    ("differ", "note"),
    [
        ({}, None),
        (
            {"temperature": {"0": ["a", "b"], "1": ["c"]}, "shots": {"5": ["a"], "": ["b", "c"]}},
            "temperature: 0 (a, b), 1 (c); shots: 5 (a), not set (b, c)",
        ),
        (
            {"solver": {"f()": [f"m{n}" for n in range(5)], "g()": ["x", "y", "z"]}},
            "solver: f() (m0, m1, m2 and 2 more), g() (x, y, z)",
        ),
    ],
)
def test_different_settings_are_one_note(
    boards: list[Leaderboard], differ: Different, note: str | None
) -> None:
    shown = replace(boards[0], settings_differ=differ)
    [sheet] = sheets_of([shown])
    said = [one for one in sheet.notes if "different ways" in one]
    assert said == ([f"The models were asked in different ways: {note}"] if note else [])
    [data] = round_trip(data_of([shown]))["leaderboards"]
    assert data["settings_differ"] == differ


ABOUT_MATCHES = ("W–L–T", "First answer won", "Flips when", "Longer answer", "Second views")


@pytest.mark.parametrize(
    ("items", "shown", "absent"),
    [
        ([bracket(f"q{n}", "a", "b", "c") for n in range(2)], ABOUT_MATCHES, ("Points",)),
        (
            [graded(f"q{n}", {"a": 0.75, "b": None, "c": 0.25}) for n in range(2)],
            ("Points", "0.750", "100%", "scored"),
            ABOUT_MATCHES,
        ),
        (
            [listed(f"q{n}", [["a"], ["b", "c"]], calls=[call("list")]) for n in range(2)],
            ("No usable reply from j/judge: 0 of 2 questions (0%, 0–66%)",),
            (*ABOUT_MATCHES, "Points", "scored"),
        ),
        (
            [by_native(f"q{n}", {"a": 1.0, "b": 1.0}) for n in range(2)],
            ("judge: no call", "No item tells models apart, so this ranking says nothing"),
            (*ABOUT_MATCHES, "Points", "scored", "No usable reply", "identical"),
        ),
    ],
    ids=["matches", "points", "list", "native"],
)
def test_every_protocol_shows_what_it_has(
    tmp_path: Path, items: list[ItemBallots], shown: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    text = of(tmp_path, *items)
    assert [word for word in shown if word not in text] == []
    assert [word for word in absent if word in text] == []


@pytest.mark.slow
def test_second_views(tmp_path: Path) -> None:
    # b beats a once in twelve items, so that Bradley–Terry has strengths.
    groups = ((LONG,), ("b",))
    items = [
        item(f"q{n}", [match(LONG, "b", 0.5 if n else -0.5)], groups=groups) for n in range(12)
    ]
    for width in (80, 120, 200):
        text = of(tmp_path / str(width), *items, width=width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        start = text.index("Bradley–")
        header = next(line for line in text.splitlines() if line.count("95% interval") == 2)
        assert header.split("95% interval")[-1].split()[0] == ("Rank" if width == 200 else "#")
        # Margins: 11 won, 1 lost, so s_a - s_b = 10/12. Odds 11 to 1: ln(11) / 2 = 1.199 each.
        for strength in ("0.42", "-0.42", "1.20", "-1.20"):
            assert f" {strength} " in text[start:]
        assert squeezed("(difference = log-odds of winning, 100 draws)") in squeezed(text)
        assert "of 100 draws of items have no finite strengths" in " ".join(text.split())


def test_wide_numbers_fit_into_80_columns(tmp_path: Path) -> None:
    models = [f"{LONG}-{number}" for number in range(12)]
    groups = tuple((model,) for model in models)
    items = [item("q", [match(*pair, 0.1) for pair in pairwise(models)], groups=groups)]
    [board] = leaderboards([write_log(tmp_path / "r.eval", items)], how=Resampling(draws=100))
    rows = tuple(
        StrengthRow(rank + 1, model, -10.25, -12.25, -10.15) for rank, model in enumerate(models)
    )
    views = (replace(board.views[0], rows=rows), replace(board.views[1], rows=rows))
    lines = printed([replace(board, views=views)], 80).splitlines()
    assert max(map(cell_len, lines)) <= 80
    shown = [line for line in lines if "-12.25" in line]
    assert [line.split()[-1] for line in shown] == [str(rank + 1) for rank in range(12)]
    assert all(line.count("-10.25") == line.count("-12.25 to -10.15") == 2 for line in shown)


def test_a_view_without_strengths_says_why(tmp_path: Path) -> None:
    text = of(tmp_path, *(bracket(f"q{n}", "a", "b", "c") for n in range(3)))
    assert "Bradley–Terry: models a never lost to or tied with any of b, c, so no finite" in text
    assert "Least squares (difference" in text
    apart = of(tmp_path / "x", item("q", [match("a", "b", 0.1)], groups=["a", "b", "c"]))
    assert "Least squares: models a, b never met any of c, so no strengths fit" in apart
    assert "Second views" not in apart


def test_length_is_shown_within_pairs_of_models(tmp_path: Path) -> None:
    items = [bracket(f"q{n}", "a", "b", "c") for n in range(12)]
    lengths = [{"a": 30, "b": 20 + n % 2, "c": 20} for n in range(12)]
    always = [i.model_copy(update={"lengths": lengths[0] | {"b": 25}}) for i in items]
    assert (
        "Longer answer: – (of every two models the same one always gave the longer answer)"
        in of(tmp_path / "always", *always)
    )
    mixed = [i.model_copy(update={"lengths": own}) for i, own in zip(items, lengths, strict=True)]
    # b always beats c, longer or as long.
    assert (
        "Between the same two models the longer answer gains 0 points (0 to 0), by 12 matches in "
        "12 items; longer answers may be better" in of(tmp_path / "mixed", *mixed)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("top", "settle_for", "words", "limit"),
    [
        (None, "new", "the ranking was decided", ""),
        (
            2,
            "these",
            "the top 2 was decided",
            " for these items; other items may rank them differently",
        ),
    ],
)
def test_a_settled_run_says_what_it_saved(
    tmp_path: Path, top: int | None, settle_for: SettleFor, words: str, limit: str
) -> None:
    judged = [bracket(f"q{n}", "a", "b", "c", calls=[call()] * 10) for n in range(3)]
    rest = [skipped(f"s{n}", after=3, of=108, top=top, settle_for=settle_for) for n in range(105)]
    text = of(tmp_path, *judged, *rest)
    rate = "error rate 5%, 7% with the tests of pairs"
    said = f"Settled: {words} after 3 of 108 items ({rate}){limit}; about 1,050 calls saved"
    assert said in text
    assert "not ranked" not in text


@pytest.mark.slow
def test_warnings_come_before_the_table(boards: list[Leaderboard]) -> None:
    text = printed(boards, 120)
    assert text.index(
        "WARNING: The judge is doubtful on this board: the answer shown first won 100%"
    ) < text.index("Borda")


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    samples = [
        sample(item("q1", [match("a", "b", None), match("a", "c", 0.2)], calls=[call(cost=None)])),
        *(sample(None, f"bare{n}", error="[red]boom[/red]") for n in range(7)),
    ]
    path = write_log(tmp_path / "r.eval", samples, status="error")
    text = printed(leaderboards([path]), 200)
    assert "no price known for j/judge; rank, report and compare take --price IN,OUT" in text
    assert "Money: unknown" in text
    assert "bare4 (error: [red]boom[/red]) and 2 more" in text
    assert "No intervals: there is one item" in text
    assert "native scores: all equal" in text
    assert "WARNING: 1 of 2 matches (50%) have no verdict" in text
    assert squeezed("1 of 8 items judged (status: error)") in squeezed(text)
    assert "nan" not in text.lower()


def test_a_board_without_rows(tmp_path: Path) -> None:
    path = write_log(tmp_path / "r.eval", [sample(None, "q1", error="boom")])
    text = printed(leaderboards([path]), 80)
    assert "No item could be ranked." in text
    assert "1 item not ranked: q1 (error: boom)" in text


def test_native_scores_show_their_own_number_of_items(tmp_path: Path) -> None:
    path = write_log(
        tmp_path / "r.eval",
        [
            bracket("q1", "a", "b", "c", native={"a": 1.0, "b": None, "c": 0.0}),
            bracket("q2", "a", "b", "c", native={"a": None, "b": None, "c": 0.0}),
        ],
    )
    text = printed(leaderboards([path]), 120)
    assert "1.000 (of 1)" in text
    assert "0.000 (of" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred", r"a\x1b[31mred"),
        ("two\nlines", "two lines"),
        ("r\u202etl", r"r\u202etl"),
        ("ok é 漢", "ok é 漢"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text).plain == shown
