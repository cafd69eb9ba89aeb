"""Few models: where judging every pair asks about as little as SEAL's bracket does.

A bracket saves calls as models grow in number. How many it takes follows from the protocols
themselves, so they are run here with a judge that only counts.
"""

from collections.abc import Mapping
from typing import Final

from tiebreak.candidates import CandidatePool
from tiebreak.estimate.cost import read_protocols
from tiebreak.estimate.estimate import Estimate, Judges, estimate
from tiebreak.estimate.tokens import TokenCounter
from tiebreak.estimate.totals import Range
from tiebreak.inspect_tasks.contests import contest_samples, restore_contest

MOST: Final = 8
"""The largest field that is looked at: in larger ones a bracket asks a fraction of all pairs."""

_BRACKET, _ALL_PAIRS, _SOME_PAIRS = "seal", "full_pairwise", "round_robin"
_SAMPLE: Final = 8


def small_field(pool: CandidatePool) -> str | None:
    """Which protocols ask about as little as SEAL of so few models; None where none does."""
    n_models = max(len(pool.models_of(name)) for name in pool.benchmarks)
    if not 2 < n_models <= MOST:
        return None
    contests = [restore_contest(sample.metadata or {}) for sample in contest_samples(pool)]
    protocols = read_protocols(",".join((_BRACKET, _ALL_PAIRS, _SOME_PAIRS)))
    counter = TokenCounter("nothing", lambda text: 0.0)
    found = estimate(contests, protocols, Judges("any/judge"), counter, sample=_SAMPLE)
    return few_models(found)


def few_models(found: Estimate) -> str | None:
    """The sentence of `small_field`, of what was estimated; None where it lacks a protocol."""
    calls: Mapping[str, Range] = {row.label: row.calls_per_item for row in found.protocols}
    if not {_BRACKET, _ALL_PAIRS} <= calls.keys():
        return None
    bracket, pairs = calls[_BRACKET], calls[_ALL_PAIRS]
    if pairs.likely > bracket.high or not pairs.likely:
        return None
    saves = "nothing" if pairs.likely <= bracket.likely else "little"
    said = (
        f"With {len(found.models)} models a bracket saves {saves}: {_ALL_PAIRS} judges every pair "
        f"in {_number(pairs.likely)} calls an item, {_BRACKET} asks {_number(bracket.likely)} "
        f"({_number(bracket.low)}–{_number(bracket.high)})"
    )
    some = calls.get(_SOME_PAIRS)
    return said if some is None else f"{said}, {_SOME_PAIRS} {_number(some.likely)}"


def _number(calls: float) -> str:
    return f"{calls:.1f}"
