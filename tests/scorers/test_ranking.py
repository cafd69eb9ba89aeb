"""The scorer and its metric, without a harness."""

import math
from typing import Any

import pytest
from inspect_ai.scorer import SampleScore, Score, mean, stderr
from markdown_it import MarkdownIt
from rich.text import Text

from tests.cases import cases
from tests.expected import check
from tests.ranking_logs.builders import item, match
from tests.scorers.judges import NotingJudge, contest_of, judged, ladder, silent_about, silent_on
from tests.scorers.reviews import panel, review
from tiebreak.scorers.attacks import Canary
from tiebreak.scorers.ballots import ItemBallots, PointScore, Refinement, Skipped, ballots_text
from tiebreak.scorers.ranking import (
    RESULTS_KEY,
    ballots_table,
    borda_by_model,
    exact_values,
    least_squares,
    rounded_score,
    score_ballots,
    spread,
    stderr_by_model,
)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (None, "no_ballots"),
        ('{"protocol": "seal"}', "no_ballots"),
        (ballots_text(item("q", complete=False)), "not_placed"),
        (ballots_text(item("q", [match("a", "b", None)])), "not_placed"),
        (
            ballots_text(
                item("q", complete=False).model_copy(
                    update={"skipped": Skipped(after=1, of=2, error=0.05)}
                )
            ),
            "not_placed",
        ),
    ],
)
def test_what_has_no_ranking_is_unscored(stored: object, reason: str) -> None:
    score = score_ballots(stored, ["a", "b"])
    assert isinstance(score.value, float)
    assert math.isnan(score.value)
    assert score.reason == reason


# Half of the last digit of a metric.
ROUNDED = 0.00051


def test_means_and_their_errors_are_inspects() -> None:
    values = [{"a": 1.0, "b": 0.2, "c": math.nan}, {"a": 0.5, "b": 0.9, "c": 0.5}, {"b": 0.4}]
    samples = [SampleScore(score=Score(value=value)) for value in values]
    means: Any = borda_by_model()(samples)  # type: ignore[arg-type]
    errors: Any = stderr_by_model()(samples)  # type: ignore[arg-type]
    assert list(means) == list("abc")
    assert list(errors) == [f"stderr:{name}" for name in "abc"]
    # Means 0.75, 0.5 and 0.5.
    assert spread()(samples) == pytest.approx(0.167, abs=ROUNDED)  # type: ignore[arg-type]
    for model in "abc":
        column = [value[model] for value in values if not math.isnan(value.get(model, math.nan))]
        theirs = [SampleScore(score=Score(value=value)) for value in column]
        assert means[model] == pytest.approx(mean()(theirs), abs=ROUNDED)  # type: ignore[arg-type]
        found = errors[f"stderr:{model}"]
        if len(column) > 1:
            assert found == pytest.approx(stderr()(theirs), abs=ROUNDED)  # type: ignore[arg-type]
        else:
            assert math.isnan(found)


def test_metrics_see_the_digits_that_lists_do_not_show() -> None:
    values = [{"b": 1 / 3, "a": 2 / 3, "c": math.nan}, {"a": 1 / 7, "b": 1.0, "c": 0.5}] * 3
    exact = [SampleScore(score=Score(value=value)) for value in values]
    shown = [
        SampleScore(score=Score.model_validate_json(rounded_score(value, {}).model_dump_json()))
        for value in values
    ]
    assert shown[0].score.value == {
        "b": 0.333,
        "a": 0.667,
        "c": pytest.approx(math.nan, nan_ok=True),
    }
    for metric in (spread(), borda_by_model(), stderr_by_model()):
        assert metric(shown) == pytest.approx(metric(exact), abs=0, nan_ok=True)  # type: ignore[arg-type]
    for one, value in zip(shown, values, strict=True):
        assert exact_values(one.score) == pytest.approx(value, abs=0, nan_ok=True)
    # A value that somebody edited, or that Inspect merged from epochs, counts as it is.
    edited = shown[0].score.model_copy(update={"value": {"a": 0.5, "b": 0.333, "c": 0.25}})
    assert exact_values(edited) == edited.value
    assert rounded_score({"a": 0.5, "b": math.nan}, {}).metadata == {}


HOSTILE = {
    "[red]x[/red][/]": "[red]x[/red][/]",
    "[/]": "[/]",
    "a\\[b]": "a\\[b]",
    "end\\": "end\\\\",  # rich doubles it, for a tag might follow
    "esc\x1b[31m": r"esc\x1b[31m",
    "two\nlines": r"two\nlines",
    "bidi\u202e": r"bidi\u202e",
    "half\ud800": r"half\ud800",
    "n" * 300: "n" * 19 + "…" + "n" * 20,
}


def test_names_of_metrics_show_a_models_name_where_markup_is_read() -> None:
    """Inspect prints them at the end of a run, after all calls are paid for."""
    samples = [SampleScore(score=Score(value=dict.fromkeys(HOSTILE, 0.5)))] * 2
    for metric, prefix in [(borda_by_model(), ""), (stderr_by_model(), "stderr:")]:
        found: Any = metric(samples)  # type: ignore[arg-type]
        shown = [Text.from_markup(name).plain for name in found]
        assert shown == [f"{prefix}{name}" for name in HOSTILE.values()]


LONG = "acme/assistant-2026-10-01-with-a-long-name-of-its-own"
LONG_NAMES = [
    ["acme/a", "acme/b"],
    ["acme/" + "x" * 35, "acme/b"],
    ["acme/" + "x" * 36, "acme/b"],
    ["acme/x", f"{LONG}-low", f"{LONG}-high"],
    ["b", f"{LONG}-1"],
    [LONG],
    # Only the middle differs.
    [f"acme/{'x' * 30}1{'x' * 30}", f"acme/{'x' * 30}2{'x' * 30}", "b"],
]


def test_long_names_of_models_are_told_apart_where_displays_cut_them() -> None:
    lines = []
    for models in LONG_NAMES:
        samples = [SampleScore(score=Score(value=dict.fromkeys(models, 0.5)))]
        shown: Any = borda_by_model()(samples)  # type: ignore[arg-type]
        assert len(shown) == len(models)
        assert max(map(len, shown)) <= 40 + len(" (1)")
        lines.append(f"{' | '.join(models)}\n    {' | '.join(shown)}\n")
    check(__file__, "long_names.txt", "".join(lines))


def scored(value: Any, results: Any = None) -> SampleScore:
    return SampleScore(score=Score(value=value, metadata={RESULTS_KEY: results}))


def test_least_squares_over_items_by_hand() -> None:
    """a beat b twice, and c and b are even: a − b = 1, b = c, and the strengths sum to 0."""
    samples = [
        # Positions are among the sorted names of each score; d met nobody.
        scored({"d": math.nan, "b": 0.0, "a": 1.0}, "0 1 1"),
        scored({"c": 0.5, "b": 0.5}, "0 1 0.5"),
        scored({"a": 1.0, "b": 0.0}, "1 0 0"),
        # No results, none that are text, and a score that is none.
        scored({"a": 0.0, "b": 1.0}, ""),
        scored({"a": 0.0, "b": 1.0}, 3),
        scored(math.nan, "0 1 1"),
        SampleScore(score=Score(value={"a": 0.5})),
    ]
    found: Any = least_squares()(samples)  # type: ignore[arg-type]
    assert list(found) == ["least_squares:b", "least_squares:a", "least_squares:c"]
    assert found == pytest.approx(
        {"least_squares:a": 2 / 3, "least_squares:b": -1 / 3, "least_squares:c": -1 / 3},
        abs=ROUNDED,
    )
    # Without matches, and where some never met the others, there are no strengths.
    assert least_squares()(samples[3:]) == {}  # type: ignore[arg-type]
    apart = [scored({"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0}, "0 1 1 2 3 1")]
    assert least_squares()(apart) == {}  # type: ignore[arg-type]


def test_what_a_score_keeps_of_the_matches_of_an_item() -> None:
    ballots = item(
        "q",
        [match("c", "a", 0.5), match("a", "b", 0.0, round=2), match("b", "c", None, round=3)],
        groups=(("a",), ("b",), ("c", "x")),
    ).model_copy(update={"placed_by": "win_rate"})
    score = score_ballots(ballots_text(ballots), ["x", "y"])
    # Among a, b, c, x, y: c beat a, and so did x; a and b tied, and so did c and x.
    assert (score.metadata or {})[RESULTS_KEY] == "2 0 1 3 0 1 0 1 0.5 2 3 0.5"
    assert score.answer == "c"
    native = item("q", groups=(("a",), ("b",)), native={"a": 1.0, "b": 0.0}).model_copy(
        update={"placed_by": "native", "tiering": None}
    )
    kept = score_ballots(ballots_text(native), ["a", "b"])
    assert (kept.value, kept.metadata) == ({"a": 1.0, "b": 0.0}, {RESULTS_KEY: ""})


def test_a_planted_item_is_not_ranked() -> None:
    planted = item("q", [match("a", "b", 0.5)], groups=(("a",), ("b",))).model_copy(
        update={"canary": Canary(number=1, attack="x", kind="y")}
    )
    score = score_ballots(ballots_text(planted), ["a", "b"])
    assert score.reason == "canary"
    assert str(score.explanation).startswith("Planted, and not ranked.\n\n| place | model |")


# The judging of an item as Markdown: nothing is left out, and no text becomes markup.

AB = [["a"], ["b"]]
GRADED = (
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
ADDED = (
    Refinement(round=1, slot=0, item_id="C5", principle_id="P1", description="It says 3."),
    Refinement(round=1, slot=1, item_id="C6", description="Again.", duplicate_of="C5"),
    Refinement(round=2, slot=0, unscored="it is empty"),
)
TABLES: dict[str, ItemBallots] = {
    "a bracket: the better seed goes on": item(
        "q", [match("a", "b", 0.0), match("c", "a", None, round=2)]
    ),
    "a flip": item("q", [match("a", "b", 0.3, second_order=-0.5)], groups=AB),
    "all pairs: places are counted through ties": judged(
        "full_pairwise", contest_of(3), NotingJudge({"m00": 2.0, "m01": 2.0, "m02": 1.0})
    ),
    "all pairs: who has no rank": judged(
        "full_pairwise", contest_of(3), NotingJudge(ladder(3), silent=silent_on("m01"))
    ),
    "Swiss rounds: an unscored match sends nobody on": judged(
        "swiss",
        contest_of(4),
        NotingJudge(ladder(4), silent=silent_about("m00", "m03")),
        tiers=1,
        rounds=3,
        refine=False,
    ),
    "points": item("q", groups=[["a"], ["b"], ["c"], ["d"]]).model_copy(
        update={"placed_by": "grades", "scores": GRADED}
    ),
    "reviews by Borda": review(contest_of(3), panel(3), method="borda"),
    "reviews by Kemeny": review(contest_of(3), panel(3)),
    "seeds by lot": item("q", [match("a", "b", 0.1)], groups=AB, unseeded="it is empty"),
    "new items": item("q", [match("a", "b", 0.1)], groups=AB).model_copy(
        update={"refinements": ADDED}
    ),
    "identical": item("q", groups=[["a", "b"]]),
    "skipped": item("q", complete=False).model_copy(
        update={"skipped": Skipped(after=40, of=162, error=0.05)}
    ),
    "cut short": item("q", complete=False),
    "identical and cut short": item("q", complete=False, groups=[["a", "b"]]),
}


def test_tables() -> None:
    texts = (f"=== {name}\n{ballots_table(ballots)}\n\n" for name, ballots in TABLES.items())
    check(__file__, "tables.txt", "".join(texts))


HOSTILE_CELLS = cases(__file__, "hostile_cells")


@pytest.mark.parametrize("text", HOSTILE_CELLS)
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
