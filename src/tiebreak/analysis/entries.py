"""Ranking logs side by side: every benchmark and protocol of every log, under a name of its own.

Protocols are named by themselves, and by what their logs differ in where they do: `swiss rounds=2`
and `swiss rounds=3`. Logs that differ in nothing are runs of one protocol: `seal`, `seal · run 2`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.analysis.item_table import ItemTable
from tiebreak.analysis.leaderboard import Leaderboard, board_of
from tiebreak.paths import Paths
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.stability import mean_statistic
from tiebreak.rankers.uncertainty import Resampling, Statistic
from tiebreak.ranking_logs.log import RankedItem, RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.ranking_logs.shards import best_attempts
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.scorers.catalogue import PROTOCOLS

QuestionKey = tuple[str, str]
"""An item's id, and the hash of its question: another question is another item."""

# Arguments that set neither who is judged nor how: two runs may differ in them and be repeats.
_NO_SETTINGS = {"repeat", "seed", "mode", "max_calls", "max_cost"}

_JUDGE, _PEERS = "judge", "peers"


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One benchmark under one protocol, from one log.

    `label` tells protocols and their settings apart; `run` counts, by age, the entries that have
    benchmark and label in common. `repeat` is the task argument: replies that a run found in the
    cache are its own only where no other run has the same. `items` were judged to the end, and
    those that have a ranking are `ranked`; `table` has a row for each of these.
    """

    label: str
    run: int
    repeat: object
    board: Leaderboard
    items: tuple[ItemBallots, ...]
    ranked: tuple[RankedItem, ...]
    table: ItemTable

    @property
    def keys(self) -> tuple[QuestionKey, ...]:
        """Which item each row of the table is."""
        return tuple((item.item_id, item.input_hash) for item, _ in self.ranked)

    @property
    def name(self) -> str:
        """Its label, with the number of the run from the second on."""
        return self.label if self.run == 1 else f"{self.label} · run {self.run}"

    @property
    def ranked_models(self) -> frozenset[str]:
        """The models that have a rank in some item."""
        scored = np.any(~np.isnan(self.table.borda), axis=0)
        return frozenset(m for m, has in zip(self.table.models, scored, strict=True) if has)

    def repeats(self, others: Iterable["Entry"]) -> bool:
        """Whether it took replies from the cache that other runs of it may have put there."""
        same = any(other is not self and other.repeat == self.repeat for other in others)
        return same and self.board.receipt.n_cached > 0

    @property
    def cached_share(self) -> float:
        """Share of its calls that came from the cache, in [0, 1]; 0 without a call."""
        receipt = self.board.receipt
        return receipt.n_cached / receipt.n_calls if receipt.n_calls else 0.0

    def statistic(self, items: Sequence[QuestionKey], models: Sequence[str]) -> Statistic:
        """Its leaderboard of some models, as a function of how often each item is drawn.

        The scores are minus the ranks of `Leaderboard.rows`: by mean normalized Borda score, then
        by mean principle margin (SEAL, §2.3).
        """
        number = {item: n for n, item in enumerate(items)}
        rows = [row for row, item in enumerate(self.keys) if item in number]
        drawn = [number[self.keys[row]] for row in rows]
        cells = np.ix_(rows, [self.table.models.index(model) for model in models])
        scores, margins = (mean_statistic(t[cells]) for t in (self.table.borda, self.table.margins))
        return lambda counts: _standing(scores(counts[:, drawn]), margins(counts[:, drawn]))


def read_entries(paths: Paths, *, how: Resampling) -> tuple[list[Entry], tuple[str, ...]]:
    """As `entries_of` and `read_ranking_logs`: of all logs among some files and folders."""
    return entries_of(read_ranking_logs(paths), how=how)


def entries_of(
    logs: Iterable[RankingLog], *, how: Resampling, views: bool = False
) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries of some ranking logs, the oldest log first.

    Of several attempts at one task the best counts (`best_attempts`); `how` and `views` are those
    of `boards_of`.

    Returns:
        The entries, and notes about logs that are left out or did not end well.
    """
    logs, notes = best_attempts(logs)
    boards = [(part, board_of(part, how=how, views=views)) for log in logs for part in log.parts()]
    entries: list[Entry] = []
    runs: Counter[tuple[str, str]] = Counter()
    for (log, board), label in zip(boards, _labels(boards), strict=True):
        runs[board.benchmark, label] += 1
        run, repeat = runs[board.benchmark, label], log.arguments.get("repeat", 1)
        table = ItemTable.of(log.ranked)
        entries.append(Entry(label, run, repeat, board, log.items, log.ranked, table))
    return entries, (*notes, *_log_notes(logs))


def paper_order(entry: Entry) -> tuple[int, str, int]:
    """A key that sorts entries as SEAL's tables list protocols; a user's own come last, by name."""
    order, protocol = list(PROTOCOLS), entry.board.protocol
    return order.index(protocol) if protocol in order else len(order), entry.label, entry.run


def with_ranked(entry: Entry, ranked: Sequence[RankedItem]) -> Entry:
    """The entry, had it held these items."""
    items = tuple(item for item, _ in ranked)
    return replace(entry, items=items, ranked=tuple(ranked), table=ItemTable.of(ranked))


def _standing(scores: FloatArray, margins: FloatArray) -> FloatArray:
    """Minus the number of models above, shape (draws, N); equal scores go by margin, NaN last.

    The same order as `competition_ranks`, for many leaderboards at once.
    """
    first = scores.round(DECIMALS)
    second = np.where(np.isnan(margins), -np.inf, margins.round(DECIMALS))
    own, other = first[:, :, None], first[:, None, :]
    above = other > own
    above |= (other == own) & (second[:, None, :] > second[:, :, None])
    return np.where(np.isnan(scores), np.nan, -above.sum(axis=2, dtype=np.float64))


def _log_notes(logs: Sequence[RankingLog]) -> list[str]:
    """Notes of logs, with the log's name; without it where several logs have the same."""
    notes = [(log.path, note) for log in logs for note in log.notes]
    counts = Counter(note for _, note in notes)
    named = (note if counts[note] > 1 else f"{path}: {note}" for path, note in notes)
    return list(dict.fromkeys(named))


def _labels(boards: Sequence[tuple[RankingLog, Leaderboard]]) -> list[str]:
    """The protocol of each log, with the settings and judges in which its logs differ."""
    settings: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for log, board in boards:
        settings[board.protocol].append(_settings(log, board))
    labels = []
    for log, board in boards:
        own, others = _settings(log, board), settings[board.protocol]
        differ = [name for name in own if any(_differ(own, other, name) for other in others)]
        # An argument that is None is the same as one that is not given.
        given = [f"{name}={own[name]}" for name in differ if own[name] is not None]
        labels.append(" ".join((board.protocol, *given)))
    return labels


def _settings(log: RankingLog, board: Leaderboard) -> Mapping[str, object]:
    own = {name: v for name, v in sorted(log.arguments.items()) if name not in _NO_SETTINGS}
    who = _PEERS if board.rule.reviewed else _JUDGE
    return own | {who: ", ".join(board.judges)}


def _differ(one: Mapping[str, object], other: Mapping[str, object], name: str) -> bool:
    # Without a call (all answers are identical) no judge is known, which is not another judge.
    if name in (_JUDGE, _PEERS) and not (one[name] and other.get(name)):
        return False
    return other.get(name) != one[name]
