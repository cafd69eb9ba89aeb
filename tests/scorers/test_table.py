"""The judging of an item as Markdown: nothing is left out, and no text becomes markup."""

import pytest
from markdown_it import MarkdownIt

from tests.ranking_logs.builders import item, match
from tests.scorers.judges import (
    NotingJudge,
    contest_of,
    judged,
    ladder,
    silent_about,
    silent_on,
)
from tests.scorers.reviews import panel, review
from tests.scorers.tournament import planted_contest
from tiebreak.scorers.ballots import ItemBallots, PointScore, Refinement, Skipped, Tiering
from tiebreak.scorers.ranking import ballots_table


def cells(table: str) -> list[list[str]]:
    """The cells of all table rows below a heading row."""
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows]


def test_places_are_counted_through_ties() -> None:
    quality = {"a": 2.0, "b": 2.0, "c": 1.0}
    ballots = judged("full_pairwise", planted_contest(quality), NotingJudge(quality))
    table = ballots_table(ballots)
    assert cells(table)[:3] == [["place", "model"], ["1", "a = b"], ["3", "c"]]
    # There is no bracket here, so an even match sends nobody on.
    assert ["Round 1", "a", "b", "+0.00", "tie", "1", "–"] in cells(table)


def test_in_a_bracket_the_better_seed_goes_on() -> None:
    played = [match("a", "b", 0.0), match("c", "a", None, round=2)]
    table = ballots_table(item("q", played, groups=(("a",), ("b",), ("c",))))
    assert ["Semi-final", "a", "b", "+0.00", "tie → better seed", "1", "a"] in cells(table)
    assert [
        "Final", "c", "a", "–", "**unscored** → better seed (no JSON in the reply)", "1", "c"
    ] in cells(table)  # fmt: skip


def test_who_has_no_rank_is_named() -> None:
    judge = NotingJudge(ladder(3), silent=silent_on("m01"))
    table = ballots_table(judged("full_pairwise", contest_of(3), judge))
    assert cells(table)[1:4] == [["1", "m00"], ["2", "m02"], ["–", "m01"]]
    assert table.count("**unscored** (silent)") == 2


def test_flips_and_both_orders() -> None:
    table = ballots_table(item("q", [match("a", "b", 0.3, second_order=-0.5)], groups=("a", "b")))
    assert ["Final", "a", "b", "-0.10", "principles", "2 **flipped**", "b"] in cells(table)


def test_points_with_their_grades() -> None:
    scores = (
        PointScore(candidate="a", grades={"P1": 9, "P2": 7}, score=0.8),
        PointScore(candidate="b", unscored="it is empty"),
        PointScore(candidate="c", grades={"P1": 1, "P2": 0}, score=0.05),
        PointScore(
            candidate="d",
            score=0.5,
            parts=(
                PointScore(candidate="d", judge="x/one", score=0.5),
                PointScore(candidate="d", judge="x/two", unscored="it is empty"),
            ),
        ),
    )
    asked = item("q", groups=[["a"], ["b"], ["c"], ["d"]])
    table = ballots_table(asked.model_copy(update={"placed_by": "grades", "scores": scores}))
    assert cells(table)[5:] == [
        ["candidate", "points", "grades"],
        ["a", "0.80", "P1 9, P2 7"],
        ["b", "**unscored** (it is empty)", ""],
        ["c", "0.05", "P1 1, P2 0"],
        ["d", "0.50", "x/one 0.50, x/two –"],
    ]


@pytest.mark.parametrize(
    ("aggregator", "merged"),
    [
        ("borda", "Merged by borda."),
        (
            "kemeny_young",
            "Merged by Kemeny–Young: 0 pairwise disagreements, proven optimal; the only optimal "
            "order.",
        ),
    ],
)
def test_how_reviews_were_merged(aggregator: str, merged: str) -> None:
    ballots = review(contest_of(3), panel(3), method=aggregator)
    [line] = [line for line in ballots_table(ballots).splitlines() if line.startswith("Merged")]
    assert line == merged


def test_why_seeds_came_by_lot() -> None:
    ballots = item("q", [match("a", "b", 0.1)], groups=("a", "b"), unseeded="it is empty")
    assert "Seeding **unscored** (it is empty): seeds by lot." in ballots_table(ballots)


def test_only_items_that_joined_the_checklist_are_listed() -> None:
    refinements = (
        Refinement(round=1, slot=0, item_id="C5", principle_id="P1", description="It says 3."),
        Refinement(round=1, slot=1, item_id="C6", description="Again.", duplicate_of="C5"),
        Refinement(round=2, slot=0, unscored="it is empty"),
    )
    ballots = item("q", [match("a", "b", 0.1)], groups=("a", "b"))
    table = ballots_table(ballots.model_copy(update={"refinements": refinements}))
    assert table.endswith("Checklist items added:\n\n- C5 (P1): It says 3.")


@pytest.mark.parametrize(
    ("ballots", "words"),
    [
        (item("q", groups=(("a", "b"),)), "All answers are identical: nobody was asked."),
        (
            item("q", complete=False).model_copy(
                update={"skipped": Skipped(after=40, of=162, error=0.05)}
            ),
            "**Not ranked**: skipped: the ranking was decided after 40 of 162 items.",
        ),
        (item("q", complete=False), "**Not ranked**: judging was cut short."),
        (item("q", complete=False, groups=(("a", "b"),)), "**Not ranked**: judging was cut short."),
    ],
)
def test_items_without_matches(ballots: ItemBallots, words: str) -> None:
    table = ballots_table(ballots)
    assert words in table
    assert ("nobody was asked" in table) == ("nobody" in words)
    assert ballots_table(ballots.model_copy(update={"tiering": Tiering()})) == table


def test_an_unscored_swiss_match_sends_nobody_on() -> None:
    judge = NotingJudge(ladder(4), silent=silent_about("m00", "m03"))
    table = ballots_table(judged("swiss", contest_of(4), judge, tiers=1, rounds=3, refine=False))
    [row] = [row for row in cells(table) if any("unscored" in cell for cell in row)]
    assert row[4:] == ["**unscored** (silent)", "1", "–"]


HOSTILE = [
    "a|b",
    "a\\|b",
    "a\\\\|b\\",
    "![x](http://evil.example/p.png)",
    "[x](javascript:alert(1))",
    "[x]: http://evil.example",
    "<img src=x onerror=alert(1)>",
    "`a|b`",
    "a\n\n# heading\n| - |",
    "\u2028a\x85b",
    "<!-- a",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_texts_stay_in_their_cells(text: str) -> None:
    """Read by a Markdown parser: as many cells as ever, and the text in them as it was."""
    ballots = item("q", [match(text, "b", 0.5)], groups=((text,), ("b",)))
    added = Refinement(round=1, slot=0, item_id="C5", principle_id="P1", description=text)
    table = ballots_table(ballots.model_copy(update={"refinements": (added,)}))
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 2
    assert kinds.count("tr_open") == 3 + 2
    assert kinds.count("td_open") == 2 * 2 + 7
    assert kinds.count("list_item_open") == 1
    inline = [token for token in tokens if token.type == "inline"]
    made = {child.type for token in inline for child in token.children or []}
    assert not made & {"image", "link_open", "html_inline", "code_inline"}
    shown = ["".join(child.content for child in token.children or []) for token in inline]
    assert " ".join(text.split()) in shown
    assert sum(" ".join(text.split()) in content for content in shown) >= 4
