"""The cost of protocols on a pool, by running each with dry judges of several habits.

    variants, contests  →  a sample of the items  →  ballots of a dry judge, for every scenario
                        →  totals over all items  →  the range of calls, tokens, money and hours

A range goes from a brief judge that finds no two answers close to a wordy judge that finds all of
them close; it includes the uncertainty of the sample and of the tokenizer.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np

from tiebreak.inspect_tasks.roles import (
    match_reviewers,
    require_graph,
    require_panel,
    require_readable,
)
from tiebreak.prices import Price
from tiebreak.progress import tracked
from tiebreak.rankers.profile import FloatArray
from tiebreak.scorers.ballots import Call, CallKind, ItemBallots, Reviewer
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.protocols import Variant, in_event_loop, judge_item
from tiebreak.scorers.questions import ReviewQuestion
from tiebreak.scorers.stars import rated_by_rule
from tiebreak.study.estimate.dry_judge import (
    CountAnswer,
    CountCall,
    DryJudge,
    Habit,
    TokenCounter,
)
from tiebreak.study.estimate.experience import Experience
from tiebreak.study.estimate.prices import PricedModel, reasons
from tiebreak.study.estimate.totals import Range, Stratum, Total, range_of, strata, total


@dataclass(frozen=True, slots=True)
class Judges:
    """Models that would answer, and their prices (None: unknown).

    The meta-judge is by default the judge. Without a `judge` there are only `peers`, which answer
    in peer review alone.
    """

    judge: str | None = None
    price: Price | None = None
    meta_judge: str | None = None
    meta_price: Price | None = None
    peers: tuple[PricedModel, ...] = ()

    @property
    def prices(self) -> dict[str, Price | None]:
        """Prices of all models that can be asked, by model."""
        judges = ((self.judge, self.price), (self.meta_judge, self.meta_price))
        named = {model: price for model, price in judges if model is not None}
        return named | {peer.model: peer.price for peer in self.peers}

    @property
    def answering(self) -> dict[str, set[str]]:
        """Names of the models that answer, by the role of a call."""
        asked = {role: {priced.model} for role, priced in self.by_role.items()}
        return {**asked, "peers": {peer.model for peer in self.peers}}

    @property
    def by_role(self) -> dict[str, PricedModel]:
        """Models that are billed, by role; peers are not included."""
        if self.judge is None:
            return {}
        judge = meta_judge = PricedModel(self.judge, self.price)
        if self.meta_judge is not None:
            meta_judge = PricedModel(self.meta_judge, self.meta_price)
        return {"judge": judge, "meta_judge": meta_judge}


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast calls are made.

    `connections` calls run side by side and take `seconds` each; at most `per_minute` start in a
    minute (None: no limit). Inspect starts with 20 connections and reaches its 100 after 140 calls,
    unless a provider refuses so many.
    """

    connections: int = 100
    seconds: float = 10.0
    per_minute: float | None = None

    def hours(self, calls: float, depth: float) -> float:
        """Hours for `calls`, at least those of `depth` calls that wait for each other."""
        side_by_side = calls * self.seconds / self.connections
        begun = 60 * calls / self.per_minute if self.per_minute else 0.0
        return max(side_by_side, begun, depth * self.seconds) / 3600


@dataclass(frozen=True, slots=True)
class ProtocolEstimate:
    """Calls, tokens and cost of one protocol.

    `calls` and tokens are totals over all items, `cost` is in US dollars, None if a price is
    unknown. `depth` is the number of calls that wait for each other in the item in which it is
    largest. `longest` has the number of tokens of the longest prompt of each model; `by_peers` is
    whether these models are reviewers.
    """

    label: str
    calls: Range
    calls_per_item: Range
    tokens_in: Range
    tokens_out: Range
    cost: Range | None
    depth: Range
    hours: Range
    longest: Mapping[str, int]
    by_peers: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the number of calls is the same whatever the judge replies."""
        return self.calls.low == self.calls.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimates of one or several protocols on the same items.

    `n_identical` items need no call, because all answers are identical; prompts were counted on
    at least `n_sampled` items, with more for protocols that ask less. `counted_by` names the way of
    counting. `reviewers` are the peers of `judges`, in their order. `n_media` items have images or
    files. `reasoning_tokens` are those of a call, None if the user gave no number.
    """

    judges: Judges
    reviewers: tuple[Reviewer, ...]
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    n_items: int
    n_identical: int
    n_sampled: int
    counted_by: str
    reasoning_tokens: int | None
    pace: Throughput
    words: Range
    close: Range
    ties: Range
    experience: Experience | None
    protocols: tuple[ProtocolEstimate, ...]
    n_media: int = 0

    @property
    def hiding(self) -> tuple[str, ...]:
        """The models that may be billed for reasoning tokens that the estimate does not count."""
        if self.reasoning_tokens is not None:
            return ()
        asked = {model for model in self.judges.prices if reasons(model) is not False}
        if self.experience is not None:
            asked &= {peer.model for peer in self.judges.peers} - self.experience.reviews.keys()
        return tuple(sorted(asked))


WORDS: Final = Range(8, 18, 40)
"""Words of a text that a judge writes: a bare remark, a sentence, two or three sentences."""

CLOSE: Final = Range(0.0, 0.5, 1.0)
"""Share of close verdicts. The paper's judge found 15% close: 11.9 calls an item are one seeding,
seven matches, three critiques and 0.9 refinements (SEAL, table 5). On a pool of near-tied models,
the usual reason to judge, 90% were measured. The likely value is in between."""

TIES: Final = Range(0.0, 0.05, 0.25)
"""Share of even verdicts, which end the search of `sorted` early."""

DEFAULT_PACE: Final = Throughput()
SAMPLE: Final = 32
"""Number of items whose prompts are counted."""

CALLS: Final = 2_000
"""Approximate number of made-up calls of a protocol in one scenario."""

EXACT: Final = 16
"""Largest number of models for which similar items must have equally many different answers."""

SHARED: Final = frozenset({"rubric"})
"""Kinds of calls that are made once for all items."""


class _Scenario(NamedTuple):
    """A judge's habit, and the end of the range of token counts: -1 low, 0 likely, 1 high."""

    habit: Habit
    end: int


class _Run(NamedTuple):
    """A protocol's run in a scenario; `total` has calls, tokens in, tokens out and dollars."""

    total: Total
    depth: int
    longest: Mapping[str, int]


def estimate(
    contests: Sequence[Contest],
    variants: Sequence[Variant],
    judges: Judges,
    counter: TokenCounter,
    *,
    pace: Throughput = DEFAULT_PACE,
    reasoning_tokens: int | None = None,
    experience: Experience | None = None,
    sample: int | None = SAMPLE,
    seed: int = 0,
    reviewers: object = None,
) -> Estimate:
    """Estimate calls, tokens and cost of protocols on items; no model is called.

    Figures of `experience` with the judge replace counted and assumed ones. The other arguments are
    as in `estimate_cost`.

    Raises:
        EstimateError: a protocol asks a question to which no reply can be made up, or a role that
            `judges` does not fill.
        PrerequisiteError: there is only one peer, the peers do not fit the candidates, or they
            cannot link all candidates in sparse mode.
        ProtocolError: a peer review without peers, or settings that do not fit the models.
    """
    models = tuple(sorted({model for contest in contests for model in contest.models}))
    for variant in variants:
        variant.protocol.check(variant.settings, models)
    panel = _find_reviewers(judges, models, variants, reviewers)
    trial = _Trial(
        contests, sample, judges, panel, counter, reasoning_tokens or 0, experience, seed
    )
    ties = (experience and experience.tie) or TIES
    close = (experience and experience.close) or CLOSE
    scenarios = _scenarios(close, ties)
    chosen = [trial.taken(variant, scenarios[0]) for variant in variants]
    rows = tuple(
        _row(trial, variant, scenarios, items, pace)
        for variant, items in tracked(
            list(zip(variants, chosen, strict=True)), "judging with made-up verdicts"
        )
    )
    looked_at = (trial.strata(sample), *chosen)
    return Estimate(
        judges=judges,
        reviewers=panel,
        benchmarks=tuple(dict.fromkeys(contest.benchmark for contest in contests)),
        models=models,
        n_items=len(contests),
        n_identical=0
        if all(variant.protocol.rule.judges_one for variant in variants)
        else sum(len(contest.answers) == 1 for contest in contests),
        n_sampled=min(sum(len(alike.taken) for alike in items) for items in looked_at),
        counted_by=counter.name,
        reasoning_tokens=reasoning_tokens,
        pace=pace,
        words=WORDS,
        close=close,
        ties=ties,
        experience=experience,
        protocols=rows,
        n_media=sum(contest.media != "" for contest in contests),
    )


def _find_reviewers(
    judges: Judges, candidates: Sequence[str], variants: Sequence[Variant], given: object
) -> tuple[Reviewer, ...]:
    """Match peers with candidates, and check that in sparse mode they can link all candidates."""
    models = [peer.model for peer in judges.peers]
    reviewers = match_reviewers(models, candidates, given)
    if any(variant.protocol.rule.reviewed for variant in variants):
        require_panel(models)
    for variant in variants:
        degree = variant.settings.get("degree")
        if reviewers and variant.protocol.rule.reviewed and degree is not None:
            require_readable(variant.settings.get("method", ""), degree)
            require_graph(reviewers, candidates, degree)
    return reviewers


def _scenarios(close: Range, ties: Range) -> list[_Scenario]:
    """The usual judge, the two extremes, then the other two corners."""
    corners = [(0, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)]
    return [
        _Scenario(
            Habit(
                close=close.at(by),
                tie=min(ties.at(by), close.at(by)),
                words=round(WORDS.at(end)),
                indent=2 if end > 0 else None,
            ),
            end,
        )
        for by, end in corners
    ]


def _row(
    trial: "_Trial",
    variant: Variant,
    scenarios: Sequence[_Scenario],
    chosen: Sequence[Stratum],
    pace: Throughput,
) -> ProtocolEstimate:
    runs = [trial.run(variant, scenario, chosen) for scenario in scenarios[:3]]
    # If no habit changes the number of calls, the other corners cannot widen a range.
    if len({run.total.value[0] for run in runs}) > 1 or any(run.total.error[0] for run in runs):
        runs += [trial.run(variant, scenario, chosen) for scenario in scenarios[3:]]
    likely, *extremes = (run.total for run in runs)
    calls, tokens_in, tokens_out, cost = (
        range_of(likely, extremes, quantity) for quantity in range(4)
    )
    depths = [run.depth for run in runs]
    depth = Range(min(depths), depths[0], max(depths))
    n_items = len(trial.contests)
    return ProtocolEstimate(
        label=variant.label,
        calls=calls,
        calls_per_item=Range(*(number / n_items for number in calls)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if math.isnan(cost.likely) else cost,
        depth=depth,
        hours=Range(*(pace.hours(*ends) for ends in zip(calls, depth, strict=True))),
        longest=runs[0].longest,
        by_peers=variant.protocol.rule.reviewed,
    )


@dataclass(frozen=True)
class _Trial:
    """The items and the judge that all runs have in common."""

    contests: Sequence[Contest]
    sample: int | None
    judges: Judges
    reviewers: tuple[Reviewer, ...]
    counter: TokenCounter
    reasoning_tokens: int
    experience: Experience | None
    seed: int

    @cached_property
    def _kinds(self) -> list[Hashable]:
        """The kind of each item; fixed protocols ask the same number of questions about a kind.

        Above `EXACT` models kinds join items with about the same number of different answers.
        """
        widest = max((len(contest.models) for contest in self.contests), default=0)
        step = 1 + max(0, widest - EXACT) // 8
        return [
            (c.benchmark, c.rubric_name, -(-len(c.answers) // step), _without_judge(c))
            for c in self.contests
        ]

    def strata(self, most: int | None, variant: Variant | None = None) -> list[Stratum]:
        """The items by kind, of which about `most` are chosen."""
        kinds = self._kinds
        if variant is not None and variant.protocol.name == "round_robin":
            # The schedule determines the items of which a match is asked in both orders.
            rounds = variant.settings.get("rounds", 1)
            twice = [c.schedule.sampled(c.position) < rounds for c in self.contests]
            kinds = list(zip(kinds, twice, strict=True))
        lengths = [len(c.task) + sum(map(len, c.answers.values())) for c in self.contests]
        return strata(kinds, lengths, most)

    def taken(self, variant: Variant, scenario: _Scenario) -> list[Stratum]:
        """The items to run a protocol on, fewer if it asks thousands of questions about one."""
        if self.sample is None or max(map(len, (c.models for c in self.contests))) <= EXACT:
            return self.strata(self.sample, variant)
        largest = max(range(len(self.contests)), key=lambda i: len(self.contests[i].answers))
        alone = [Stratum(1, (largest,))]
        judged = in_event_loop(partial(self._judge, variant, scenario, alone))
        calls = len(judged[largest].calls)
        return self.strata(max(1, min(self.sample, CALLS // max(1, calls))), variant)

    def run(self, variant: Variant, scenario: _Scenario, chosen: Sequence[Stratum]) -> _Run:
        """Run a protocol on the `chosen` items."""
        judged = in_event_loop(partial(self._judge, variant, scenario, chosen))
        calls = [call for ballots in judged.values() for call in ballots.calls]
        once = [call for call in calls if call.kind in SHARED]
        billed = total(
            chosen,
            {i: self._bill(c for c in b.calls if c.kind not in SHARED) for i, b in judged.items()},
        )
        return _Run(
            Total(billed.value + self._bill(once), billed.error),
            depth=max((call.depth + 1 for call in calls), default=0),
            longest=_longest(calls),
        )

    async def _judge(
        self, variant: Variant, scenario: _Scenario, chosen: Sequence[Stratum]
    ) -> dict[int, ItemBallots]:
        """The ballots of the `chosen` items, by their position in the pool."""
        settings = {**variant.settings, **variant.protocol.prepare(self.contests)}
        reviewers = self.reviewers if variant.protocol.rule.reviewed else ()
        models = self.judges.by_role
        if reviewers:
            names = [reviewer.name for reviewer in reviewers]
            models = dict(zip(names, self.judges.peers, strict=True))
        counts = self._counts(scenario.end)
        judged: dict[int, ItemBallots] = {}
        for item in sorted(item for stratum in chosen for item in stratum.taken):
            rng = Random(f"{self.seed} {item} {variant.label} {scenario}")
            judge = DryJudge(scenario.habit, *counts, models, rng, reviewers)
            judged[item] = await judge_item(
                variant.protocol, self.contests[item], judge, settings=settings
            )
        return judged

    def _counts(self, end: int) -> tuple[CountCall, CountAnswer]:
        """Counters of the tokens of calls and answers, at one end of their range."""
        counter = self.counter
        factor = Range(counter.low, 1.0, counter.high).at(end)
        known = self._known()

        def call(question: Question[Any], prompt: Prompt, reply: str) -> tuple[float, float]:
            if (question.kind, question.reviewer) in known:
                tokens_in, tokens_out = known[question.kind, question.reviewer]
                return tokens_in.at(end), tokens_out.at(end)
            read = counter.count(f"{prompt.system}\n{prompt.user}")
            if end > 0:
                # Providers that enforce a reply schema may bill its tokens.
                read += counter.count(prompt.schema.json_schema.model_dump_json(exclude_none=True))
            return factor * read, factor * counter.count(reply) + self.reasoning_tokens

        @cache
        def counted(text: str) -> float:
            return factor * counter.count(text)

        def answer(question: Question[Any], text: str) -> float:
            return 0.0 if (question.kind, question.reviewer) in known else counted(text)

        return call, answer

    def _known(self) -> dict[tuple[CallKind, str], tuple[Range, Range]]:
        if self.experience is None:
            return {}
        known = {(kind, ""): tokens for kind, tokens in self.experience.tokens.items()}
        for reviewer in self.reviewers:
            if reviewer.model in self.experience.reviews:
                tokens = self.experience.reviews[reviewer.model]
                known[ReviewQuestion.kind, reviewer.name] = tokens
        return known

    def _bill(self, calls: Iterable[Call]) -> FloatArray:
        """Sums of calls, tokens in, tokens out and dollars (NaN if a price is unknown)."""
        repairs = self.experience.repairs if self.experience else 0.0
        rows = [
            (1 + repairs, c.input_tokens, c.output_tokens, math.nan if c.cost is None else c.cost)
            for c in calls
        ]
        bill: FloatArray = np.array(rows, np.float64).reshape(-1, 4).sum(axis=0)
        return bill


def _without_judge(contest: Contest) -> int:
    """The number of answers that a rule rates by the key, 0 if the contest has none."""
    return sum(contest.target != "" and rated_by_rule(contest, name) for name in contest.answers)


def _longest(calls: Iterable[Call]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for call in calls:
        longest[call.model] = max(call.input_tokens, longest.get(call.model, 0))
    return longest
