"""Sessions and their results, as sheets and as data."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tiebreak.fair.bank.overview import Part, SessionLine
from tiebreak.fair.bank.release import SessionResult
from tiebreak.report.cells import UNDEFINED, Cell, integer, number, words
from tiebreak.report.json import document
from tiebreak.report.sheet import (
    Section,
    Sheet,
    Table,
    interval_heading,
    model_names,
    names,
    numbers,
)
from tiebreak.text import count


def sheets_of(found: Part[SessionLine] | SessionResult) -> list[Sheet]:
    """The list of sessions, or the results of one."""
    return [_results(found) if isinstance(found, SessionResult) else _sessions(found)]


def data_of(found: Part[SessionLine] | SessionResult) -> dict[str, Any]:
    """The fields under "tiebreak/bank-sessions" or "tiebreak/bank-results", version 1."""
    if isinstance(found, SessionResult):
        return document("tiebreak/bank-results", 1, **found.data())
    return document("tiebreak/bank-sessions", 1, total=found.total, sessions=found.rows)


def released_word(session: SessionLine) -> str:
    """Whether the owner of a session sees results."""
    if session.results is None:
        return UNDEFINED
    return "released" if session.released else "held"


def span(results: Mapping[str, Any]) -> str:
    """The interval of a score, 0 to 100."""
    lower, upper = results.get("lower"), results.get("upper")
    known = isinstance(lower, int | float) and isinstance(upper, int | float)
    return f"{lower:.1f}–{upper:.1f}" if known else UNDEFINED


def _sessions(found: Part[SessionLine]) -> Sheet:
    by_state = Counter(session.state for session in found.rows)
    rows = (
        (
            *(words(session.id), words(session.institution), words(session.model)),
            *(words(session.prompting), words(session.state)),
            *(Cell(f"{session.answered:,} of {session.k:,}", session.answered), _score(session)),
            *(words(released_word(session)), words(session.started[:16].replace("T", " "))),
        )
        for session in found.rows
    )
    columns = (
        *(names("Session", 32), names("Institution"), model_names(), names("Prompting", 9)),
        *(names("State", 8), *numbers("Answered", "Score"), names("Results", 8), names("Started")),
    )
    states = ", ".join(f"{n:,} {state}" for state, n in sorted(by_state.items()))
    return Sheet(
        count(found.total, "session"),
        verdict=f"{states}." if states else "No session was opened yet.",
        sections=(Section.of(Table.of(columns, rows, "Sessions")),),
    )


def _score(session: SessionLine) -> Cell:
    score = (session.results or {}).get("score")
    return number(score, 2) if isinstance(score, int | float) else Cell(UNDEFINED)


def _results(found: SessionResult) -> Sheet:
    scored = "–" if found.score is None else f"{found.score:.2f}"
    unscored = f", {found.n_unscored:,} of them unscored" if found.n_unscored else ""
    rows = [
        (
            words(subject.subject),
            number(subject.score, 2),
            Cell(_subject_span(subject)),
            integer(subject.n_items),
        )
        for subject in found.subjects
    ]
    heading = interval_heading(found.level)
    return Sheet(
        f"{found.benchmark} · session {found.session}",
        (f"judge: {', '.join(found.judges) or 'no call'}",),
        f"{found.model} scores {scored} of 100 ({heading} {span(found.data())}) in "
        f"{count(found.n_items, 'answer')}{unscored}.",
        sections=(
            Section.of(
                Table.of(
                    (names("Subject"), *numbers("Score", heading, "Answers")),
                    rows,
                    "Scores by subject",
                ),
                legend=["Score: share of all stars, 0 to 100; of a subject 0 to 10"],
                lines=_constants(found),
            ),
        ),
    )


def _constants(found: SessionResult) -> list[str]:
    if found.constant_score is None:
        return []
    return [
        f"Always giving the same answer would score {found.constant_score:.1f} if its explanations "
        "are worth nothing"
    ]


def _subject_span(one: Any) -> str:
    return UNDEFINED if one.lower is None else f"{one.lower:.1f}–{one.upper:.1f}"
