"""Judging tasks: one @task per protocol, over answers that already exist.

inspect eval tiebreak/seal -T candidates=logs/ --model-role judge=openai/gpt-5

All tasks take the arguments of `Common` beside their own.
"""

from typing import Any, Unpack

from inspect_ai import Task, task

from tiebreak.inspect_tasks.arguments import Common, flag, whole
from tiebreak.inspect_tasks.cast import peers, require_readable
from tiebreak.inspect_tasks.judging import judging_task
from tiebreak.inspect_tasks.own_protocol import load_protocol
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers import AGGREGATORS
from tiebreak.scorers.match import Swap
from tiebreak.scorers.protocols import find_protocol


@task
def original(**common: Unpack[Common]) -> Task:
    """Rank candidates by the benchmark's own metric; nobody is asked (SEAL, §3).

    Args:
        common: See `Common`.
    """
    return judging_task(find_protocol("original"), {}, **common)


@task
def pointwise(**common: Unpack[Common]) -> Task:
    """Grade every candidate on its own (SEAL, §3).

    Args:
        common: See `Common`.
    """
    return judging_task(find_protocol("pointwise"), {}, **common)


@task
def fixed_rubric(**common: Unpack[Common]) -> Task:
    """Write one rubric for the benchmark, then grade every candidate by it (SEAL, §3).

    Args:
        common: See `Common`.
    """
    return judging_task(find_protocol("fixed_rubric"), {}, **common)


@task
def listwise(**common: Unpack[Common]) -> Task:
    """Rank all candidates in one call (SEAL, §3).

    Args:
        common: See `Common`.
    """
    return judging_task(find_protocol("listwise"), {}, **common)


@task
def flat_bracket(tiers: int | None = None, swap: Swap = "close", **common: Unpack[Common]) -> Task:
    """SEAL's bracket with a checklist that stays as it is (SEAL, §3).

    Args:
        tiers: Seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: Ask a match in the second order of presentation: always, close or never.
        common: See `Common`.
    """
    settings = {"tiers": _tiers(tiers), "swap": _swap(swap)}
    return judging_task(find_protocol("flat_bracket"), settings, **common)


@task
def seal(
    tiers: int | None = None,
    swap: Swap = "close",
    refine: bool = True,
    critique: bool = True,
    **common: Unpack[Common],
) -> Task:
    """Re-rank candidates by SEAL: seeded elimination with a meta-judge (SEAL, §2).

    Args:
        tiers: Seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: Ask a match in the second order of presentation: always, close or never.
        refine: Let the meta-judge add checklist items after close matches.
        critique: List observable differences before semi-final and final matches.
        common: See `Common`.
    """
    settings = {
        "tiers": _tiers(tiers),
        "swap": _swap(swap),
        "refine": flag("refine", refine),
        "critique": flag("critique", critique),
    }
    return judging_task(find_protocol("seal"), settings, **common)


@task
def swiss(
    rounds: int = 2,
    tiers: int | None = None,
    swap: Swap = "close",
    refine: bool = True,
    **common: Unpack[Common],
) -> Task:
    """SEAL's judge, seeding and checklist in Swiss pairing: nobody is eliminated.

    Args:
        rounds: Rounds of an item.
        tiers: Seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: Ask a match in the second order of presentation: always, close or never.
        refine: Let the meta-judge add checklist items after close matches.
        common: See `Common`.
    """
    whole("rounds", rounds, 1)
    settings = {
        "rounds": rounds,
        "tiers": _tiers(tiers),
        "swap": _swap(swap),
        "refine": flag("refine", refine),
    }
    return judging_task(find_protocol("swiss"), settings, **common)


@task
def sorted(swap: Swap = "never", **common: Unpack[Common]) -> Task:
    """A full order of every item by binary insertion, in about N·log₂N matches.

    Args:
        swap: Ask a match in the second order of presentation: always, close or never.
        common: See `Common`.
    """
    return judging_task(find_protocol("sorted"), {"swap": _swap(swap)}, **common)


@task
def full_pairwise(swap: Swap = "never", **common: Unpack[Common]) -> Task:
    """Judge all pairs: the reference that the other protocols are measured against (SEAL, §3).

    Args:
        swap: Ask a pair in the second order of presentation: always, close or never.
        common: See `Common`.
    """
    return judging_task(find_protocol("full_pairwise"), {"swap": _swap(swap)}, **common)


@task
def peer_review(
    reviewers: dict[str, str | None] | list[str | None] | None = None,
    degree: int | None = None,
    method: str = "kemeny_young",
    **common: Unpack[Common],
) -> Task:
    """Let the models behind the role `peers` rank all answers, their own among them (Peer review).

    Args:
        reviewers: Which reviewer is which candidate, where names do not tell: a mapping from model
            to candidate (null: none), or candidates in the order of the peers.
        degree: Sparse mode: each reviewer ranks so many answers of others, by a random graph.
        method: What makes one ranking of all reviews: kemeny_young, average, borda, copeland,
            dodgson, irv, kendall or spearman. Reports can apply every method to the same log.
        common: See `Common`.
    """
    if degree is not None:
        whole("degree", degree, 2)
    if str(method) not in AGGREGATORS:  # the command line makes a list of several
        raise PrerequisiteError(
            f"method is {method!r}: it must be one of {', '.join(AGGREGATORS)}."
        )
    require_readable(method, degree)
    settings = {"degree": degree, "method": method}
    return judging_task(find_protocol("peer_review"), settings, peers(reviewers, degree), **common)


@task
def own(
    protocol: str | None = None,
    settings: dict[str, Any] | None = None,
    **common: Unpack[Common],
) -> Task:
    """Judge with a protocol of your own.

    Args:
        protocol: FILE.py@NAME: the file that registers it, and the name that it registers.
        settings: The protocol's own arguments.
        common: See `Common`.
    """
    if not isinstance(settings or {}, dict):
        raise PrerequisiteError(
            f"settings is {settings!r}: it must be like -T settings='{{\"lives\": 2}}'."
        )
    return judging_task(load_protocol(protocol), settings or {}, **common)


def _swap(swap: str) -> str:
    if swap not in ("always", "close", "never"):
        raise PrerequisiteError(f"swap is {swap!r}: it must be always, close or never.")
    return swap


def _tiers(tiers: int | None) -> int | None:
    if tiers is not None:
        whole("tiers", tiers, 1)
    return tiers
