"""What protocols would cost on a pool: each is run with dry judges of several habits.

    variants, contests  →  a sample of the items  →  ballots of a dry judge, for every scenario
                        →  totals over all items  →  the range of calls, tokens, money and hours

A range goes from the judge to whom no two answers are close, and who is brief, to the one to whom
all are, and who is wordy; where an interval is left by the sample or the tokenizer, it is in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

import anyio

from tiebreak.estimate.dry_judge import DryJudge, Habit, Meter, Payer
from tiebreak.estimate.experience import Experience
from tiebreak.estimate.prices import Price
from tiebreak.estimate.tokens import TokenCounter
from tiebreak.estimate.totals import Interval, Stratum, Total, interval, strata, total
from tiebreak.scorers.ballots import Call, ItemBallots
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Prompt, Question
from tiebreak.scorers.protocols import judge_item
from tiebreak.scorers.variants import Variant

WORDS: Final = Interval(8, 18, 40)
"""Words of a text that a judge writes: a bare remark, a sentence, two or three of them."""

CLOSE: Final = Interval(0.0, 0.15, 1.0)
"""Share of close verdicts. The likely one is that of the paper's judge: 11.9 calls an item are one
seeding, seven matches, three critiques and 0.9 refinements (SEAL, table 5)."""

TIES: Final = Interval(0.0, 0.05, 0.25)
"""Share of even verdicts, which end the search of `sorted` early."""

SAMPLE: Final = 64
SHARED: Final = frozenset({"rubric"})
"""Kinds of calls that are made once for all items."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who would answer, at what price (None: unknown); the meta-judge is the judge by default."""

    judge: str
    price: Price | None = None
    meta_judge: str | None = None
    meta_price: Price | None = None

    @property
    def payers(self) -> dict[str, Payer]:
        """Who is billed, by role."""
        meta = (self.judge, self.price)
        if self.meta_judge is not None:
            meta = (self.meta_judge, self.meta_price)
        return {"judge": _payer(self.judge, self.price), "meta_judge": _payer(*meta)}


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are made.

    `connections` calls run side by side and take `seconds` each; no more than `per_minute` are
    begun in a minute (None: as many as fit).
    """

    connections: int = 10
    seconds: float = 10.0
    per_minute: float | None = None

    def hours(self, calls: float, depth: float) -> float:
        """How long it takes: the calls of an item that wait for each other set the least."""
        side_by_side = calls * self.seconds / self.connections
        begun = 60 * calls / self.per_minute if self.per_minute else 0.0
        return max(side_by_side, begun, depth * self.seconds) / 3600


@dataclass(frozen=True, slots=True)
class ProtocolEstimate:
    """What one protocol would ask.

    `fixed` tells whether the number of calls does not depend on the replies. `calls` and tokens
    are totals over all items, `cost` is in US dollars, None where a price is unknown. `depth` is
    the number of calls that wait for each other, in the item where it is largest.
    """

    label: str
    fixed: bool
    calls: Interval
    calls_per_item: Interval
    tokens_in: Interval
    tokens_out: Interval
    cost: Interval | None
    depth: Interval
    hours: Interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some protocols would ask about the same items.

    `n_identical` items need no call, because all answers are identical; prompts were counted on
    `n_sampled` items. `counted_by` says how.
    """

    judges: Judges
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    n_items: int
    n_identical: int
    n_sampled: int
    counted_by: str
    reasoning_tokens: int
    pace: Pace
    words: Interval
    close: Interval
    experience: Experience | None
    longest_prompt: float
    protocols: tuple[ProtocolEstimate, ...]


class _Scenario(NamedTuple):
    """A judge's habit, and the end of what counting tokens leaves open: -1 low, 0, 1 high."""

    habit: Habit
    end: int


def estimate(
    contests: Sequence[Contest],
    variants: Sequence[Variant],
    judges: Judges,
    counter: TokenCounter,
    *,
    pace: Pace = Pace(),
    reasoning_tokens: int = 0,
    experience: Experience | None = None,
    sample: int | None = SAMPLE,
    seed: int = 0,
) -> Estimate:
    """Estimate what protocols would ask; no model is called.

    Args:
        contests: the items.
        variants: the protocols.
        judges: who would answer, and at what price.
        counter: counts tokens.
        pace: how fast calls are made.
        reasoning_tokens: hidden tokens that every call is billed on top.
        experience: what is known about this judge; goes before what is counted or assumed.
        sample: number of items whose prompts are counted; None: all.
        seed: seed of the made-up replies.

    Raises:
        DryJudgeError: a protocol asks something to which no reply can be made up.
    """
    chosen = strata(
        [(c.benchmark, c.rubric_name, len(c.answers)) for c in contests],
        [len(c.task) + sum(map(len, c.answers.values())) for c in contests],
        sample,
    )
    scenarios = _scenarios(experience)
    longest = [0.0]
    dry = _DryRun(contests, chosen, judges.payers, seed, longest)
    ...
