"""A session's results out of the log in which its answers were judged by stars.

The log has to be that of the session: the same questions with the same keys, and the same answers
of the same model. Whoever was examined gets means over many questions only, nothing that tells
about a single one.

Source: LLMEval-Fair, §2.3.2 (eq. 1; scores of subjects out of ten).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Engine

from tiebreak.analysis.stars import star_report_of
from tiebreak.candidates.identity import same_answer
from tiebreak.candidates.pool import CandidatePool
from tiebreak.fair.bank.errors import BankError
from tiebreak.fair.bank.export import pool_of
from tiebreak.fair.bank.results import SessionResult, SubjectResult, require_ended
from tiebreak.paths import Paths
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.text import count

LEAST: Final = 5
"""Answers below which the score of a subject would tell about single questions."""


def result_of(
    engine: Engine, session: str, logs: Paths, *, how: Resampling = Resampling()
) -> SessionResult:
    """The results of a session that has ended.

    `logs` are ranking logs, and folders of some; what else was judged in them is passed over. `how`
    gives the level of the intervals.

    Raises:
        BankError: there is no such session ("missing"), it is open or nothing was answered
            ("conflict"), or the logs are not those of its answers.
        RankingLogError: a path holds no ranking log.
    """
    with engine.connect() as connection:
        require_ended(connection, session)
    pool = pool_of(engine, session, partial=True)
    read = read_ranking_logs(logs, with_metadata=True, with_votes=False)
    parts = [
        judged for log in read for part in log.parts() if (judged := _judged(part, pool)).samples
    ]
    _require_all(parts, pool, session)
    report = star_report_of(parts, how=how)
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


def _judged(log: RankingLog, pool: CandidatePool) -> RankingLog:
    """What a log says about the pool's answers alone, which are one model's.

    Raises:
        BankError: it judged another question or another answer under the same name.
    """
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
            samples.append(replace(sample, ballots=_of_one(ballots, model, leader)))
            continue
        raise BankError(
            f"{log.path} judged {other} under {item.item_id}: it is the log of another session. "
            "Export this session, judge it with tiebreak/stars, and give that log"
        )
    return replace(log, samples=tuple(samples))


def _of_one(ballots: ItemBallots, model: str, leader: str) -> ItemBallots:
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


def _require_all(parts: Iterable[RankingLog], pool: CandidatePool, session: str) -> None:
    judged = {ballots.item_id for part in parts for ballots in part.items if ballots.scores}
    if missing := [item.item_id for item in pool.items if item.item_id not in judged]:
        raise BankError(
            f"{len(missing):,} of {count(len(pool), 'answer')} of {pool.models[0]} in session "
            f"{session} are not judged by stars in this log, {missing[0]} for one: give the log of "
            "this session's export, judged to the end (inspect eval-retry)"
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
