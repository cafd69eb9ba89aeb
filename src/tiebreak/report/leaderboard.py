"""Leaderboards: from the ballots of a ranking log to ranks with their uncertainty."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from tiebreak.rankers import (
    ItemBootstrap,
    bootstrap_items,
    competition_ranks,
    normalized_borda,
    spread,
)
from tiebreak.report.bias import PositionBias, position_bias, tie_warning, unscored_warning
from tiebreak.report.logs import RankingLog, Unranked, placement_of, read_ranking_logs
from tiebreak.report.receipt import Receipt, receipt_of
from tiebreak.scorers.ballots import ItemBallots, Match
from tiebreak.scorers.placement import NotPlacedError, Placement

FloatArray = NDArray[np.float64]

# Below this many items that tell models apart the intervals cover clearly less than they claim.
FEW_ITEMS = 10


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One model on one benchmark.

    `rank` is the competition rank ("1, 2, 2, 4") by mean normalized Borda score, then by mean
    principle margin (SEAL, §2.3); None where the score is undefined. `borda` is in [0, 1], and
    `lower`, `upper`, `rank_lower` (the better) and `rank_upper` bound score and rank under
    resampled items: NaN and None where there is no interval. `prob_first` is the share of the
    draws in which the model came first.

    `native` is the mean native score over the `native_n` ranked items that have one, NaN without
    any. Wins, losses and ties count matches; the seed that goes on after a tie wins nothing.
    Matches of identical answers count for all models that gave the answer. `unscored_rate` is the
    share of the model's matches without a verdict, NaN without a match. `margin` is the mean over
    items of the model's mean principle margin per match, in [-1, 1], NaN without a scored match.
    """

    rank: int | None
    model: str
    borda: float
    lower: float
    upper: float
    rank_lower: int | None
    rank_upper: int | None
    prob_first: float
    native: float
    native_n: int
    wins: int
    losses: int
    ties: int
    unscored_rate: float
    margin: float


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """One benchmark under one protocol, from one ranking log.

    `n_items` were ranked; `unranked` lists the others with the reason. Two logs of the same
    benchmark and protocol give two leaderboards, told apart by `log` and `eval_id`. `spread` is
    the mean distance between two models' scores, `native_spread` that of their native scores.
    `warnings` say why the ranking cannot be trusted; `notes` are all other remarks.
    """

    benchmark: str
    protocol: str
    log: str
    eval_id: str
    created: str
    status: str
    judges: tuple[str, ...]
    n_items: int
    unranked: tuple[Unranked, ...]
    rows: tuple[LeaderboardRow, ...]
    spread: float
    native_spread: float
    level: float
    draws: int
    seed: int
    bias: PositionBias
    receipt: Receipt
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def resolution_gain(self) -> float:
        """Spread over native spread (SEAL, table 1); NaN when the native scores are all equal."""
        return self.spread / self.native_spread if self.native_spread > 0 else math.nan


def leaderboards(
    paths: Iterable[str | PathLike[str]],
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> list[Leaderboard]:
    """Leaderboards of all ranking logs among some files and folders.

    Args:
        paths: ranking logs, and folders that hold some.
        level: confidence level of all intervals, in (0, 1).
        draws: number of bootstrap draws over items.
        seed: seed of the bootstrap.

    Returns:
        One leaderboard per log, benchmark and protocol, the oldest log first, then by name. A log
        in which no item could be ranked gives a leaderboard without rows; its notes say why.

    Raises:
        RankingLogError: a path holds no ranking log (subclasses tell the cases apart).
        ValueError: level or draws are out of range.
    """
    return [
        board
        for log in read_ranking_logs(paths)
        for board in _boards(log, level=level, draws=draws, seed=seed)
    ]


def _boards(log: RankingLog, *, level: float, draws: int, seed: int) -> Iterator[Leaderboard]:
    """Leaderboards of one log, by name of benchmark and protocol."""
    kinds = sorted({_kind(item) for item in (*log.items, *log.cut_short)})
    for kind in kinds or [(log.benchmark, log.protocol)]:
        benchmark, protocol = kind
        part = replace(
            log,
            benchmark=benchmark,
            protocol=protocol,
            items=tuple(item for item in log.items if _kind(item) == kind),
            cut_short=tuple(item for item in log.cut_short if _kind(item) == kind),
            unranked=tuple(one for one in log.unranked if one.benchmark in (benchmark, None)),
        )
        yield _board(part, level=level, draws=draws, seed=seed)


def _board(log: RankingLog, *, level: float, draws: int, seed: int) -> Leaderboard:
    """The leaderboard of a log that holds one benchmark under one protocol."""
    ranked, placements, unplaced = _place_all(log.items)
    table = _Table.of(ranked, placements)
    bootstrap = bootstrap_items(table.borda, items=table.items, level=level, draws=draws, seed=seed)
    rows = _rows(table, bootstrap, _records(log.items))
    matches = [match for item in log.items for match in item.matches]
    bias = position_bias(matches, level=level)
    warnings = (bias.warning, unscored_warning(matches), tie_warning(matches))
    return Leaderboard(
        benchmark=log.benchmark,
        protocol=log.protocol,
        log=log.path,
        eval_id=log.eval_id,
        created=log.created,
        status=log.status,
        judges=_judges((*log.items, *log.cut_short)),
        n_items=len(ranked),
        unranked=(*log.unranked, *unplaced),
        rows=rows,
        spread=spread([row.borda for row in rows]),
        native_spread=spread([row.native for row in rows]),
        level=level,
        draws=draws,
        seed=seed,
        bias=bias,
        receipt=receipt_of((*log.items, *log.cut_short)),
        warnings=tuple(warning for warning in warnings if warning),
        notes=(*log.notes, *_notes(table, bootstrap, log.items)),
    )


def _kind(item: ItemBallots) -> tuple[str, str]:
    return item.benchmark, item.protocol


def _place_all(
    items: Sequence[ItemBallots],
) -> tuple[list[ItemBallots], list[Placement], list[Unranked]]:
    """Items that can be ranked, with their placements, and the others with the reason."""
    ranked, placements, unplaced = [], [], []
    for item in items:
        try:
            placement = placement_of(item)
        except NotPlacedError as error:
            unplaced.append(Unranked(item.item_id, str(error), item.benchmark))
        else:
            ranked.append(item)
            placements.append(placement)
    return ranked, placements, unplaced


@dataclass(frozen=True, slots=True)
class _Table:
    """Ranked items × models as arrays of shape (rows, N); `items` labels the rows."""

    models: tuple[str, ...]
    items: NDArray[np.int64]
    borda: FloatArray
    margins: FloatArray
    native: FloatArray

    @staticmethod
    def of(items: Sequence[ItemBallots], placements: Sequence[Placement]) -> "_Table":
        models = tuple(sorted({model for item in items for model in item.models}))
        numbers = {item: number for number, item in enumerate({i.item_id: None for i in items})}

        def array(values: Iterable[Mapping[str, float | None]]) -> FloatArray:
            cells = [[_number(row.get(model)) for model in models] for row in values]
            return np.array(cells, dtype=np.float64).reshape(len(items), len(models))

        return _Table(
            models=models,
            items=np.array([numbers[item.item_id] for item in items], dtype=np.int64),
            borda=normalized_borda(array(placement.ranks for placement in placements)),
            margins=array(placement.margins for placement in placements),
            native=array(item.native for item in items),
        )


def _rows(
    table: _Table, bootstrap: ItemBootstrap, records: Mapping[str, "_Record"]
) -> tuple[LeaderboardRow, ...]:
    margins = [_mean(column) for column in table.margins.T]
    ranks = competition_ranks(bootstrap.mean, margins)
    rows = []
    for column, model in enumerate(table.models):
        record = records.get(model, _Record())
        native = table.native[:, column]
        rows.append(
            LeaderboardRow(
                rank=_whole(ranks[column]),
                model=model,
                borda=float(bootstrap.mean[column]),
                lower=float(bootstrap.lower[column]),
                upper=float(bootstrap.upper[column]),
                rank_lower=_whole(bootstrap.rank_lower[column]),
                rank_upper=_whole(bootstrap.rank_upper[column]),
                prob_first=float(bootstrap.prob_first[column]),
                native=_mean(native),
                native_n=int(np.sum(~np.isnan(native))),
                wins=record.wins,
                losses=record.losses,
                ties=record.ties,
                unscored_rate=record.unscored_rate,
                margin=margins[column],
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.rank or math.inf, row.model)))


@dataclass(slots=True)
class _Record:
    """Results of one model's matches."""

    wins: int = 0
    losses: int = 0
    ties: int = 0
    unscored: int = 0

    @property
    def unscored_rate(self) -> float:
        played = self.wins + self.losses + self.ties + self.unscored
        return self.unscored / played if played else math.nan

    def add(self, match: Match, *, won: bool) -> None:
        if match.unscored:
            self.unscored += 1
        elif match.tied:
            self.ties += 1
        elif won:
            self.wins += 1
        else:
            self.losses += 1


def _records(items: Iterable[ItemBallots]) -> dict[str, _Record]:
    """Match results by model, of all items judged to the end.

    Items without one verdict have no ranking, but their matches must count here: leaving them out
    would make the unscored rate shrink as judging fails more often.
    """
    records: dict[str, _Record] = {}
    for item in items:
        members = {group[0]: group for group in item.groups}
        for match in item.matches:
            for side in (match.high, match.low):
                for model in members.get(side, (side,)):
                    records.setdefault(model, _Record()).add(match, won=side == match.winner)
    return records


def _judges(items: Iterable[ItemBallots]) -> tuple[str, ...]:
    """Models that decided matches, or, where a protocol plays none, all that were called."""
    calls = {(call.kind, call.model) for item in items for call in item.calls}
    return tuple(
        sorted({model for kind, model in calls if kind == "match"} or {m for _, m in calls})
    )


def _notes(table: _Table, bootstrap: ItemBootstrap, judged: Sequence[ItemBallots]) -> Iterator[str]:
    n_items = len(np.unique(table.items))
    alone = [model for model, n in zip(table.models, bootstrap.n_items, strict=True) if n < 2]
    if n_items == 1:
        yield "No intervals: there is one item, so nothing to resample"
    elif alone:
        yield f"No interval for {', '.join(alone)}: it needs at least two items"
    # Where all models of an item are tied each has ½; such items hardly widen an interval.
    apart = np.any(~np.isnan(table.borda) & (table.borda != 0.5), axis=1)
    n_apart = len(np.unique(table.items[apart]))
    if n_items > 1 and n_apart < FEW_ITEMS:
        yield (
            f"Only {n_apart} of {n_items} items tell models apart: the intervals are too narrow "
            "(in simulation a 95% interval covered 93% with 10 such items, 91% with 5)"
        )
    unseeded = sum(1 for item in judged if item.tiering is not None and item.tiering.unscored)
    if unseeded:
        yield f"In {unseeded} of {len(judged)} items the seeding call gave no usable reply"


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _mean(values: FloatArray) -> float:
    """Mean of the numbers that are defined; NaN without any."""
    defined = values[~np.isnan(values)]
    return math.fsum(defined) / len(defined) if len(defined) else math.nan


def _whole(value: float) -> int | None:
    return None if math.isnan(value) else int(value)
