"""What holds of all figures: words that can be read, hostile names that stay words, same bytes."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.analysis.alignment.panels import noisy, panel
from tests.cases import some
from tests.report.figures import samples
from tests.report.figures.reading import clashes
from tests.report.figures.samples import HOSTILE
from tiebreak.analysis.alignment import Alignment, align_panels
from tiebreak.analysis.contests import ContestReport
from tiebreak.analysis.peers.review import PeerReview
from tiebreak.analysis.win_rates import WinRates
from tiebreak.fair.report.figures import causes_figure, dates_figure, orders_figure
from tiebreak.rankers import Resampling
from tiebreak.report.figures.boards import (
    leaderboard_figure,
    native_figure,
    subjects_figure,
)
from tiebreak.report.figures.boxes import (
    alignment_figure,
    kappa_figure,
    reviewer_boxes_figure,
    self_preference_figure,
    stability_figure,
    views_figure,
)
from tiebreak.report.figures.canvas import Drawing, drawn_for, themed
from tiebreak.report.figures.contests import perturbation_figure, sensitivity_figure, wins_figure
from tiebreak.report.figures.matrices import confusion_figure, review_matrix_figure, win_rate_figure
from tiebreak.tables.human import HumanRanking

SVG = "{http://www.w3.org/2000/svg}"
PLAIN = ("openai/gpt-5.1-high", "meta-llama/llama-4-maverick-17b-128e-instruct", "qwen/qwen3-max")


def names_of(n: int) -> tuple[str, ...]:
    return (*PLAIN, *(f"org/model-{k}-instruct" for k in range(n - 3)))[:n]


def rates(names: tuple[str, ...]) -> WinRates:
    rng = np.random.default_rng(len(names))
    n = np.triu(rng.integers(0, 2000, (len(names),) * 2), k=1)
    rate = np.triu(rng.uniform(size=n.shape), k=1)
    rate = rate + np.tril(1 - rate.T, k=-1)
    n = n + n.T
    n[0, -1] = n[-1, 0] = 0 if len(names) > 2 else 7
    return WinRates(tuple(names), np.where(n > 0, rate, np.nan), n, "matches")


@cache
def contest(names: tuple[str, ...]) -> ContestReport:
    spoil = f"{names[1]}=bench0,bench1"
    return samples.contest(names, eliminate=(0, 1, 2), spoil=[spoil, f"{spoil}:best"])


@cache
def review(names: tuple[str, ...]) -> PeerReview:
    ranks = samples.opinions(4, len(names) + 1, len(names))
    return samples.review(ranks, models=names, draws=2)


def aligned(names: tuple[str, ...]) -> Alignment:
    models = [*names, "and", "others"]
    return align_panels(
        [panel(noisy(6, len(models), len(models), seed=0), models=models)],
        HumanRanking("arena $x$.csv", {"": {m: float(k) for k, m in enumerate(models)}}),
        how=Resampling(draws=5),
        methods=["borda"],
    )


def views(names: tuple[str, ...]) -> Drawing | None:
    """Each peer review under one of the names."""
    [one] = aligned(("a", "b")).benchmarks
    reviews = tuple(replace(one, benchmark=name, log=name) for name in names)
    return views_figure(replace(aligned(("a", "b")), benchmarks=reviews))


FIGURES: dict[str, Callable[[tuple[str, ...]], Drawing | None]] = {
    "leaderboard": lambda names: leaderboard_figure(samples.random_board(names)),
    "native": lambda names: native_figure(samples.random_board(names)),
    "win rates": lambda names: win_rate_figure("gsm8k · seal", rates(names)),
    "stability": lambda names: stability_figure(samples.stability_report(names)),
    "sensitivity": lambda names: sensitivity_figure(contest(names)),
    "wins": lambda names: wins_figure(contest(names)),
    "wins, one T": lambda names: wins_figure(samples.contest(names)),
    "perturbation": lambda names: perturbation_figure(contest(names)),
    "perturbation, best": lambda names: perturbation_figure(contest(names), 1),
    "matrix": lambda names: review_matrix_figure(review(names)),
    "self-preference": lambda names: self_preference_figure(review(names)),
    "reviewers": lambda names: reviewer_boxes_figure(review(names)),
    "alignment": lambda names: alignment_figure(aligned(names)),
    "views": views,
    "kappa": lambda names: kappa_figure(samples.calibration(names)),
    "confusion": lambda names: confusion_figure(samples.calibration(names), names[1]),
    "stars": lambda names: leaderboard_figure(samples.star_board(names)),
    "orders": lambda names: orders_figure(samples.star_orders(names)),
    "dates": lambda names: dates_figure(samples.star_course(names)),
    "causes": lambda names: causes_figure(samples.error_causes(names)),
    "subjects": lambda names: subjects_figure(samples.star_board(names)),
}


@cache
def drawn(kind: str, names: tuple[str, ...]) -> Drawing:
    return some(FIGURES[kind](names))


CROWDED = ("native", "win rates", "sensitivity", "wins", "perturbation")
CASES = [
    *((kind, names) for kind in FIGURES for names in (names_of(2), HOSTILE)),
    *((kind, names_of(30 if kind != "win rates" else 21)) for kind in CROWDED),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "names"), CASES, ids=[f"{k}-{len(n)}" for k, n in CASES])
def test_no_word_is_cut_or_covered(kind: str, names: tuple[str, ...]) -> None:
    assert not clashes(drawn(kind, names))
    with drawn_for(None, titled=True):
        assert not clashes(some(FIGURES[kind](names)))


COLUMN = 3.35
LONG = ("openai/gpt-5-mini", "anthropic/claude-haiku-4.5", "meta-llama/llama-4-scout-17b")


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIGURES)
def test_one_column_of_a_paper_has_room_for_all_words(kind: str) -> None:
    with drawn_for(COLUMN):
        drawing = some(FIGURES[kind](LONG))
    assert not clashes(drawing)
    # What is wider becomes smaller by no more than from 9 to 7 points.
    assert float(drawing.figure.get_figwidth()) < COLUMN * 9 / 7


@pytest.mark.parametrize("kind", FIGURES)
def test_hostile_names_stay_words(kind: str) -> None:
    drawing = drawn(kind, HOSTILE)
    svg = drawing.svg()
    for text in (svg, themed(svg)):
        tree = ElementTree.fromstring(text)
        tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
        assert not tags & {"script", "a", "image", "foreignObject"}
        words = " ".join(tree.itertext())
        # Where room is short the middle of a name is left out.
        assert "</title><script>a" in words
        assert not {"\x1b", "\u202e"} & set(words)
    for text in (drawing.title, drawing.alt):
        assert text.isprintable()
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", drawing.name)


@pytest.mark.parametrize("kind", FIGURES)
def test_a_caption_in_latex_has_no_command_of_a_name(kind: str) -> None:
    caption, _ = drawn(kind, HOSTILE).caption.split("\n\n")
    text = caption.removeprefix("\\caption{").removesuffix("}")
    assert caption == f"\\caption{{{text}}}"
    # A sign is a command in dollars or before braces, or has a backslash before it.
    signs = r"\$(\\[a-zA-Z]+(\{\w+\})*|-|_2)\$|\\[a-z]+\d*\{\}|\\[&%$#_{}]"
    left = re.sub(signs, "", text)
    left = re.sub(r"\{[\[*]?\}", "", left)
    assert not set(left) & set('&%$#_{}\\~^<>|"`')


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["leaderboard", "sensitivity", "matrix", "reviewers"])
def test_the_same_figures_give_the_same_bytes(kind: str) -> None:
    one, other = drawn(kind, names_of(2)), some(FIGURES[kind](names_of(2)))
    assert other.svg() == one.svg()
    assert other.png() == one.png()
    # Drawing it changes nothing.
    assert other.svg() == one.svg()
    assert "<dc:date>" not in one.svg()
