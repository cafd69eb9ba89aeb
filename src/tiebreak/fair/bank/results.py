"""Results of sessions: what the organiser made of the answers, and whether the owner may see it.

They come out of the log in which the answers were judged by stars. It has to be that of the
session: the same questions with the same keys, and the same answers of the same model. Whoever was
examined gets means over many questions only, nothing that tells about a single one.

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

    The interval is None where nothing is known of it.
    """

    subject: str
    score: float
    lower: float | None
    upper: float | None
    n_items: int


@dataclass(frozen=True, slots=True)
class SessionResult:
    """What the answers of a session are worth.

    `score` is the share of all stars, 0 to 100 (eq. 1), `lower` and `upper` bound it at `level`:
    None where nothing is known of them. Of `n_items` answers `n_unscored` have no usable verdict
    and are left out. `subjects` lack those whose score would tell about single questions.
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
    """Keep results of a session, in place of earlier ones; its owner sees them if `released`.

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
    """Release the results that are kept, or withdraw what was released.

    Raises:
        BankError: there is no such session, or there are no results of it ("missing").
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
    """Raise BankError where there is no such session ("missing"), or it is open ("conflict")."""
    if session_of(connection, session, None).state == "open":
        raise BankError(
            "the session is open: release results once it is complete or closed", kind="conflict"
        )


def released(engine: Engine, session: str, holder: TokenHolder) -> dict[str, object]:
    """What was released to a session's owner.

    Raises:
        BankError: it is no session of the holder ("missing"), or nothing is released ("refused").
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
"""Answers below which the score of a subject would tell about single questions."""


def result_of(engine: Engine, session: str, logs: Paths, *, level: float = 0.95) -> SessionResult:
    """The results of a session that has ended, out of ranking logs and folders of some.

    What else was judged in them is passed over.

    Raises:
        BankError: there is no such session ("missing"), it is open or nothing was answered
            ("conflict"), or the logs are not those of its answers.
        RankingLogError: a path holds no ranking log.
    """
    # A server that shows results loads nothing of what makes them.
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
    """The subjects that may be told: each of enough answers, and so are those left out together.

    What is left out could be had from the score of all answers and the other subjects' otherwise.
    """
    by_size = sorted(subjects, key=lambda subject: subject.n_items)
    hidden = [subject for subject in by_size if subject.n_items < LEAST]
    while (
        hidden and len(hidden) < len(by_size) and sum(subject.n_items for subject in hidden) < LEAST
    ):
        hidden.append(by_size[len(hidden)])
    return tuple(subject for subject in subjects if subject not in hidden)


def _judged(log: "RankingLog", pool: "CandidatePool") -> "RankingLog":
    """What a log says about the pool's answers alone, which are one model's.

    Raises:
        BankError: it judged another question or another answer under the same name.
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
        # A key that is a text is no part of the hash.
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
    """The stars of one model's answer; that of `leader`, which is the same, was judged for it."""
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
