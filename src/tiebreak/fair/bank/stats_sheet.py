"""A bank in numbers, as a sheet and as data."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tiebreak.analysis.constant_answers import ConstantAnswer, ConstantAnswers
from tiebreak.fair.bank.question import STATUSES
from tiebreak.fair.bank.stats import BankStats, Growth
from tiebreak.report.cells import Cell, integer, number, share, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import Section, Sheet, Table, names, numbers
from tiebreak.text import count, percent

GROWTH = (
    "Original: raw questions. Rewritten: questions after expansion, that is variants and questions "
    "that have none."
)
BASELINES = (
    "What the best constant answers score, such as false to every statement and one letter to "
    "every choice, without reading. Of all: other questions count as wrong."
)


def sheets_of(stats: BankStats) -> list[Sheet]:
    """Counts, growth by category and source, and what constant answers score."""
    sections = (
        Section.of(_counts(stats), heading="Questions"),
        Section.of(_growth(stats), legend=[GROWTH], heading="Expansion"),
        Section.of(_sources(stats), heading="Sources"),
        Section.of(_baselines(stats), legend=[BASELINES], heading="Constant answers"),
    )
    twice = count(stats.n_duplicates, "question has", "questions have")
    return [
        Sheet(
            f"{stats.bank}: {count(sum(one.n for one in stats.counts), 'question')}",
            verdict=sentence(stats.baseline),
            sections=sections,
            notes=(f"{twice} the text and options of another one",),
        )
    ]


def data_of(stats: BankStats) -> dict[str, Any]:
    """The fields of `BankStats` under "tiebreak/bank-stats", version 1."""
    return document(
        "tiebreak/bank-stats",
        1,
        **only(stats, "bank", "counts", "n_duplicates"),
        categories=[_growth_data(category) for category in stats.categories],
        sources=[
            {**_growth_data(source.growth), **only(source, "first", "last")}
            for source in stats.sources
        ],
        total=_growth_data(stats.total),
        baselines={
            baseline.category: baseline_data(baseline.answers) for baseline in stats.baselines
        },
        baseline=baseline_data(stats.baseline),
    )


def sentence(answers: ConstantAnswers) -> str:
    """What constant answers score, in a sentence; empty where there are none."""
    if not answers.best:
        return ""
    parts = " and ".join(map(_part, answers.best))
    return f"Without reading, {parts}: {percent(answers.share)} of all questions."


def baseline_data(answers: ConstantAnswers) -> dict[str, Any]:
    """Constant answers with their shares."""
    found: dict[str, Any] = json_ready(
        {
            **only(answers, "n", "share"),
            "answers": [{**answer._asdict(), "share": answer.share} for answer in answers.answers],
        }
    )
    return found


_KINDS = {"true_false": "true/false questions", "multiple_choice": "choices"}


def _part(answer: ConstantAnswer) -> str:
    return f"“{answer.answer}” is right in {percent(answer.share)} of the {_KINDS[answer.type]}"


def _growth_data(growth: Growth) -> dict[str, Any]:
    return {**growth._asdict(), **only(growth, "increase", "rate")}


def _counts(stats: BankStats) -> Table:
    rows = []
    for (category, kind), group in groupby(stats.counts, key=lambda one: (one.category, one.type)):
        n = {one.status: one.n for one in group}
        figures = [integer(n.get(status, 0)) for status in STATUSES]
        rows.append((words(category), words(kind), *figures))
    return Table.of(
        (*map(names, ("Category", "Type")), *numbers(*map(str.capitalize, STATUSES))),
        rows,
        "Questions by category, type and status",
    )


def _growth(stats: BankStats) -> Table:
    return Table.of(
        (names("Category", 24), *numbers("Original", "Rewritten", "Increase", "Increase (%)")),
        (_growth_row(category) for category in (*stats.categories, stats.total)),
        "Questions before and after expansion, by category",
        rules=[len(stats.categories)],
    )


def _sources(stats: BankStats) -> Table:
    return Table.of(
        (
            *(names("Source", 20), *numbers("Original", "Share", "Rewritten", "Share")),
            names("Dates", 20),
        ),
        (
            (
                *(words(source.growth.name), integer(source.growth.original)),
                share(source.growth.original / stats.total.original),
                integer(source.growth.rewritten),
                share(source.growth.rewritten / stats.total.rewritten),
                words(" to ".join(dict.fromkeys(filter(None, (source.first, source.last))))),
            )
            for source in stats.sources
        ),
        "Questions by source",
    )


def _growth_row(growth: Growth) -> Iterator[Cell]:
    yield words(growth.name)
    yield from map(integer, (growth.original, growth.rewritten, growth.increase))
    yield number(100 * growth.rate, 2)


def _baselines(stats: BankStats) -> Table:
    every = [(baseline.category, baseline.answers) for baseline in stats.baselines]
    return Table.of(
        (names("Category", 24), *numbers("Questions", "True", "False"), *_LETTER, *numbers("Best")),
        (_baseline_row(name, answers) for name, answers in (*every, ("All", stats.baseline))),
        "What constant answers score",
        rules=[len(every)],
    )


_LETTER = (names("Best letter", 12),)


def _baseline_row(name: str, answers: ConstantAnswers) -> Iterator[Cell]:
    by_key = {(answer.type, answer.answer): answer.share for answer in answers.answers}
    letter = [one for one in answers.best if one.type == "multiple_choice"]
    yield words(name)
    yield integer(answers.n)
    for key in ("true", "false"):
        yield share(by_key.get(("true_false", key), float("nan")))
    yield words(f"{letter[0].answer} {percent(letter[0].share)}" if letter else "")
    yield share(answers.share)
