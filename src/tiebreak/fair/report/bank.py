"""Results of the `bank` verbs as sheets and as data: imports, checks, statistics, sessions."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final

from tiebreak.analysis.constant_answers import ConstantAnswer, ConstantAnswers
from tiebreak.fair.bank.checks import KINDS, WARNINGS, BankCheck
from tiebreak.fair.bank.expansion import Expanded
from tiebreak.fair.bank.importing import ImportReport
from tiebreak.fair.bank.overview import Part
from tiebreak.fair.bank.question import STATUSES, Remark, Remarks
from tiebreak.fair.bank.results import SessionResult
from tiebreak.fair.bank.stats import BankStats, Growth
from tiebreak.report.cells import UNDEFINED, Cell, integer, number, share, words
from tiebreak.report.json import document, json_ready, only
from tiebreak.report.sheet import (
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.text import count, listed, percent

BankFinding = ImportReport | BankCheck | BankStats | Part | SessionResult


def sheets_of(finding: BankFinding) -> list[Sheet]:
    """Return the result of a `bank` verb as one sheet."""
    return [_FORMS[type(finding)][0](finding)]


def data_of(finding: BankFinding) -> dict[str, Any]:
    """Return the fields of a result as the JSON document of its type."""
    return _FORMS[type(finding)][1](finding)


def _import_data(report: ImportReport) -> dict[str, Any]:
    """The fields of `ImportReport` under "tiebreak/bank-import", version 1."""
    return document("tiebreak/bank-import", 1, n_imported=report.n_imported, **json_ready(report))


def _check_data(check: BankCheck) -> dict[str, Any]:
    """The fields of `BankCheck` under "tiebreak/bank-check", version 1."""
    return document("tiebreak/bank-check", 1, n_wrong=check.n_wrong, **json_ready(check))


def _sessions_data(sessions: Part) -> dict[str, Any]:
    """The fields of a part of the sessions under "tiebreak/bank-sessions", version 1."""
    return document("tiebreak/bank-sessions", 1, total=sessions.total, sessions=sessions.rows)


def _results_data(result: SessionResult) -> dict[str, Any]:
    """The fields of `SessionResult` under "tiebreak/bank-results", version 1."""
    return document("tiebreak/bank-results", 1, **json_ready(result))


def _import_sheet(report: ImportReport) -> Sheet:
    near = {
        "draft": "imported as drafts, which are not asked until somebody approves them",
        "skip": "left out",
        "keep": "imported as they are",
    }
    kinds = (
        (report.faults, "Faults"),
        (report.duplicates, "The same as another, left out"),
        (report.near, f"Nearly the same as another, {near[report.near_duplicates]}"),
    )
    verdict = f"{count(report.n_imported, 'question was', 'questions were')} imported."
    if report.refused:
        faulty = sum(file.faulty for file in report.files)
        verdict = f"Nothing was imported: {count(faulty, 'row has faults', 'rows have faults')}."
    elif not report.n_imported:
        verdict = "Nothing new: the bank is as it was."
    return Sheet(
        f"Import into {report.bank}",
        verdict=verdict,
        sections=(
            Section.of(_files(report)),
            *(_remarks(remarks, heading) for remarks, heading in kinds if remarks.total),
        ),
        notes=tuple(_import_notes(report)),
    )


def _files(report: ImportReport) -> Table:
    figures = ("rows", "imported", "known", "duplicates", "near", "faulty")
    return Table.of(
        (
            names("File", 20),
            *numbers("Rows", "Imported", "Already there", "Same", "Near", "Faulty"),
        ),
        (
            (words(file.name), *(integer(getattr(file, figure)) for figure in figures))
            for file in report.files
            if not file.before
        ),
        "Files",
    )


def _remarks(remarks: Remarks, heading: str) -> Section:
    more = remarks.total - len(remarks.shown)
    lines = [f"{remark.where}: {remark.what}" for remark in remarks.shown]
    lines += [f"… and {more:,} more"] if more else []
    return Section.of(heading=f"{heading} ({remarks.total:,})", lines=lines)


def _import_notes(report: ImportReport) -> Iterator[str]:
    for file in report.files:
        if file.before:
            yield f"{file.name} was imported before ({file.before}), and changes nothing"
        if file.without_category:
            rows = count(file.without_category, "row has", "rows have")
            yield (
                f"{file.name}: {rows} no field for a category, and the file's name for one, "
                f"{file.category!r}; --set category=NAME gives another"
            )
    if report.unread:
        yield f"Fields that a bank has no place for, and left out: {listed(report.unread)}"
    if report.refused:
        yield "Mend these rows, or import the others with --skip-faulty"


_MEANINGS: Final = {
    "format": "texts, keys, options, blanks, ids and dates of each question",
    "siblings": "one category for all that share a raw_uuid",
    "parents": "each variant's parent is there",
    "statements": "one statement for each option of a choice, one of them true",
    "duplicates": "no text and options twice",
    "near duplicates": "no approved question nearly twice (for a person to decide)",
}


def _check_sheet(check: BankCheck) -> Sheet:
    table = Table.of(
        (names("Checked", 16), *numbers("Found"), names("What holds", 44)),
        (
            (words(kind), integer(check.remarks[kind].total), words(_MEANINGS[kind]))
            for kind in KINDS
        ),
        "Checks",
    )
    near = sum(check.remarks[kind].total for kind in WARNINGS)
    wrong = count(check.n_wrong, "thing is", "things are") if check.n_wrong else "Nothing is"
    look = f"; {count(near, 'near duplicate')} to look at" if near else ""
    return Sheet(
        f"{check.bank}: {count(check.n_questions, 'question')}",
        verdict=f"{wrong} wrong{look}.",
        sections=(
            Section.of(table),
            *(
                _remarks(remarks, kind.capitalize())
                for kind, remarks in check.remarks.items()
                if remarks.total
            ),
        ),
        notes=("Rejected questions are left out",),
    )


GROWTH: Final = (
    "Original: raw questions. Rewritten: questions after expansion, that is variants and questions "
    "that have none."
)
BASELINES: Final = (
    "What the best constant answers score, such as false to every statement and one letter to "
    "every choice, without reading. Of all: other questions count as wrong."
)


def _stats_sheet(stats: BankStats) -> Sheet:
    twice = count(stats.n_duplicates, "question has", "questions have")
    return Sheet(
        f"{stats.bank}: {count(sum(cell.n for cell in stats.counts), 'question')}",
        verdict=sentence(stats.baseline),
        sections=(
            Section.of(_counts(stats), heading="Questions"),
            Section.of(_growth(stats), legend=[GROWTH], heading="Expansion"),
            Section.of(_sources(stats), heading="Sources"),
            Section.of(_baselines(stats), legend=[BASELINES], heading="Constant answers"),
        ),
        notes=(f"{twice} the text and options of another one",),
    )


def _stats_data(stats: BankStats) -> dict[str, Any]:
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
            category: _baseline_data(answers) for category, answers in stats.baselines.items()
        },
        baseline=_baseline_data(stats.baseline),
    )


def sentence(answers: ConstantAnswers) -> str:
    """Say in one sentence what the best constant answers score; empty if there are none."""
    if not answers.best:
        return ""
    parts = " and ".join(map(_part, answers.best))
    return f"Without reading, {parts}: {percent(answers.share)} of all questions."


def _part(answer: ConstantAnswer) -> str:
    kinds = {"true_false": "true/false questions", "multiple_choice": "choices"}
    return f"“{answer.answer}” is right in {percent(answer.share)} of the {kinds[answer.type]}"


def _baseline_data(answers: ConstantAnswers) -> dict[str, Any]:
    shares = [{**answer._asdict(), "share": answer.share} for answer in answers.answers]
    return {**only(answers, "n", "share"), "answers": json_ready(shares)}


def _growth_data(growth: Growth) -> dict[str, Any]:
    return {**growth._asdict(), **only(growth, "increase", "rate")}


def _counts(stats: BankStats) -> Table:
    rows = []
    for key, group in groupby(stats.counts, key=lambda cell: (cell.category, cell.type)):
        n = {cell.status: cell.n for cell in group}
        rows.append((*map(words, key), *(integer(n.get(status, 0)) for status in STATUSES)))
    return Table.of(
        (*map(names, ("Category", "Type")), *numbers(*map(str.capitalize, STATUSES))),
        rows,
        "Questions by category, type and status",
    )


def _growth(stats: BankStats) -> Table:
    return Table.of(
        (names("Category", 24), *numbers("Original", "Rewritten", "Increase", "Increase (%)")),
        (
            (
                words(growth.name),
                *map(integer, (growth.original, growth.rewritten, growth.increase)),
                number(100 * growth.rate, 2),
            )
            for growth in (*stats.categories, stats.total)
        ),
        "Questions before and after expansion, by category",
        rules=[len(stats.categories)],
    )


def _sources(stats: BankStats) -> Table:
    return Table.of(
        (
            names("Source", 20),
            *numbers("Original", "Share", "Rewritten", "Share"),
            names("Dates", 20),
        ),
        (
            (
                words(source.growth.name),
                integer(source.growth.original),
                share(source.growth.original / stats.total.original),
                integer(source.growth.rewritten),
                share(source.growth.rewritten / stats.total.rewritten),
                words(" to ".join(dict.fromkeys(filter(None, (source.first, source.last))))),
            )
            for source in stats.sources
        ),
        "Questions by source",
    )


def _baselines(stats: BankStats) -> Table:
    columns = (
        names("Category", 24),
        *numbers("Questions", "True", "False"),
        names("Best letter", 12),
        *numbers("Best"),
    )
    categories = stats.baselines.items()
    rows = (
        _baseline_row(name, answers) for name, answers in (*categories, ("All", stats.baseline))
    )
    return Table.of(columns, rows, "What constant answers score", rules=[len(categories)])


def _baseline_row(name: str, answers: ConstantAnswers) -> Iterator[Cell]:
    by_key = {(answer.type, answer.answer): answer.share for answer in answers.answers}
    letter = next((answer for answer in answers.best if answer.type == "multiple_choice"), None)
    yield words(name)
    yield integer(answers.n)
    for key in ("true", "false"):
        yield share(by_key.get(("true_false", key), float("nan")))
    yield words(f"{letter.answer} {percent(letter.share)}" if letter else "")
    yield share(answers.share)


def _sessions_sheet(sessions: Part) -> Sheet:
    by_state = Counter(session.state for session in sessions.rows)
    states = ", ".join(f"{n:,} {state}" for state, n in sorted(by_state.items()))
    columns = (
        names("Session", 32),
        names("Institution"),
        model_names(),
        names("Prompting", 9),
        names("State", 8),
        *numbers("Answered", "Score"),
        names("Results", 8),
        names("Started"),
    )
    return Sheet(
        count(sessions.total, "session"),
        verdict=f"{states}." if states else "No session was opened yet.",
        sections=(Section.of(Table.of(columns, map(_session_row, sessions.rows), "Sessions")),),
    )


def _session_row(session: Any) -> Iterator[Cell]:
    for name in ("id", "institution", "model", "prompting", "state"):
        yield words(getattr(session, name))
    yield Cell(f"{session.answered:,} of {session.k:,}", session.answered)
    score = (session.results or {}).get("score")
    yield number(score, 2) if isinstance(score, int | float) else Cell(UNDEFINED)
    released = "released" if session.released else "held"
    yield words(UNDEFINED if session.results is None else released)
    yield words(session.started[:16].replace("T", " "))


def _results_sheet(result: SessionResult) -> Sheet:
    scored = "–" if result.score is None else f"{result.score:.2f}"
    unscored = f", {result.n_unscored:,} of them unscored" if result.n_unscored else ""
    heading = interval_heading(result.level)
    rows = [
        (
            words(subject.subject),
            number(subject.score, 2),
            Cell(_span(subject.lower, subject.upper)),
            integer(subject.n_items),
        )
        for subject in result.subjects
    ]
    constants = []
    if result.constant_score is not None:
        constants = [
            f"Always giving the same answer would score {result.constant_score:.1f} if its "
            "explanations are worth nothing"
        ]
    return Sheet(
        f"{result.benchmark} · session {result.session}",
        (f"judge: {', '.join(result.judges) or 'no call'}",),
        f"{result.model} scores {scored} of 100 ({heading} {_span(result.lower, result.upper)}) in "
        f"{count(result.n_items, 'answer')}{unscored}.",
        sections=(
            Section.of(
                Table.of(
                    (names("Subject"), *numbers("Score", heading, "Answers")),
                    rows,
                    "Scores by subject",
                ),
                legend=["Score: share of all stars, 0 to 100; of a subject 0 to 10"],
                lines=constants,
            ),
        ),
    )


def _span(lower: float | None, upper: float | None) -> str:
    return UNDEFINED if lower is None or upper is None else f"{lower:.1f}–{upper:.1f}"


_MOST_REFUSED: Final = 10


def expansion_sheet(done: Expanded, *, approve: bool) -> Sheet:
    """Summarise an expansion; `approve` says whether new variants were approved at once."""
    of_texts = done.method == "statements"
    looked = count(done.n_questions, "text" if of_texts else "multiple-choice question")
    status = "approved" if approve else "drafts: tiebreak bank review"
    lines = [
        f"{looked}; {count(done.n_made, 'new variant')}" + (f" ({status})." if done.n_made else ".")
    ]
    if done.n_made and done.method != "fill_in":
        false = 1 - done.n_true / done.n_made
        lines.append(
            f"{done.n_true:,} true, {done.n_made - done.n_true:,} false: who always answers "
            f'"false" is right in {percent(false)} of the new ones.'
        )
    if done.n_there:
        lines.append(f"{count(done.n_there, 'variant')} there before, left as they were.")
    if done.n_other:
        lines.append(
            f"{done.n_other:,} of them not as they would be made now: they, or their question, "
            "were edited since."
        )
    if done.n_approved:
        lines.append(f"{count(done.n_approved, 'earlier draft')} approved.")
    if of_texts:
        cost = "at an unknown price" if done.cost is None else f"for ${done.cost:.2f}"
        lines.append(
            f"{count(done.n_calls, 'call')} ({done.n_cached:,} from the cache); "
            f"{done.input_tokens:,} tokens in, {done.output_tokens:,} out, {cost}."
        )
    reasons = Counter(remark.what for remark in done.refused).most_common()
    rows = [(words(why), integer(n)) for why, n in reasons]
    table = Table.of((names("Refused, because", 60), *numbers("Questions")), rows)
    sections = (
        Section.of(lines=lines),
        Section.of(table, lines=_named("Refused", done.refused)),
        Section.of(lines=_named("Rejected by the check", done.rejected)),
    )
    return Sheet(f"Expansion to {done.method}", sections=tuple(filter(None, sections)))


def _named(verdict: str, remarks: tuple[Remark, ...]) -> list[str]:
    lines = [f"{verdict}: {remark.where}: {remark.what}" for remark in remarks[:_MOST_REFUSED]]
    if (more := len(remarks) - _MOST_REFUSED) > 0:
        lines.append(f"… and {more:,} more; --json names all.")
    return lines


_FORMS: Final[dict[type, tuple[Callable[[Any], Sheet], Callable[[Any], dict[str, Any]]]]] = {
    ImportReport: (_import_sheet, _import_data),
    BankCheck: (_check_sheet, _check_data),
    BankStats: (_stats_sheet, _stats_data),
    Part: (_sessions_sheet, _sessions_data),
    SessionResult: (_results_sheet, _results_data),
}
