"""Ranking logs side by side: every benchmark and protocol of every log, under a name of its own.

The name is the protocol and, if its logs differ in settings or judges, these: `swiss rounds=2` and
`swiss rounds=3`. Logs without such differences are runs of one protocol: `seal`, `seal · run 2`.
Logs are compared on the items and models that all of them ranked (`shared`).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.analysis.item_table import ItemTable, placed, protocol_scores
from tiebreak.analysis.leaderboard import Leaderboard, board_of
from tiebreak.analysis.standing import Placed
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers.agreement import Agreement, resolution_gain
from tiebreak.rankers.profile import FloatArray, ratio
from tiebreak.rankers.ranks import DECIMALS
from tiebreak.rankers.stability import (
    ResampledAgreement,
    expected_spearman,
    mean_statistic,
    resample_agreement,
)
from tiebreak.rankers.uncertainty import Resampling, Statistic, bootstrap_items, per_item
from tiebreak.ranking_logs.log import RankedItem, RankingLog
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.match import in_one_order
from tiebreak.scorers.rules import RULES, fitting

QuestionKey = tuple[str, str]
"""An item's id and the hash of its question; with another question it is another item."""

# Arguments that change neither candidates nor method: runs that differ only in them are repeats.
_NO_SETTINGS = {"repeat", "seed", "mode", "max_calls", "max_cost", "canaries"}

_JUDGE, _PEERS = "judge", "peers"


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One benchmark under one protocol, from one log.

    `label` tells protocols and their settings apart; `run` numbers, by age, the entries with the
    same benchmark and label. `repeat` is the task argument: replies from the cache can be those of
    another run if both have the same value. `items` were judged to the end, and `ranked` are those
    of them that have a ranking; `table` has a row for each of these.
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
        """The item of each row of the table."""
        return tuple((item.item_id, item.input_hash) for item, _ in self.ranked)

    @property
    def name(self) -> str:
        """The label, with the number of the run from the second run on."""
        return self.label if self.run == 1 else f"{self.label} · run {self.run}"

    @property
    def ranked_models(self) -> frozenset[str]:
        """The models that have a rank in some item."""
        scored = np.any(~np.isnan(self.table.borda), axis=0)
        return frozenset(m for m, ranked in zip(self.table.models, scored, strict=True) if ranked)

    def repeats(self, runs: Iterable["Entry"]) -> bool:
        """Whether the entry used cached replies that may come from another of its `runs`."""
        same = any(other is not self and other.repeat == self.repeat for other in runs)
        return same and self.board.receipt.n_cached > 0

    def statistic(self, items: Sequence[QuestionKey], models: Sequence[str]) -> Statistic:
        """The leaderboard of some models, as a function of how often each item is drawn.

        Its scores are minus the ranks of `Leaderboard.rows`, which are by mean normalized Borda
        score, then by mean principle margin (SEAL, §2.3).
        """
        drawn, cells = self.cells(items, models)
        scores, margins = (mean_statistic(t[cells]) for t in (self.table.borda, self.table.margins))
        return lambda counts: _standing(scores(counts[:, drawn]), margins(counts[:, drawn]))

    def scores(self, items: Sequence[QuestionKey], models: Sequence[str]) -> FloatArray:
        """Normalized Borda scores of some models, means over epochs, shape (items, models)."""
        of_row, cells = self.cells(items, models)
        borda = self.table.borda[cells]
        sums, n_scores = (
            per_item(values, np.array(of_row), len(items))
            for values in (np.nan_to_num(borda), ~np.isnan(borda))
        )
        return ratio(sums, n_scores)

    def cells(
        self, items: Sequence[QuestionKey], models: Sequence[str]
    ) -> tuple[list[int], tuple[NDArray[np.int64], ...]]:
        """The position in `items` of each selected row, and an index of rows × models."""
        number = {item: n for n, item in enumerate(items)}
        rows = [row for row, item in enumerate(self.keys) if item in number]
        of_row = [number[item] for item in self.keys if item in number]
        return of_row, np.ix_(rows, [self.table.models.index(model) for model in models])


def read_entries(
    paths: Paths, *, how: Resampling, rule: Rule | None = None, prices: Sequence[str] = ()
) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries (`entries_of`) of all ranking logs in some files and folders.

    Logs that `rule` fits are placed by it, others by their own. `prices`: see `read_ranking_logs`.

    Raises:
        RankingLogError: a path holds no ranking log, or the rule fits none.
    """
    logs = read_ranking_logs(paths, with_votes=False, prices=prices)
    if rule:
        able = [rule in fitting(log.items) for log in logs]
        # If the rule fits no log, applying it to all raises the error of the first.
        again = able if any(able) else [True] * len(logs)
        logs = [log.by_rule(rule) if fits else log for log, fits in zip(logs, again, strict=True)]
    return entries_of(logs, how=how)


def entries_of(
    logs: Iterable[RankingLog], *, how: Resampling, views: bool = False
) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries of some ranking logs, the oldest log first.

    `how` and `views` are as for `boards_of`.

    Returns:
        The entries, and notes about logs that are left out or did not end well.
    """
    logs = sorted(logs, key=lambda log: log.age)
    parts = [part for log in logs for part in log.parts()]
    boards = [
        (part, board_of(part, how=how, views=views)) for part in tracked(parts, "ranking models")
    ]
    entries: list[Entry] = []
    runs: Counter[tuple[str, str]] = Counter()
    for (log, board), label in zip(boards, _labels(boards), strict=True):
        runs[board.benchmark, label] += 1
        run, repeat = runs[board.benchmark, label], log.arguments.get("repeat", 1)
        table = ItemTable.of(log.ranked)
        entries.append(Entry(label, run, repeat, board, log.items, log.ranked, table))
    return entries, tuple(_log_notes(logs))


def paper_order(entry: Entry) -> tuple[int, str, int]:
    """Sort key: protocols in the order of SEAL's tables, then a user's own protocols by name."""
    order, protocol = list(PROTOCOLS), entry.board.protocol
    return order.index(protocol) if protocol in order else len(order), entry.label, entry.run


def _standing(scores: FloatArray, margins: FloatArray) -> FloatArray:
    """Minus the number of models above, shape (draws, N), by score, then margin with NaN last.

    The order is that of `competition_ranks`, for many leaderboards at once.
    """
    first = scores.round(DECIMALS)
    second = np.where(np.isnan(margins), -np.inf, margins.round(DECIMALS))
    score, rival = first[:, :, None], first[:, None, :]
    above = rival > score
    above |= (rival == score) & (second[:, None, :] > second[:, :, None])
    return np.where(np.isnan(scores), np.nan, -above.sum(axis=2, dtype=np.float64))


def _log_notes(logs: Sequence[RankingLog]) -> list[str]:
    """Notes of logs, each with its log's path unless several logs have the same note."""
    notes = [(log.path, note) for log in logs for note in log.notes]
    counts = Counter(note for _, note in notes)
    named = (note if counts[note] > 1 else f"{path}: {note}" for path, note in notes)
    return list(dict.fromkeys(named))


def _labels(boards: Sequence[tuple[RankingLog, Leaderboard]]) -> list[str]:
    settings: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for log, board in boards:
        settings[board.protocol].append(_settings(log, board))
    labels = []
    for log, board in boards:
        arguments, group = _settings(log, board), settings[board.protocol]
        differ = [
            name for name in arguments if any(_differ(arguments, other, name) for other in group)
        ]
        # An argument that is None is the same as one that is not given.
        given = [f"{name}={arguments[name]}" for name in differ if arguments[name] is not None]
        labels.append(" ".join((board.protocol, *given)))
    return labels


def _settings(log: RankingLog, board: Leaderboard) -> Mapping[str, object]:
    arguments = {name: v for name, v in sorted(log.arguments.items()) if name not in _NO_SETTINGS}
    role = _PEERS if board.rule.reviewed else _JUDGE
    return arguments | {role: ", ".join(board.judges)}


def _differ(settings: Mapping[str, object], other: Mapping[str, object], name: str) -> bool:
    # A log without calls (all answers are identical) names no judge, which is no difference.
    if name in (_JUDGE, _PEERS) and not (settings[name] and other.get(name)):
        return False
    return other.get(name) != settings[name]


class Shared(NamedTuple):
    """Items, in the order of the first entry, and models, by name, that all entries ranked."""

    items: tuple[QuestionKey, ...]
    models: tuple[str, ...]


class ScoredModel(Placed):
    """One model under a protocol: its rank on the leaderboard, and its mean `protocol_scores`.

    The rank is by Borda score and margin, so it can differ from the order of this score.
    """

    __slots__ = ()
    NAME = "score"

    @property
    def score(self) -> float:
        """The mean score on the protocol's own scale."""
        return self.value


def same_contest(entry: Entry, other: Entry) -> bool:
    """Whether two entries are runs of one another: same protocol, settings, judges and models."""
    return entry.label == other.label and entry.table.models == other.table.models


def shared(entries: Sequence[Entry]) -> Shared:
    """The items and models that all `entries` ranked."""
    first, *rest = entries
    items = set(first.keys).intersection(*(entry.keys for entry in rest))
    models = first.ranked_models.intersection(*(entry.ranked_models for entry in rest))
    return Shared(
        items=tuple(item for item in dict.fromkeys(first.keys) if item in items),
        models=tuple(sorted(models)),
    )


def left_out(entries: Sequence[Entry], common: Shared) -> Reason | None:
    """The numbers of common items and models if an entry ranked more than these, else None."""
    items = [Reason("ranked_by", name=e.name, n=len(set(e.keys))) for e in entries]
    models = [Reason("ranked_by", name=e.name, n=len(e.ranked_models)) for e in entries]
    kept = []
    if max(ranked["n"] for ranked in items) > len(common.items):
        kept.append(Reason("kept_items", n=len(common.items), ranked=items))
    if max(ranked["n"] for ranked in models) > len(common.models):
        kept.append(Reason("kept_models", n=len(common.models), ranked=models))
    return Reason("kept", parts=kept) if kept else None


def agreement(
    compared: Entry, reference: Entry, common: Shared, how: Resampling
) -> ResampledAgreement:
    """Agreement of two leaderboards on what both ranked, with intervals over items."""
    first, second = (
        entry.statistic(common.items, common.models) for entry in (compared, reference)
    )
    return resample_agreement(first, second, len(common.items), how=how)


def expected(compared: Entry, reference: Entry, common: Shared) -> float:
    """The mean Spearman's ρ on what both ranked if their true rankings were equal."""
    return expected_spearman(
        *(entry.scores(common.items, common.models) for entry in (compared, reference))
    )


def scored(
    entry: Entry, common: Shared, how: Resampling
) -> tuple[tuple[ScoredModel, ...], Agreement]:
    """The models by rank, with scores and their intervals (SEAL, table 9), and the resolution gain.

    The gain is the spread of the scores over that of the native scores (SEAL, table 1). Both are
    means over the same items, those in which the protocol gave the model a score. A protocol that
    ranks by native scores has a gain of 1.
    """
    table, (of_row, cells) = entry.table, entry.cells(common.items, common.models)
    scores = protocol_scores(table, entry.ranked)[cells]
    native = np.where(np.isnan(scores), np.nan, table.native[cells])
    ones = np.ones((1, len(of_row)))
    gain = resolution_gain(*(mean_statistic(values)(ones)[0] for values in (scores, native)))
    if gain.reason and (known := int((~np.isnan(native)).any(axis=0).sum())) < 2:
        reason = Reason("one_model_with_native" if known else "no_model_with_native")
        gain = replace(gain, reason=reason)
    if not scores.size:
        return (), gain
    standing = entry.statistic(common.items, common.models)(np.ones((1, len(common.items))))[0]
    bootstrap = bootstrap_items(scores, items=table.items[cells[0][:, 0]], how=how)
    # Native scores need not lie in [0, 1].
    within = (0.0, 1.0) if entry.board.rule.asks else (-math.inf, math.inf)
    return ScoredModel.rows(bootstrap, common.models, 1 - standing, within), gain


def in_each_order(entry: Entry) -> tuple[Entry, Entry] | None:
    """The entry by the first verdict of every match, and by the second, in the other order.

    Each is the entry of a run that asks one order only. None unless all pairs of all items were
    judged in both orders and results alone rank: otherwise half of the verdicts decide nothing.
    """
    if any(item.matches for item in entry.items) and all(map(_all_pairs_twice, entry.items)):
        return _in_one_order(entry, 0), _in_one_order(entry, 1)
    return None


def _all_pairs_twice(item: ItemBallots) -> bool:
    pairs = math.comb(len(item.representatives), 2)
    twice = sum(len({v.first for v in match.verdicts}) == 2 for match in item.matches)
    return RULES[item.placed_by].results_only and twice == len(item.matches) == pairs


def _in_one_order(entry: Entry, order: Literal[0, 1]) -> Entry:
    """The entry by one verdict of each match, without items that this leaves unranked."""
    asked_once = (
        item.model_copy(
            update={"matches": tuple(in_one_order(match, order) for match in item.matches)}
        )
        for item in entry.items
    )
    ranked = placed(asked_once)
    items = tuple(item for item, _ in ranked)
    return replace(entry, items=items, ranked=ranked, table=ItemTable.of(ranked))
