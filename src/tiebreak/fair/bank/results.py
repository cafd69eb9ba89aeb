"""Results of sessions: computing them from judged answers, storing and releasing them.

They are computed from the log in which the answers were judged by stars. The log must be that of
the session: the same questions with the same keys, and the same answers by the same model.
Examinees get only means over many questions, nothing that reveals a single one.

Source: LLMEval-Fair, §2.3.2 (eq. 1; scores of subjects out of ten).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, Engine, delete, insert, select, update

from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.schema import RESULTS, SESSIONS, now, writing
from tiebreak.fair.bank.sessions import TokenHolder, session_of
from tiebreak.paths import Paths
from tiebreak.text import count

if TYPE_CHECKING:
    from tiebreak.candidates.pool import CandidatePool
    from tiebreak.ranking_logs.log import RankingLog
    from tiebreak.scorers.ballots import ItemBallots


@dataclass(frozen=True, slots=True)
class SubjectResult:
    """Score of one subject, 0 to 10, with its interval, from `n_items` answers that have stars.

    The bounds of the interval are None if unknown.
    """

    subject: str
    score: float
    lower: float | None
    upper: float | None
    n_items: int


@dataclass(frozen=True, slots=True)
class SessionResult:
    """Scores of the answers of a session.

    `score` is the share of all stars, 0 to 100 (eq. 1), with an interval from `lower` to `upper` at
    `level`; they are None if unknown. Of `n_items` answers, `n_unscored` have no usable verdict and
    are left out. `subjects` leave out those whose score would reveal single questions.
    """

    session: str
    benchmark: str
    model: str
    score: float | None
    lower: float | None
    upper: float | None
    level: float
    n_items: int
    n_unscored: int
    constant_score: float | None
    subjects: tuple[SubjectResult, ...]
    judges: tuple[str, ...]


def keep(engine: Engine, session: str, data: Mapping[str, object], *, released: bool) -> None:
    """Store results of a session, replacing earlier ones; its owner sees them if `released`.

    Raises:
        BankError: there is no such session ("missing"), or it is open ("conflict").
    """
    with writing(engine) as connection:
        require_ended(connection, session)
        connection.execute(delete(RESULTS).where(RESULTS.c.session == session))
        at = now() if released else None
        connection.execute(insert(RESULTS).values(session=session, data=dict(data), released_at=at))
        of_session = update(SESSIONS).where(SESSIONS.c.id == session)
        connection.execute(of_session.values(released=released))


def show(engine: Engine, session: str, *, shown: bool) -> None:
    """Release the stored results of a session, or withdraw them if not `shown`.

    Raises:
        BankError: there is no such session, or it has no results ("missing").
    """
    with writing(engine) as connection:
        session_of(connection, session, None)
        of_session = update(RESULTS).where(RESULTS.c.session == session)
        changed = connection.execute(of_session.values(released_at=now() if shown else None))
        if not changed.rowcount:
            raise BankError(
                "there are no results of this session yet: tiebreak bank release SESSION --log LOG",
                kind="missing",
            )
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == session).values(released=shown))


def require_ended(connection: Connection, session: str) -> None:
    """Raise BankError if there is no such session ("missing") or it is open ("conflict")."""
    if session_of(connection, session, None).state == "open":
        raise BankError(
            "the session is open: release results once it is complete or closed", kind="conflict"
        )


def released(engine: Engine, session: str, holder: TokenHolder) -> dict[str, object]:
    """The results that were released to a session's owner.

    Raises:
        BankError: the holder has no such session ("missing"), or nothing is released ("refused").
    """
    with engine.connect() as connection:
        state = session_of(connection, session, holder)
        chosen = select(RESULTS.c.data).where(RESULTS.c.session == session)
        row = connection.execute(chosen.where(RESULTS.c.released_at.is_not(None))).one_or_none()
    if not state.released or row is None:
        raise BankError(
            "the organiser has not released the results of this session yet: ask later",
            kind="refused",
        )
    return dict(row.data)


LEAST: Final = 5
"""Minimum number of answers of a subject: fewer would reveal single questions."""


def result_of(engine: Engine, session: str, logs: Paths, *, level: float = 0.95) -> SessionResult:
    """Compute the results of a session that has ended, from ranking logs and folders of them.

    Other judged items in the logs are ignored.

    Raises:
        BankError: there is no such session ("missing"), it is open or has no answers ("conflict"),
            or the logs are not those of its answers.
        RankingLogError: a path holds no ranking log.
    """
    # A server that only shows results does not need these modules.
    from tiebreak.analysis.stars import star_report_of
    from tiebreak.fair.bank.export import pool_of
    from tiebreak.rankers.uncertainty import Resampling
    from tiebreak.ranking_logs.read import read_ranking_logs

    with engine.connect() as connection:
        require_ended(connection, session)
    pool = pool_of(engine, session, partial=True)
    read = read_ranking_logs(logs, with_metadata=True, with_votes=False)
    parts = [
        judged for log in read for part in log.parts() if (judged := _judged(part, pool)).samples
    ]
    _require_all(parts, pool, session)
    report = star_report_of(parts, how=Resampling(level))
    assert report is not None
    [board] = report.boards
    [row] = board.rows
    scored = {
        ballots.item_id: ballots.subject
        for part in parts
        for ballots in part.items
        if ballots.scores[0].score is not None
    }
    n_scored = Counter(scored.values())
    subjects = [
        SubjectResult(
            subject=name,
            score=subject.value,
            lower=_known(subject.lower),
            upper=_known(subject.upper),
            n_items=n_scored[name],
        )
        for name, subject in zip(board.subjects, row.subjects, strict=True)
        if n_scored[name]
    ]
    return SessionResult(
        session=session,
        benchmark=board.benchmark,
        model=row.model,
        score=_known(row.value),
        lower=_known(row.lower),
        upper=_known(row.upper),
        level=board.level,
        n_items=row.n_items,
        n_unscored=row.n_unscored,
        constant_score=board.constant_score if board.constants.best else None,
        subjects=publishable(subjects),
        judges=board.judges,
    )


def publishable(subjects: Sequence[SubjectResult]) -> tuple[SubjectResult, ...]:
    """The subjects with enough answers; those left out have enough of them together, too.

    Otherwise their score could be computed from that of all answers and of the other subjects.
    """
    by_size = sorted(subjects, key=lambda subject: subject.n_items)
    hidden = [subject for subject in by_size if subject.n_items < LEAST]
    while (
        hidden and len(hidden) < len(by_size) and sum(subject.n_items for subject in hidden) < LEAST
    ):
        hidden.append(by_size[len(hidden)])
    return tuple(subject for subject in subjects if subject not in hidden)


def _judged(log: "RankingLog", pool: "CandidatePool") -> "RankingLog":
    """The log with only the samples that judge the answers of the pool, which has one model.

    Raises:
        BankError: the log judged another question or another answer under the same id.
    """
    from tiebreak.candidates.identity import same_answer

    items = {(item.benchmark, item.item_id): item for item in pool.items}
    model = pool.models[0]
    samples = []
    for sample in log.samples:
        ballots = sample.ballots
        if ballots is None or ballots.placed_by != "stars" or model not in ballots.models:
            continue
        item = items.get((ballots.benchmark, ballots.item_id))
        if item is None or not sample.judged:
            continue
        leader = next((group[0] for group in ballots.groups if model in group), model)
        # The hash does not cover keys in free text, so targets are compared as well.
        if ballots.input_hash != item.input_hash or sample.target != item.target:
            other = "another question, or one with another key,"
        elif not same_answer(
            sample.answers.get(leader, ""), pool.candidates[item.key][model].answer
        ):
            other = "another answer"
        else:
            samples.append(replace(sample, ballots=_stars_of_model(ballots, model, leader)))
            continue
        raise BankError(
            f"{log.path} judged {other} under {item.item_id}: it is the log of another session. "
            "Export this session, judge it with tiebreak/stars, and give that log"
        )
    return replace(log, samples=tuple(samples))


def _stars_of_model(ballots: "ItemBallots", model: str, leader: str) -> "ItemBallots":
    """The ballots of one model's answer, from those of `leader`, whose identical one was judged."""
    scores = [score for score in ballots.scores if score.candidate == leader]
    update = {
        "models": (model,),
        "groups": ((model,),),
        "native": {model: ballots.native.get(model)},
        "lengths": {model: ballots.lengths[leader]} if leader in ballots.lengths else {},
        "scores": tuple(score.model_copy(update={"candidate": model}) for score in scores),
    }
    return ballots.model_copy(update=update)


def _require_all(parts: "Iterable[RankingLog]", pool: "CandidatePool", session: str) -> None:
    judged = {ballots.item_id for part in parts for ballots in part.items if ballots.scores}
    if missing := [item.item_id for item in pool.items if item.item_id not in judged]:
        raise BankError(
            f"{len(missing):,} of {count(len(pool), 'answer')} of {pool.models[0]} in session "
            f"{session} are not judged by stars in this log, {missing[0]} for one: give the log of "
            "this session's export, judged to the end (inspect eval-retry)"
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
