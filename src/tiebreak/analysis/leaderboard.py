"""Leaderboards: models ranked by the ballots of a ranking log, with their uncertainty."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from tiebreak.analysis.finding import Finding, shortened
from tiebreak.analysis.item_table import ItemTable, placed
from tiebreak.analysis.judge.biases import bound_reviewer, bound_warning
from tiebreak.analysis.judge.canaries import Canaries, canaries_of
from tiebreak.analysis.judge.figures import JudgeFigures, Juror, judge_figures, jurors_of, names_in
from tiebreak.analysis.judge.raters import Raters, raters_of
from tiebreak.analysis.pair import leads_of_pairs
from tiebreak.analysis.peers.panel import panels_of
from tiebreak.analysis.receipt import Receipt, Settled, receipt_of, settled_of
from tiebreak.analysis.remarks import (
    early_end_warning,
    lone_reviewer,
    notes,
    tie_warning,
    unscored_warning,
)
from tiebreak.analysis.standing import Standing, best_first, left_open, mean
from tiebreak.analysis.star_table import scored, star_table, tests_of
from tiebreak.analysis.strengths import (
    Control,
    ControlView,
    StrengthView,
    control_view,
    strength_views,
)
from tiebreak.analysis.trust import Trust, faults, juror_faults, trust_of
from tiebreak.analysis.verdict import BoardVerdict, at_equal_length, board_verdict, model_pairs
from tiebreak.candidates.settings import Different, different
from tiebreak.paths import Paths
from tiebreak.progress import tracked
from tiebreak.rankers import (
    ItemBootstrap,
    bootstrap_items,
    competition_ranks,
    presentation_bias,
    spread,
)
from tiebreak.rankers.pairwise_tests import Pair, Separation, separation, separation_of_pairs
from tiebreak.rankers.uncertainty import Resampling
from tiebreak.ranking_logs.log import RankingLog, Unranked
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.reason import Reason, Remark
from tiebreak.scorers.ballots import ItemBallots, Match, Rule
from tiebreak.scorers.rules import RULES, PlacementRule, fitting
from tiebreak.text import count

Outcome = Literal["win", "loss", "tie"] | float | None
"""The result of a match or the points of an answer; None if it is unscored."""

# Kinds of calls whose replies rank candidates; the others prepare them.
_DECIDING = {"match", "score", "list"}


@dataclass(frozen=True, slots=True)
class LeaderboardRow(Standing):
    """One model on one benchmark, by mean normalized Borda score, then by mean principle margin.

    This is the ranking of SEAL (§2.3); `borda` is the score, in [0, 1].

    `native` is the mean native score over the `native_n` ranked items that have one, NaN without
    any. Wins, losses and ties count matches; the seed that advances after a tie is not given a win.
    `points` is the mean of the points that a judge gave the model's answers one by one, in [0, 1],
    NaN without any. A verdict on an answer counts for all models that gave it. `unscored_rate`
    is the share of the model's matches without a verdict, or of its answers without points; NaN
    if it has neither. `margin` is the mean over items of the model's mean principle margin per
    match, in [-1, 1], NaN without a scored match.
    """

    NAME = "borda"

    native: float
    native_n: int
    wins: int
    losses: int
    ties: int
    unscored_rate: float
    margin: float
    points: float

    @property
    def borda(self) -> float:
        """The mean normalized Borda score, in [0, 1]."""
        return self.value


@dataclass(frozen=True, slots=True, repr=False)
class Leaderboard(Finding):
    """The leaderboard of one benchmark under one protocol, from one ranking log.

    `n_items` items were ranked; `unranked` lists the others with the reason. Two logs of the same
    benchmark and protocol give two leaderboards, told apart by `log` and `eval_id`. `placed_by` is
    the rule that turned ballots into ranks, None without ballots. `spread` is the mean distance
    between the scores of two models, `native_spread` that between their native scores.

    `verdict` says which model is first and which models cannot be told apart. It is based on
    `pairs`, the tests of all pairs of `rows`, and is shown above the board.

    `first_by_rule` has the first models under every other rule that fits the ballots of a bracket.
    `views` rank the models by all matches at once, if there are matches; `control` does so under
    control of length or style, if that was asked for. `judge` holds what the ballots show about
    the judge, `jury` the same for each judge of a jury, `canaries` how often planted answers
    persuaded the judges (None without any), and `verdict.trust` the conclusion. `raters`
    describes the people who judged, None if models did.
    `settled` is None for a run that was to judge all items. `settings_differ` holds the settings
    in which models were asked differently, as far as the log records them. `warnings` say why the
    ranking cannot be trusted; `notes` are all other remarks.
    """

    benchmark: str
    protocol: str
    verdict: BoardVerdict
    log: str
    eval_id: str
    created: str
    status: str
    judges: tuple[str, ...]
    placed_by: Rule | None
    n_items: int
    unranked: tuple[Unranked, ...]
    rows: tuple[LeaderboardRow, ...]
    pairs: tuple[Pair[str], ...]
    first_by_rule: Mapping[Rule, tuple[str, ...]]
    views: tuple[StrengthView, ...]
    control: ControlView | None
    spread: float
    native_spread: float
    level: float
    draws: int
    seed: int
    judge: JudgeFigures
    jury: tuple[Juror, ...]
    canaries: Canaries | None
    raters: Raters | None
    receipt: Receipt
    settled: Settled | None
    settings_differ: Different
    warnings: tuple[Reason, ...]
    notes: tuple[Remark, ...]

    @property
    def trust(self) -> Trust:
        """Whether the judge can be trusted, as stated in the verdict."""
        return self.verdict.trust

    def __str__(self) -> str:
        first = list(self.verdict.tiers[0]) if self.verdict.tiers else []
        sizes = f"{count(len(self.rows), 'model')}, {count(self.n_items, 'item')}"
        alone = "first" if len(first) == 1 else "top"
        leads = f", {alone}: {shortened(first)}" if first else ""
        return f"{self.benchmark} · {self.protocol}: {sizes}{leads}"

    @property
    def rule(self) -> PlacementRule:
        """The rule named by `placed_by`; "native" without ballots, because no judge was asked."""
        return RULES[self.placed_by or "native"]

    @property
    def resolution_gain(self) -> float:
        """Spread of Borda scores over native spread; NaN if the native scores are all equal.

        Under protocols of matches this is larger than SEAL's gain (table 1), which `compare` shows:
        SEAL scores models by results of matches (`protocol_scores`), which ties pull together.
        """
        return self.spread / self.native_spread if self.native_spread > 0 else math.nan


def leaderboards(
    paths: Paths,
    *,
    how: Resampling = Resampling(),
    closure: bool = False,
    control: Control | None = None,
    rule: Rule | None = None,
) -> list[Leaderboard]:
    """Leaderboards of all ranking logs in some files and folders.

    There is one per log, benchmark and protocol, the oldest log first, then by name. A log in which
    no item could be ranked gives a leaderboard without rows; its notes say why. `closure` adds
    results implied by those of an item to the least-squares view, and `control` adds Bradley–Terry
    strengths under control of the answers' length or style. Models are placed by `rule`, or if it
    is None by the rule that each log names.

    Raises:
        RankingLogError: a path holds no ranking log, or `rule` does not fit one.
        ValueError: level or draws are out of range.
    """
    logs = read_ranking_logs(paths, with_metadata=control == "style", with_votes=False)
    return [
        board_of(part, how=how, closure=closure, control=control)
        for log in tracked(logs, "ranking models")
        for part in (log.by_rule(rule) if rule else log).parts()
    ]


def boards_of(
    log: RankingLog, *, how: Resampling = Resampling(), views: bool = True
) -> list[Leaderboard]:
    """Leaderboards of one log, sorted by benchmark and protocol; arguments as for `board_of`."""
    return [board_of(part, how=how, views=views) for part in log.parts()]


def board_of(
    log: RankingLog,
    *,
    how: Resampling = Resampling(),
    closure: bool = False,
    control: Control | None = None,
    views: bool = True,
) -> Leaderboard:
    """The leaderboard of a log of one benchmark under one protocol; options as `leaderboards`.

    `views`: whether to fit strengths to all matches and to place brackets by other rules, which
    takes as long as everything else.
    """
    items, ranked, called = log.items, log.ranked, (*log.items, *log.cut_short)
    table = ItemTable.of(ranked)
    leads = leads_of_pairs(ranked, table.models) if log.pairs_chosen else {}
    if log.pairs_chosen:
        # Models without a vote would rank by inferred strengths alone.
        strangers = {*range(len(table.models))} - {*chain.from_iterable(leads)}
        table.borda[:, sorted(strangers)] = np.nan
    bootstrap = bootstrap_items(table.borda, items=table.items, how=how)
    if log.pairs_chosen:
        # Pairs that nobody compared get scores from strengths; resampling misses that error.
        unknown = np.full(len(table.models), np.nan)
        bootstrap = replace(bootstrap, lower=unknown, upper=unknown, first_share=unknown)
    margins = [mean(column) for column in table.margins.T]
    ranks = competition_ranks(bootstrap.score, margins)
    order = best_first(ranks, table.models)
    pairs = (
        separation_of_pairs(leads, order, level=how.level)
        if log.pairs_chosen
        else _tests(log, table, order, how)
    )
    rows = _rows(table, bootstrap, pairs, _outcomes(items))
    rule = next((item.placed_by for item in (*called, *log.skipped)), None)
    judge, bound = judge_figures(items, how=how), dict(_bound_reviewers(log, how=how))
    canaries = canaries_of(log.canaries, how=how)
    planted = [canary.ballots for canary in log.canaries if canary.ballots]
    if jury := jurors_of(items, how=how):
        judge = judge.corrected(len(jury) + 1)  # the jury and each of its judges are tested
    raters = raters_of(items, log.seconds, how=how) if log.seconds else None
    unscored = rule and unscored_warning(items, rule)
    trust = trust_of(
        judge,
        RULES[rule or "native"],
        unscored=unscored,
        bound=[*bound],
        jury=jury,
        canaries=canaries,
        people=raters is not None,
    )
    warnings = [
        Reason("pairs_chosen") if log.pairs_chosen else None,
        early_end_warning(log, rule),
        lone_reviewer(items),
        unscored,
        rule and tie_warning(items, rule),
        *bound.values(),
    ]
    doubts = any(faults(judge)) or any(any(juror_faults(juror)) for juror in jury)
    if not bound and raters is None and (doubts or (canaries is not None and canaries.bound)):
        distrust = Reason("doubtful_jury" if jury else "doubtful_judge", trust=trust.sentence)
        warnings.insert(0, distrust)
    receipt = receipt_of((*called, *planted))
    judged = [item for item, _ in ranked]
    second = strength_views(judged, closure=closure, how=how) if views else ()
    firsts = first_by_rule(items) if views else {}
    settled = settled_of(log.skipped, receipt)
    verdict = board_verdict(
        pairs,
        table.models,
        table.native,
        table.items,
        views=second,
        firsts=firsts,
        decided=settled.decision if settled else None,
        judged=rule is not None and RULES[rule].asks is not None,
        trust=trust,
        equal_length=(
            at_equal_length(table, judged, pairs, judge.length)
            if judge.length.bound and pairs.groups and not log.pairs_chosen
            else None
        ),
        n_items=len({*table.items}),
    )
    return Leaderboard(
        benchmark=log.benchmark,
        protocol=log.protocol,
        verdict=verdict,
        log=log.path,
        eval_id=log.eval_id,
        created=log.created,
        status=log.status,
        judges=judges_of(called),
        placed_by=rule,
        n_items=len(ranked),
        unranked=log.unranked,
        rows=rows,
        pairs=model_pairs(pairs, table.models),
        first_by_rule=firsts,
        views=second,
        control=(
            control_view([sample for sample in log.samples if sample.placement], control, how=how)
            if control
            else None
        ),
        spread=spread([row.borda for row in rows]),
        native_spread=spread([row.native for row in rows]),
        level=how.level,
        draws=how.draws,
        seed=how.seed,
        judge=judge,
        jury=jury,
        canaries=canaries,
        raters=raters,
        receipt=receipt,
        settled=settled,
        settings_differ=different(log.settings.get(log.benchmark, {})),
        warnings=tuple(warning for warning in warnings if warning),
        notes=(*log.notes, *notes(table, bootstrap, items)),
    )


def _tests(log: RankingLog, table: ItemTable, order: Sequence[int], how: Resampling) -> Separation:
    """Tests of all pairs of models over items; for stars also over items asked of only one."""
    if log.by_stars and (stars := star_table([log])).models == table.models:
        return tests_of(scored(stars), stars, order, how)
    return separation(table.borda, order, items=table.items, level=how.level)


def _outcomes(items: Iterable[ItemBallots]) -> dict[str, list[Outcome]]:
    """Outcomes of each model in all items judged to the end, one per match and per grade.

    Matches and points of identical answers count for all models that gave the answer. Items
    without any verdict have no ranking, but they must count here: leaving them out would make the
    unscored rate shrink as judging fails more often.
    """
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for item in items:
        members = {group[0]: group for group in item.groups}
        got: list[tuple[str, Outcome]] = []
        for match in item.matches:
            got += [(side, _result(match, side)) for side in (match.high, match.low)]
        got += [(score.candidate, score.score) for score in item.scores]
        for candidate, outcome in got:
            for model in members.get(candidate, (candidate,)):
                outcomes[model].append(outcome)
    return outcomes


def _result(match: Match, candidate: str) -> Outcome:
    if match.unscored:
        return None
    return "tie" if match.tied else "win" if candidate == match.winner else "loss"


def _rows(
    table: ItemTable,
    bootstrap: ItemBootstrap,
    pairs: Separation,
    by_model: Mapping[str, Sequence[Outcome]],
) -> tuple[LeaderboardRow, ...]:
    margins = [mean(column) for column in table.margins.T]
    outcomes = [by_model.get(model, ()) for model in table.models]
    return LeaderboardRow.rows(
        bootstrap,
        table.models,
        competition_ranks(bootstrap.score, margins),
        (0, 1),  # the interval of a short round robin can leave the range of scores
        **left_open(bootstrap, pairs),
        native=[mean(column) for column in table.native.T],
        native_n=np.sum(~np.isnan(table.native), axis=0).tolist(),
        wins=[outcome.count("win") for outcome in outcomes],
        losses=[outcome.count("loss") for outcome in outcomes],
        ties=[outcome.count("tie") for outcome in outcomes],
        unscored_rate=[
            outcome.count(None) / len(outcome) if outcome else math.nan for outcome in outcomes
        ],
        margin=margins,
        points=[
            mean(points for points in outcome if isinstance(points, float)) for outcome in outcomes
        ],
    )


def _bound_reviewers(log: RankingLog, *, how: Resampling) -> Iterator[tuple[Reason, Reason]]:
    """Reviewers who follow the order of presentation in a peer review, as clause and warning."""
    # If all answers to all items are identical, no reviewer was called and the panel has none.
    for panel in (panel for panel in panels_of(log) if panel.reviewers):
        biases = presentation_bias(panel.ranks, panel.shown, items=panel.items, how=how)
        for reviewer, bias in zip(panel.reviewers, biases, strict=True):
            if bias.bound:
                yield bound_reviewer(reviewer.name, bias), bound_warning(reviewer.name, bias)


def judges_of(items: Iterable[ItemBallots]) -> tuple[str, ...]:
    """Models whose replies rank candidates; without such calls all models called, or the raters."""
    items = list(items)
    calls = {(call.kind, call.model) for item in items for call in item.calls}
    deciding = {model for kind, model in calls if kind in _DECIDING}
    raters = {name for item in items if item.by_people for name in names_in(item)}
    return tuple(sorted(deciding or {model for _, model in calls} or raters))


def first_by_rule(items: Sequence[ItemBallots]) -> Mapping[Rule, tuple[str, ...]]:
    """The first models by each rule that fits some of the `items` but did not place them.

    `items` were judged to the end. In a bracket several rules are sensible: most candidates play
    only one or two matches, and the use of these decides near-ties. Empty for other ballots.

    For each rule these are the models that `rank --place` puts first, several if they are equal in
    score and margin; a rule that ranks no model has no entry.
    """
    rules = fitting(items) if items else ()
    if not any(RULES[rule].knockout for rule in rules):
        return {}
    placed_by = {item.placed_by for item in items}
    first = {rule: _first(items, rule) for rule in rules if rule not in placed_by}
    return {rule: leads for rule, leads in first.items() if leads}


def _first(items: Sequence[ItemBallots], rule: Rule) -> tuple[str, ...]:
    table = ItemTable.of(placed(items, rule))
    scores, margins = ([mean(column) for column in t.T] for t in (table.borda, table.margins))
    ranks = competition_ranks(scores, margins)
    return tuple(model for model, rank in zip(table.models, ranks, strict=True) if rank == 1)
