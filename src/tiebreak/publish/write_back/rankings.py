"""From ranking logs to what every model's own log is to say: its rank in each item, and its place.

An item is what `tiebreak rank` counts as one: judged to the end, and ranked. Where it was skipped,
cut short or unscored there is no rank, and nothing is written.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tiebreak.analysis.entries import QuestionKey
from tiebreak.analysis.leaderboard import board_of
from tiebreak.candidates import CONTEST_KEY
from tiebreak.candidates.native import RECORDED
from tiebreak.errors import TiebreakError
from tiebreak.paths import Paths
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs import RankingLog, read_ranking_logs
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import Placement, results
from tiebreak.text import listed

# An explanation names so many models of a kind; the count says how many more there are.
LISTED = 5

# Answers by benchmark, item and model.
_Answers = Mapping[tuple[str, QuestionKey], Mapping[str, str]]


class WriteBackError(TiebreakError, ValueError):
    """Ranks cannot be written back; the message says why and what to do next."""


class ItemStanding(NamedTuple):
    """One model in one item.

    `rank` is its mean rank (1 = best) and `borda` its normalized Borda score in [0, 1]; `words` say
    how that came about. `answer` is what the judges read, None where the ranking log does not hold
    it.
    """

    rank: float
    borda: float
    words: str
    answer: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """One benchmark under one protocol, from one run.

    `places` are the leaderboard's (None: undefined), by model; `standings` go by model and item.
    `log` names the ranking log, or its shards in one phrase; `eval_id` and `run` identify them.
    """

    benchmark: str
    protocol: str
    log: str
    eval_id: str
    run: str
    judges: tuple[str, ...]
    places: Mapping[str, int | None]
    standings: Mapping[str, Mapping[QuestionKey, ItemStanding]]

    @property
    def name(self) -> str:
        """Benchmark and protocol, for messages."""
        return f"{self.benchmark} · {self.protocol}"

    @property
    def score(self) -> str:
        """Name of the score that holds its ranks: `tiebreak_seal`."""
        return RECORDED + re.sub(r"\W+", "_", self.protocol)


def read_rankings(paths: Paths) -> tuple[list[Ranking], tuple[str, ...]]:
    """The rankings of all ranking logs among some files and folders, and notes about the logs.

    Shards are one run.

    Raises:
        RankingLogError: a path holds no ranking log, or shards do not fit together.
        WriteBackError: two runs rank a benchmark by one protocol, or a run ranks an item twice.
    """
    logs = read_ranking_logs(paths, with_metadata=True, with_votes=False)
    rankings = [ranking for log in logs for ranking in _rankings(log)]
    same: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in rankings:
        same.setdefault((ranking.benchmark, ranking.score), []).append(ranking)
    if twice := [those for those in same.values() if len(those) > 1]:
        lines = [f"\n  {ranking.name}: {ranking.log}" for those in twice for ranking in those]
        raise WriteBackError(
            f"Several runs rank the same benchmark by the same protocol:{''.join(lines)}\n"
            "A log has one score per protocol: give the ranking log that is to be written"
        )
    noted = (f"{log.path}: {note}" for log in logs for note in log.notes)
    return rankings, tuple(dict.fromkeys(noted))


def _rankings(log: RankingLog) -> Iterator[Ranking]:
    answers = _answers(log)
    # Places do not depend on the number of draws, and intervals are not written.
    for part in log.parts():
        board = board_of(part, views=False, how=Resampling(draws=1))
        yield Ranking(
            benchmark=board.benchmark,
            protocol=board.protocol,
            log=log.path,
            eval_id=log.eval_id,
            run=log.run,
            judges=board.judges,
            places={row.model: row.rank for row in board.rows},
            standings=_standings(part, answers),
        )


def _answers(log: RankingLog) -> _Answers:
    """What was judged; a sample whose metadata has another form than our tasks' is passed over."""
    answers: dict[tuple[str, QuestionKey], Mapping[str, str]] = {}
    for sample in log.samples:
        try:
            contest = sample.metadata[CONTEST_KEY]
            item = contest["benchmark"], (contest["item_id"], contest["input_hash"])
            groups, texts = contest["groups"], contest["answers"]
            answers[item] = {model: texts[group[0]] for group in groups for model in group}
        except (KeyError, TypeError, IndexError):
            continue
    return answers


def _standings(
    log: RankingLog, answers: _Answers
) -> Mapping[str, Mapping[QuestionKey, ItemStanding]]:
    models = sorted({model for item, _ in log.ranked for model in item.models})
    standings: dict[str, dict[QuestionKey, ItemStanding]] = {model: {} for model in models}
    seen: set[QuestionKey] = set()
    for item, placement in log.ranked:
        key = (item.item_id, item.input_hash)
        if key in seen:
            raise WriteBackError(
                f"{log.path} ranks item {item.item_id!r} more than once, in several epochs, and "
                "does not say which rank is whose: judge a pool of one epoch"
            )
        seen.add(key)
        judged = answers.get((item.benchmark, key), {})
        # Without a score: no ballot says anything about the model, or it is alone in the item.
        for model, score in placement.borda.items():
            words = _words(item, placement, model)
            rank = float(placement.ranks[model])
            standings[model][key] = ItemStanding(rank, score, words, judged.get(model))
    return standings


def _words(item: ItemBallots, placement: Placement, model: str) -> str:
    """How a rank came about: "Rank 2 of 3. Beat c. Lost to a."."""
    same = next((group for group in item.groups if model in group), ())
    tied = next((group for group in placement.order if model in group), ())
    met: dict[float, dict[str, None]] = {1.0: {}, 0.5: {}, 0.0: {}}
    for first, other, result in results(item) if item.matches else ():
        if first == model:
            met[result][other] = None
        elif other == model:
            met[1 - result][first] = None
    rivals = {
        "Same answer as": [twin for twin in same if twin != model],
        "Tied with": [rival for rival in tied if rival not in (model, *same)],
        "Beat": [rival for rival in met[1.0] if rival not in same],
        "Drew with": [rival for rival in met[0.5] if rival not in same],
        "Lost to": [rival for rival in met[0.0] if rival not in same],
    }
    sentences = [f"Rank {placement.ranks[model]:g} of {len(placement.ranks)}"]
    sentences += [f"{verb} {listed(names, most=LISTED)}" for verb, names in rivals.items() if names]
    return ". ".join(sentences) + "."
