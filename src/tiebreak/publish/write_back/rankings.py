"""From ranking logs to the content for every model's own log: rank in each item, and place.

Items count as in `tiebreak rank`: judged to the end, and ranked. For an item that was skipped, cut
short or unscored there is no rank, and nothing is written.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tiebreak.analysis.entries import QuestionKey
from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import judges_of
from tiebreak.analysis.standing import Placed, mean
from tiebreak.candidates import CONTEST_KEY
from tiebreak.candidates.native import RECORDED
from tiebreak.errors import TiebreakError
from tiebreak.paths import Paths
from tiebreak.rankers import bootstrap_items, competition_ranks
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs import RankingLog, read_ranking_logs
from tiebreak.ranking_logs.log import answers_in
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.placement import Placement, results
from tiebreak.text import listed

# Number of models of a kind that an explanation names; it counts the others.
LISTED = 5


class WriteBackError(TiebreakError, ValueError):
    """Ranks cannot be written back; the message says why and what to do next."""


class ItemStanding(NamedTuple):
    """One model in one item.

    `rank` is its mean rank (1 = best) and `borda` its normalized Borda score in [0, 1]; `words`
    explain the rank. `answer` is the answer that judges read, None if the ranking log does not have
    it.
    """

    rank: float
    borda: float
    words: str
    answer: str | None


SampleStandings = Mapping[tuple[str, int], ItemStanding]
"""Standings for the samples of one model's log, by sample id and epoch.

They are in the order of the log: in another order a mean may differ in its last digit.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """One benchmark under one protocol, from one run.

    `places` maps models to leaderboard places (None: undefined), `standings` models and items to
    standings. `log` names the ranking log, or its shards; `eval_id` and `run` identify them.
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
        """Name of the score with its ranks: `tiebreak_seal`."""
        return RECORDED + re.sub(r"\W+", "_", self.protocol)

    @property
    def about(self) -> dict[str, str]:
        """Origin of its ranks, for the metadata of every score."""
        about = {"ranking_log": self.eval_id, "protocol": self.protocol}
        about |= {"run": self.run} if self.run else {}
        return about | ({"judge": ", ".join(self.judges)} if self.judges else {})


def read_rankings(paths: Paths) -> tuple[list[Ranking], tuple[str, ...]]:
    """Read the rankings of all ranking logs in some files and folders, with notes about the logs.

    Shards form one run.

    Raises:
        RankingLogError: a path contains no ranking log, or shards do not fit together.
        WriteBackError: two runs rank a benchmark by one protocol, or a run ranks an item twice.
    """
    logs = read_ranking_logs(paths, with_metadata=_answers, with_votes=False)
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
    for part in log.parts():
        table = ItemTable.of(part.ranked)
        # Places do not depend on the number of draws, and intervals are not written.
        bootstrap = bootstrap_items(table.borda, items=table.items, how=Resampling(draws=1))
        ranks = competition_ranks(bootstrap.score, [mean(column) for column in table.margins.T])
        rows = Placed.rows(bootstrap, table.models, ranks)
        yield Ranking(
            benchmark=part.benchmark,
            protocol=part.protocol,
            log=part.path,
            eval_id=part.eval_id,
            run=part.run,
            judges=judges_of((*part.items, *part.cut_short)),
            places={row.model: row.rank for row in rows},
            standings=_standings(part),
        )


def _answers(metadata: dict[str, Any]) -> dict[str, Any]:
    """The judged answers; equal texts share memory, because several rankings may judge the same."""
    texts = {model: sys.intern(text) for model, text in answers_in(metadata).items()}
    return {CONTEST_KEY: {"answers": texts}}


def _standings(log: RankingLog) -> Mapping[str, Mapping[QuestionKey, ItemStanding]]:
    standings: dict[str, dict[QuestionKey, ItemStanding]] = {
        model: {} for model in sorted({model for item, _ in log.ranked for model in item.models})
    }
    seen: set[QuestionKey] = set()
    for sample in log.samples:
        item, placement, answers = sample.ballots, sample.placement, sample.answers
        if item is None or placement is None:
            continue
        key = (item.item_id, item.input_hash)
        if key in seen:
            raise WriteBackError(
                f"{log.path} ranks item {item.item_id!r} more than once, in several epochs, and "
                "does not say which rank is whose: judge a pool of one epoch"
            )
        seen.add(key)
        leader = {model: group[0] for group in item.groups for model in group}
        words = _words(item, placement)
        # A model has no score if no ballot covers it, or if it is alone in the item.
        for model, score in placement.borda.items():
            rank, answer = float(placement.ranks[model]), answers.get(leader[model])
            standings[model][key] = ItemStanding(rank, score, words[model], answer)
    return standings


def _words(item: ItemBallots, placement: Placement) -> dict[str, str]:
    """Explanation of each model's rank: "Rank 2 of 3. Beat c. Lost to a."."""
    same = {model: group for group in item.groups for model in group}
    tied = {model: group for group in placement.order for model in group}
    met: dict[tuple[str, float], dict[str, None]] = {}
    for first, other, result in results(item) if item.matches else ():
        met.setdefault((first, result), {})[other] = None
        met.setdefault((other, 1 - result), {})[first] = None

    def sentences(model: str, rank: float) -> Iterator[str]:
        twins = same.get(model, ())
        rivals = {
            "Same answer as": [twin for twin in twins if twin != model],
            "Level with": [rival for rival in tied.get(model, ()) if rival not in (model, *twins)],
            "Beat": [rival for rival in met.get((model, 1.0), ()) if rival not in twins],
            "Drew with": [rival for rival in met.get((model, 0.5), ()) if rival not in twins],
            "Lost to": [rival for rival in met.get((model, 0.0), ()) if rival not in twins],
        }
        yield f"Rank {rank:g} of {len(placement.ranks)}"
        yield from (
            f"{verb} {listed(named, most=LISTED)}" for verb, named in rivals.items() if named
        )

    return {
        model: ". ".join(sentences(model, rank)) + "." for model, rank in placement.ranks.items()
    }
