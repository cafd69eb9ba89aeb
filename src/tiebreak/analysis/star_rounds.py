"""The logs of a star study, and its rounds: which logs asked one sample of questions.

A log of the same sample belongs to the same round (another model's answers, or the same judged
again), and so does one of models that the round lacks: in a linked or unlinked design each session
has questions of its own. A model that comes back with other questions opens another round.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tiebreak.ranking_logs.joins import best_attempts
from tiebreak.ranking_logs.log import RankingLog

# Samples of one bank share questions by chance; more than this share is the same sample.
_SAME = 0.9


@dataclass(slots=True)
class _Round:
    logs: list[RankingLog] = field(default_factory=list)
    items: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)


def star_parts(logs: Iterable[RankingLog]) -> dict[str, list[RankingLog]]:
    """Logs judged by stars by benchmark, in order of their names; of attempts the best."""
    parts = [part for log in best_attempts(logs) for part in log.parts() if by_stars(part)]
    names = sorted({part.benchmark for part in parts})
    return {name: [part for part in parts if part.benchmark == name] for name in names}


def by_stars(log: RankingLog) -> bool:
    """Whether a log's items were judged by stars."""
    return any(item.placed_by == "stars" for item in log.items)


def rounds_of(logs: Sequence[RankingLog]) -> list[list[RankingLog]]:
    """The logs of one benchmark by round, both in the order that they are given in."""
    rounds: list[_Round] = []
    for log in logs:
        items = {item.item_id for item in log.items}
        models = {model for item in log.items for model in item.models}
        fits = [
            (len(items & one.items) / max(len(items), 1), -number, one)
            for number, one in enumerate(rounds)
        ]
        # The round with most of the log's questions, the oldest of several.
        _, _, best = max(
            (fit for fit in fits if fit[0] > _SAME or not fit[2].models & models),
            key=lambda fit: fit[:2],
            default=(0.0, 0, None),
        )
        if best is None:
            best = _Round()
            rounds.append(best)
        best.logs.append(log)
        best.items |= items
        best.models |= models
    return [one.logs for one in rounds]
