"""Boards of matches read from a file: votes of an arena, or verdicts of another judge.

    file → `tables.matches` → `rankers.massey` → verdict, tiers, ranks, position, raters' agreement

Intervals and tests are over items if items have several matches, else over votes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final, Literal

import numpy as np

from tiebreak.analysis.errors import AnalysisError
from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.verdict import model_pairs, order_reasons
from tiebreak.progress import doing
from tiebreak.rankers import competition_ranks
from tiebreak.rankers.intervals import Estimate, share_over_items
from tiebreak.rankers.massey import VoteFit, fit_votes, joined, rater_alpha
from tiebreak.rankers.matches import Matches
from tiebreak.rankers.pairwise_tests import Pair
from tiebreak.rankers.profile import FloatArray, IntArray
from tiebreak.reason import Reason, Remark
from tiebreak.tables.matches import MatchTable, read_matches
from tiebreak.text import Votes, count

MOST_MODELS: Final = 1000


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One model: its rank, expected share of wins, and strengths.

    `score` is the share of matches, in [0, 1], that it is expected to win against the other models,
    each met equally often; `strength` its log-odds by Bradley–Terry, which ranks the models;
    `margin` its strength by least squares, with results 1, 0 and −1. `rank_lower` (the better) and
    `rank_upper` cover the true ranks of all models at once.
    """

    rank: int
    model: str
    score: Estimate
    rank_lower: int
    rank_upper: int
    strength: Estimate
    margin: Estimate
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class VoteBoard(Finding):
    """The board of a file of matches: which models lead, and which cannot be told apart.

    `by` is the unit of intervals and tests: "vote" if no item has two matches, or none is named.
    `n_items` and `n_raters` are None if the file names none. `unjoined` models have no rank: no
    chain of matches connects them with the others, and their matches do not count. `position` is
    the share of matches that the answer shown first won, of those with a winner and a known order;
    `agreement` is Krippendorff's α of raters who judged the same pairs; both are None if the file
    does not have these data. Tests use draws from `seed`.
    """

    source: str
    n_matches: int
    n_items: int | None
    n_raters: int | None
    by: Literal["item", "vote"]
    sentence: Reason
    tiers: tuple[tuple[str, ...], ...]
    rows: tuple[VoteRow, ...]
    pairs: tuple[Pair[str], ...]
    unjoined: tuple[str, ...]
    position: Estimate | None
    agreement: Estimate | None
    level: float
    seed: int
    warnings: tuple[Reason, ...]
    notes: tuple[Remark, ...]

    def __str__(self) -> str:
        first = list(self.tiers[0]) if self.tiers else []
        sizes = f"{count(len(self.rows), 'model')}, {count(self.n_matches, 'match', 'matches')}"
        return f"{self.source}: {sizes}, first: {shortened(first)}"


def vote_board(
    matches: MatchTable | str | PathLike[str],
    *,
    level: float = 0.95,
    seed: int = 0,
    skip_faulty: bool = False,
) -> VoteBoard:
    """The board of a file of matches between two models each.

    Args:
        matches: the matches, or their file: CSV, JSON lines, JSON or Parquet with `model_a`,
            `model_b` and `winner`; AlpacaEval's annotations; arena-hard's judgments (see
            `read_matches`).
        level: confidence level of intervals, and of all tests together, in (0, 1).
        seed: seed of the tests' draws.
        skip_faulty: leave faulty rows out, with a note, instead of raising an error.

    Raises:
        TableError: the file cannot be read, or a row is faulty.
        AnalysisError: more than `MOST_MODELS` models.
        NoFitError: the fit did not converge.
    """
    table = matches
    if not isinstance(table, MatchTable):
        with doing("reading matches"):
            table = read_matches(Path(table), skip_faulty=skip_faulty)
    if len(table.models) > MOST_MODELS:
        raise AnalysisError(
            f"{table.source} names {len(table.models):,} models, more than the {MOST_MODELS:,} "
            "that are ranked together: are these columns the models' names?"
        )
    connected = joined(table.first, table.second, len(table.models))
    models = [model for model, here in zip(table.models, connected, strict=True) if here]
    unjoined = [model for model in table.models if model not in models]
    kept, place = connected[table.first], np.cumsum(connected) - 1
    item, rater = (None if part is None else part[kept] for part in (table.item, table.rater))
    n_matches, n_items = int(kept.sum()), _n(item)
    by_item = n_items not in (None, n_matches)
    rows = np.arange(n_matches) if item is None else np.unique(item, return_inverse=True)[1]
    played = Matches(
        place[table.first[kept]],
        place[table.second[kept]],
        table.result[kept],
        rows,
        len(models),
        n_items or n_matches,
    )
    with doing("testing all pairs"):
        fit = fit_votes(played, level=level, seed=seed)
    unit = int if by_item else Votes
    pairs = (replace(pair, n_items=unit(pair.n_items)) for pair in fit.tests.pairs)
    tests = replace(fit.tests, pairs=tuple(pairs))
    rare = [model for model, n in zip(models, fit.n_items.tolist(), strict=True) if n < 2]
    warnings = [
        Reason("models_unjoined", models=unjoined) if unjoined else None,
        Reason("no_interval_of", models=rare, n=unit(2)) if rare else None,
    ]
    return VoteBoard(
        source=table.source,
        n_matches=n_matches,
        n_items=n_items,
        n_raters=_n(rater),
        by="item" if by_item else "vote",
        sentence=Reason("verdict", statements=[*order_reasons(tests, models)]),
        tiers=tuple(tuple(models[tests.order[k]] for k in group) for group in tests.groups),
        rows=tuple(_rows(models, played, fit)),
        pairs=model_pairs(tests, models),
        unjoined=tuple(unjoined),
        position=_position(played, table.shown[kept], level),
        agreement=rater_alpha(played, rater, level=level) if rater is not None else None,
        level=level,
        seed=seed,
        warnings=tuple(filter(None, warnings)),
        notes=table.notes,
    )


def _n(numbers: IntArray | None) -> int | None:
    return None if numbers is None else len(np.unique(numbers))


def _rows(models: Sequence[str], played: Matches, fit: VoteFit) -> Iterator[VoteRow]:
    ranks = competition_ranks([estimate.value for estimate in fit.strength])
    sign, n = np.sign(played.result - 0.5), len(models)
    won, lost, tied = (
        np.bincount(played.first[sign == side], minlength=n)
        + np.bincount(played.second[sign == -side], minlength=n)
        for side in (1, -1, 0)
    )
    for place, column in enumerate(fit.tests.order):
        yield VoteRow(
            rank=int(ranks[column]),
            model=models[column],
            score=fit.score[column],
            rank_lower=fit.tests.rank_lower[place],
            rank_upper=fit.tests.rank_upper[place],
            strength=fit.strength[column],
            margin=fit.margin[column],
            wins=int(won[column]),
            losses=int(lost[column]),
            ties=int(tied[column]),
        )


def _position(played: Matches, shown: FloatArray, level: float) -> Estimate | None:
    """The share of matches with a winner that the answer shown first won."""
    shown_first = (shown != 0) & (played.result != 0.5)
    if not shown_first.any():
        return None
    won = (played.result[shown_first] > 0.5) == (shown[shown_first] > 0)
    items = played.item[shown_first]
    return share_over_items(won, 1, items, level=level, undefined=Reason("no_verdict"))
