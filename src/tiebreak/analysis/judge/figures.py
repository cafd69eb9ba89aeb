"""All checks of a judge by its ballots, for a leaderboard and for each judge of a jury.

This module also checks whether verdicts are more than coin tosses, how often a judge contradicts
the native score (one answer passed and one failed), and how often a reply is unusable. Coin tosses
favour no model, contradict themselves in half of the matches asked in both orders, and make a
cycle (A beats B, B beats C, C beats A) of a quarter of all triples.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

import numpy as np

from tiebreak.analysis.judge.biases import (
    ALARM,
    BIAS,
    FEWEST_ITEMS,
    Flips,
    Length,
    Position,
    enough_verdicts,
    flips_of,
    length_of,
    place_of,
    position_of,
    reach,
)
from tiebreak.rankers import mean_ranks
from tiebreak.rankers.intervals import Estimate, design_effect, share_over_items, wilson
from tiebreak.rankers.pairwise_tests import sign_flip_p, sign_p
from tiebreak.rankers.profile import FloatArray
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.reason import Reason
from tiebreak.scorers.ballots import CallKind, ItemBallots, Match, PointScore
from tiebreak.scorers.match import (
    by_judge,
    judges_in,
    one_verdict_an_order,
    votes_apart,
    votes_in,
    with_verdicts,
)


@dataclass(frozen=True, slots=True)
class JudgeReplies:
    """Replies of one judge to questions that decide rankings (matches, points, lists).

    `model` is the model that judged, in peer review the reviewer's and in a jury the judge's name.

    `n_unscored` of the `n_questions` stayed without a usable reply, after the repair turn and the
    repetition (which reviews do not have); `unscored_rate` is their share with its Wilson interval,
    widened if unscored replies cluster in items (in simulation a 95% interval covered 95% if they
    came singly or in whole items, 90% if in both ways). A match that is asked in both orders is two
    questions.
    """

    model: str
    n_questions: int
    n_unscored: int
    unscored_rate: Estimate


@dataclass(frozen=True, slots=True)
class Correctness:
    """Judged pairs of answers of which one has the native score 1 and the other 0.

    In `n_against` of the `n` pairs the judge preferred the answer with 0, in `n_tied` neither.
    `share` is n_against / n with its interval over items (`share_over_items`). `n_guarded` counts
    the items in which the correctness guard places answers that failed after those that passed; in
    all others the judge alone decides. `p` tests, two-sided, whether both kinds are preferred
    equally often (sign flips over items, those of a cluster together; NaN below ten items with a
    preference). `enough` is whether a judge that prefers one kind in 60% of these pairs would be
    found in half of the runs (p ≤ 0.01).
    """

    share: Estimate
    n: int
    n_against: int
    n_tied: int
    n_guarded: int
    p: float = math.nan
    enough: bool = False

    @property
    def prefers(self) -> Literal["passed", "failed", "neither"]:
        """The kind of answers preferred more often than chance explains (1%)."""
        if not self.p <= ALARM:  # also for NaN
            return "neither"
        return "failed" if 2 * self.n_against + self.n_tied > self.n else "passed"


@dataclass(frozen=True, slots=True)
class Cycles:
    """Triples of answers to one item in which all three pairs met and none was tied.

    `share` is the share of the `n_triples` that are cycles, with its interval over items; coin
    tosses give ¼. `coin_p` is one-sided, for fewer cycles than coin tosses; NaN without a triple.
    """

    share: Estimate
    n_triples: int
    coin_p: float


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """All checks of a judge, or of all reviewers together, by ballots.

    `coin_p` is the p-value of "its verdicts are coin tosses", from models, seeds, flips and cycles;
    NaN if none of these is known.
    """

    position: Position
    flips: Flips
    length: Length
    cycles: Cycles
    coin_p: float
    correctness: Correctness
    replies: tuple[JudgeReplies, ...]

    def corrected(self, tests: int) -> "JudgeFigures":
        """The figures with all p-values multiplied by the number of `tests` (Bonferroni)."""
        # `min` returns NaN only if it is the first argument.
        position, flips, length = self.position, self.flips, self.length
        return replace(
            self,
            position=replace(
                position,
                p=min(tests * position.p, 1.0),
                enough=position.n >= enough_verdicts(tests),
            ),
            flips=replace(flips, p=min(tests * flips.p, 1.0)),
            length=replace(length, p=min(tests * length.p, 1.0)),
            correctness=replace(self.correctness, p=min(tests * self.correctness.p, 1.0)),
            coin_p=min(tests * self.coin_p, 1.0),
        )


def as_one_judge(item: ItemBallots) -> ItemBallots:
    """The item with a jury's verdicts merged into one per order; unchanged for a single judge.

    If people voted, each vote becomes a match of its own.
    """
    if item.by_people:
        matches = tuple(vote for match in item.matches for vote in votes_apart(match))
        return item.model_copy(update={"matches": matches})
    if len({verdict.judge for match in item.matches for verdict in match.verdicts}) < 2:
        return item
    return item.model_copy(update={"matches": tuple(map(one_verdict_an_order, item.matches))})


def judge_figures(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> JudgeFigures:
    """Measure a judge by all items judged to the end, of one benchmark under one protocol.

    A jury counts as one judge whose margins are the means of its members' margins.
    """
    replies, items = judge_replies(items, level=how.level), [*map(as_one_judge, items)]
    matches = [match for item in items for match in item.matches]
    flips, cycles = flips_of(matches, level=how.level), cycles_of(items, how=how)
    by_place = place_of if not matches and any(item.listings for item in items) else position_of
    return JudgeFigures(
        position=by_place(items, level=how.level),
        flips=flips,
        length=length_of(items, level=how.level),
        cycles=cycles,
        coin_p=coin_p(items, cycles.coin_p, flips=flips.coin_p),
        correctness=correctness_of(items, how=how),
        replies=replies,
    )


COIN_CYCLES: Final = 0.25


def cycles_of(items: Iterable[ItemBallots], *, how: Resampling = Resampling()) -> Cycles:
    """Count cycles among the matches of each item."""
    from scipy.special import ndtr

    rows = [(item.item_id, *_triples(item.matches)) for item in items]
    table = np.array([counts for _, *counts in rows], dtype=np.float64).reshape(len(rows), 2)
    names, none = [name for name, *_ in rows], Reason("no_triple")
    share = share_over_items(table[:, 0], table[:, 1], names, level=how.level, undefined=none)
    cyclic, triples = table.sum(axis=0)
    if not triples:
        return Cycles(share, 0, math.nan)
    # Two triples share at most one match, so with coin tosses cycles are pairwise independent: the
    # variance of their number is that of a binomial number.
    spread = math.sqrt(triples * COIN_CYCLES * (1 - COIN_CYCLES))
    z = (cyclic + 0.5 - triples * COIN_CYCLES) / spread  # with a continuity correction
    return Cycles(share, int(triples), float(ndtr(z)))


FLIPS_WEIGHT: Final = 0.8
"""Share of the error for flips: few matches can flip, while other evidence is clear or absent."""


def coin_p(items: Sequence[ItemBallots], *p_values: float, flips: float = math.nan) -> float:
    """The p-value of "verdicts are coin tosses", from all evidence against it.

    Evidence is that answers of some model win, that the better seed wins (the seeding is another
    question to the same judge), and p-values of `flips` and of other tests. The smallest p-value
    counts (weighted Bonferroni correction, see `FLIPS_WEIGHT`); NaN without any.
    """
    seeds = _seeds_p(items)
    known = [p for p in (_models_p(items), seeds, *p_values) if not math.isnan(p)]
    if not known:
        return flips
    rest = len(known) * min(known)
    if not math.isnan(flips):
        # In a bracket seeding is the strongest evidence and few matches are asked twice.
        weight = FLIPS_WEIGHT if math.isnan(seeds) else 1 / (len(known) + 1)
        rest = min(flips / weight, rest / (1 - weight))
    return min(rest, 1.0)


def _models_p(items: Iterable[ItemBallots]) -> float:
    """The smallest p-value that a model's answers win or lose, times the number of models.

    For matches it is a sign test of the model's first match in each item, because in a knockout the
    number of later matches depends on results; for lists a sign-flip test of its distances from the
    middle rank.
    """
    won: dict[str, dict[str, float]] = defaultdict(dict)
    place: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for item in items:
        for match in item.matches:
            if (result := match.result) is not None:
                won[match.high].setdefault(item.item_id, 2 * result - 1)
                won[match.low].setdefault(item.item_id, 1 - 2 * result)
        for listing in item.listings:
            ranks = mean_ranks(listing.groups)
            for name, rank in ranks.items():
                place[name][item.item_id] += (len(ranks) + 1) / 2 - rank
    signs = [np.sign(list(results.values())) for results in won.values()]
    p_values = [
        sign_p(int(np.sum(sign > 0)), int(np.sum(sign != 0))) for sign in signs if sign.any()
    ]
    p_values += [sign_flip_p(list(distances.values())) for distances in place.values()]
    return min(1.0, min(p_values) * len(p_values)) if p_values else math.nan


def _seeds_p(items: Iterable[ItemBallots]) -> float:
    """The one-sided p-value that the better tier's seed wins over half of the decided matches."""
    better = [
        match.winner == min((match.high, match.low), key=item.tiering.tiers.__getitem__)
        for item in items
        if item.tiering is not None
        for match in item.matches
        if match.result not in (None, 0.5)
        and len({item.tiering.tiers.get(name) for name in (match.high, match.low)} - {None}) == 2
    ]
    if not better:
        return math.nan
    return sign_p(sum(better), len(better), one_sided=True)


def _triples(matches: Iterable[Match]) -> tuple[float, float]:
    """Numbers of cycles and triples among an item's decided matches, by each pair's first one."""
    beats: dict[tuple[str, str], bool] = {}
    for match in matches:
        if match.result not in (None, 0.5) and (match.loser, match.winner) not in beats:
            beats[match.winner, match.loser] = True
    names = {name: number for number, name in enumerate(sorted({n for two in beats for n in two}))}
    won: FloatArray = np.zeros((len(names), len(names)))
    for winner, loser in beats:
        won[names[winner], names[loser]] = 1
    met = won + won.T
    return float(np.trace(won @ won @ won)) / 3, float(np.trace(met @ met @ met)) / 6


def correctness_of(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> Correctness:
    """Count verified pairs in matches, grades and lists, including every reviewer's lists."""
    passed = [list(_passed_preferred(item)) for item in items]
    against = np.array([results.count(False) for results in passed], np.float64)
    tied = sum(results.count(None) for results in passed)
    counts = np.array([len(results) for results in passed], np.float64)
    units, none = [item.cluster or item.item_id for item in items], Reason("no_verified_pair")
    guarded = sum(item.stratified and len({*item.passed.values()}) == 2 for item in items)
    lead: dict[str, float] = {}
    for unit, results in zip(units, passed, strict=True):
        if decided := len(results) - results.count(None):
            lead[unit] = lead.get(unit, 0.0) + results.count(False) - decided / 2
    leads, n_decided = list(lead.values()), counts.sum() - tied
    tested = len(leads) >= FEWEST_ITEMS
    return Correctness(
        share=share_over_items(against, counts, units, level=how.level, undefined=none),
        n=int(counts.sum()),
        n_against=int(against.sum()),
        n_tied=tied,
        n_guarded=guarded,
        p=sign_flip_p(leads) if tested else math.nan,
        enough=tested and reach(leads, ALARM) * len(leads) / n_decided <= BIAS,
    )


def _passed_preferred(item: ItemBallots) -> Iterator[bool | None]:
    """Whether the answer with 1 is preferred to that with 0, per judged pair; None for a tie."""
    for better, worse, result in _preferences(item):
        native, worse_native = item.native.get(better), item.native.get(worse)
        if {native, worse_native} == {0, 1}:
            yield None if result == 0.5 else (result > 0.5) == (native == 1)


def _preferences(item: ItemBallots) -> Iterable[tuple[str, str, float]]:
    """Pairwise verdicts as (first answer, second answer, result of the first)."""
    for match in item.matches:
        if (result := match.result) is not None:
            yield match.high, match.low, result
    graded = {score.candidate: score.score for score in item.scores if score.score is not None}
    for (first, value), (second, other_value) in combinations(graded.items(), 2):
        yield first, second, (1 + np.sign(value - other_value)) / 2
    for listing in item.listings:
        placed = [(name, place) for place, tied in enumerate(listing.groups) for name in tied]
        for (first, value), (second, other_value) in combinations(placed, 2):
            yield first, second, (1 + np.sign(other_value - value)) / 2


def judge_replies(items: Iterable[ItemBallots], *, level: float = 0.95) -> tuple[JudgeReplies, ...]:
    """Count usable replies by judge or reviewer, sorted by name.

    If a run has one judge but the calls of an item name several models, these are counted together:
    only ballots of a jury and of reviewers name the judge of each reply.
    """
    by_judge: dict[str, list[list[bool]]] = defaultdict(list)
    for item in items:
        of_item: dict[str, list[bool]] = defaultdict(list)
        called = {kind: judges_of(item, kind) for kind in {call.kind for call in item.calls}}
        for kind, reviewer, usable in _questions(item):
            # If its rubric fails, `fixed_rubric` calls no judge and leaves all answers unscored.
            if name := reviewer or called.get(kind):
                of_item[name].append(usable)
        for name, replies in of_item.items():
            by_judge[name].append(replies)
    rows = []
    for model, by_item in sorted(by_judge.items()):
        n = [len(replies) for replies in by_item]
        unusable = [replies.count(False) for replies in by_item]
        effect = design_effect(unusable, n)
        rate = wilson(sum(unusable), sum(n), level=level, effect=effect)
        rows.append(JudgeReplies(model, sum(n), sum(unusable), rate))
    return tuple(rows)


def judges_of(item: ItemBallots, kind: CallKind) -> str:
    """The models behind an item's calls of one kind, separated by commas."""
    return ", ".join(sorted({call.model for call in item.calls if call.kind == kind}))


def all_usable(item: ItemBallots) -> bool:
    """Whether every deciding reply was usable; True if no question was asked."""
    return all(usable for _, _, usable in _questions(item))


def _questions(item: ItemBallots) -> Iterator[tuple[CallKind, str, bool]]:
    """Each deciding question: kind, judge's name ("" for a single judge), usable reply or not."""
    for match in item.matches:
        judges = judges_in(match)
        replaced = [v for v in match.discarded if v.judge not in judges]
        for verdict in (*match.verdicts, *replaced):
            yield "match", verdict.judge, verdict.unscored is None
    for points in (part for score in item.scores for part in score.parts or (score,)):
        yield "score", points.judge, points.unscored is None
    for listing in item.listings:
        yield "list", listing.reviewer, listing.unscored is None


@dataclass(frozen=True, slots=True)
class Juror:
    """One judge of a jury.

    `figures` are those of its own verdicts. `agreement` is the share of pairs of answers that it
    orders like most of the other judges, one vote each, over pairs on which it has a vote and the
    others are not evenly split. Coin tosses give ½, so 2 · share − 1 is corrected for chance.
    `agreement_p` tests ½ (sign flips over items, two-sided). NaN if no other judge had the same
    matches. All p are corrected for the tests of the jury and of each of its judges (Bonferroni).
    """

    name: str
    figures: JudgeFigures
    agreement: Estimate
    agreement_p: float


def jurors_of(items: Sequence[ItemBallots], *, how: Resampling = Resampling()) -> tuple[Juror, ...]:
    """The judges of a jury sorted by name; empty for a single judge."""
    names = sorted({name for item in items for name in names_in(item)})
    if not names:
        return ()
    votes = [list(pair_votes(item)) for item in items]
    return tuple(_juror(name, items, votes, len(names) + 1, how) for name in names)


def _juror(
    name: str,
    items: Sequence[ItemBallots],
    votes: Sequence[Sequence[Mapping[str, float]]],
    tests: int,
    how: Resampling,
) -> Juror:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for item, pairs in zip(items, votes, strict=True):
        for agrees in _same(pairs, name):
            counts[item.item_id][0] += agrees
            counts[item.item_id][1] += 1
    same, n = np.array(list(counts.values()), dtype=np.float64).reshape(-1, 2).T
    none = Reason("no_match_of_others")
    agreement = share_over_items(same, n, level=how.level, undefined=none)
    p = min(1.0, tests * sign_flip_p(2 * same - n)) if counts else math.nan
    figures = judge_figures([_by_juror(item, name) for item in items], how=how).corrected(tests)
    if figures.flips.asked != "all":
        # Matches were asked again by the jury's margin, not this judge's: `expected` is unknown.
        figures = replace(figures, flips=replace(figures.flips, asked="close", expected=math.nan))
    return Juror(name, figures, agreement, p)


def names_in(item: ItemBallots) -> Iterator[str]:
    """Names of judges in the verdicts of an item: a jury's judges, or raters."""
    for match in item.matches:
        yield from (v.judge for v in (*match.verdicts, *match.discarded) if v.judge)
    yield from (part.judge for points in item.scores for part in _parts(points) if part.judge)


def _parts(points: PointScore) -> tuple[PointScore, ...]:
    return points.parts or (points,)


def _by_juror(item: ItemBallots, name: str) -> ItemBallots:
    """The item with one judge's ballots; a judge that was replaced has only unusable ones."""
    matches = []
    for match in item.matches:
        if name in judges_in(match):
            matches.append(by_judge(match, name))
        elif gone := [verdict for verdict in match.discarded if verdict.judge == name]:
            matches.append(by_judge(with_verdicts(match, gone), name))
    scores = tuple(part for points in item.scores for part in _parts(points) if part.judge == name)
    return item.model_copy(update={"matches": tuple(matches), "scores": scores, "listings": ()})


def _same(pairs: Iterable[Mapping[str, float]], name: str) -> Iterator[bool]:
    """Whether a judge has the same winner as most of the others, for each pair of answers."""
    for votes in pairs:
        vote = votes.get(name, 0.0)
        if product := vote * (sum(votes.values()) - vote):
            yield product > 0


def pair_votes(item: ItemBallots) -> Iterator[Mapping[str, float]]:
    """Each judge's vote on each pair of answers: 1 for the first, −1 for the second, 0 for even."""
    yield from map(votes_in, item.matches)
    grades = [
        {part.judge: part.score for part in _parts(points) if part.score is not None}
        for points in item.scores
    ]
    for first, second in combinations(grades, 2):
        yield {
            judge: np.sign(first[judge] - second[judge]) for judge in first.keys() & second.keys()
        }
