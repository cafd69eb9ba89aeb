"""Which log belongs to a ranking: the same model, the same questions, the answers that were judged.

A log belongs as a whole or not at all, so the mean of what is written into it is the leaderboard's.
"""

from collections.abc import Iterable

from tiebreak.candidates import Candidate, same_answer
from tiebreak.candidates.records import LogRecord
from tiebreak.words import count
from tiebreak.write_back.rankings import ItemStanding, Ranking


def misfit(record: LogRecord, ranking: Ranking) -> str | None:
    """Why the log of a model is not the one that was ranked; None when it is."""
    if record.model not in ranking.standings:
        return f"{record.model} is not among the models of {ranking.log}"
    standings = ranking.standings[record.model]
    if not standings:
        return f"{ranking.log} has no rank for {record.model} in any item"
    answers = {(row.item.item_id, row.item.input_hash): row.candidate for row in record.rows}
    ids = {item_id for item_id, _ in answers}
    of = f"of {count(len(standings), 'ranked item')}"
    if other := [key for key in standings if key not in answers and key[0] in ids]:
        return f"{len(other):,} {of} ask another question here, {_such_as(other)}"
    if absent := [key for key in standings if answers.get(key) is None]:
        return f"{len(absent):,} {of} have no answer here, {_such_as(absent)}"
    if unknown := [key for key, standing in standings.items() if standing.answer is None]:
        return f"{ranking.log} does not say what was judged in {len(unknown):,} {of}"
    if unlike := [key for key, one in standings.items() if not _was_judged(answers[key], one)]:
        return (
            f"{len(unlike):,} {of} have another answer here than was judged, {_such_as(unlike)}: "
            "another run of this model"
        )
    return None


def standings_by_sample(record: LogRecord, ranking: Ranking) -> dict[tuple[str, int], ItemStanding]:
    """What a ranking says about a log that belongs to it, by sample id and epoch."""
    samples = {
        (row.item.item_id, row.item.input_hash): (row.item.item_id, row.item.key.epoch)
        for row in record.rows
    }
    return {samples[key]: one for key, one in ranking.standings[record.model].items()}


def _was_judged(candidate: Candidate | None, standing: ItemStanding) -> bool:
    assert candidate is not None
    assert standing.answer is not None
    return same_answer(candidate.answer, standing.answer)


def _such_as(keys: Iterable[tuple[str, str]]) -> str:
    return f"such as {min(keys)[0]!r}"
