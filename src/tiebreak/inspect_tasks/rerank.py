"""Judging tasks: one @task per protocol, over answers that already exist.

inspect eval tiebreak/round_robin -T candidates=logs/ --model-role judge=openai/gpt-5

In addition to their own arguments all tasks take those of `CommonArguments`.
"""

from typing import Any, Unpack

from inspect_ai import Task

from tiebreak.inspect_tasks.arguments import CommonArguments, of_type, whole
from tiebreak.inspect_tasks.judging import judging_task
from tiebreak.inspect_tasks.own_protocol import load_protocol
from tiebreak.inspect_tasks.roles import FindRoles, judges, peers, require_readable
from tiebreak.prerequisite import PrerequisiteError, task
from tiebreak.scorers.match import Checklist, Swap
from tiebreak.scorers.protocols import find_protocol, settings_of
from tiebreak.text import Names


@task
def original(**common: Unpack[CommonArguments]) -> Task:
    """Rank candidates by the benchmark's own metric, without a call (SEAL, §3)."""
    return _judging("original", **locals())


@task
def pointwise(**common: Unpack[CommonArguments]) -> Task:
    """Grade every candidate on its own (SEAL, §3)."""
    return _judging("pointwise", **locals())


@task
def fixed_rubric(**common: Unpack[CommonArguments]) -> Task:
    """Write one rubric for the benchmark, then grade every candidate by it (SEAL, §3)."""
    return _judging("fixed_rubric", **locals())


@task
def listwise(**common: Unpack[CommonArguments]) -> Task:
    """Rank all candidates in one call (SEAL, §3)."""
    return _judging("listwise", **locals())


@task
def flat_bracket(
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    **common: Unpack[CommonArguments],
) -> Task:
    """SEAL's bracket with a fixed checklist (SEAL, §3).

    Args:
        tiers: seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: ask a match in the second order of presentation: always, close, sample or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
    """
    return _judging("flat_bracket", **locals())


@task
def seal(
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    refine: bool = True,
    critique: bool = True,
    **common: Unpack[CommonArguments],
) -> Task:
    """Re-rank candidates by SEAL: seeded elimination with a meta-judge (SEAL, §2).

    Args:
        tiers: seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: ask a match in the second order of presentation: always, close, sample or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
        refine: let the meta-judge add checklist items after close matches.
        critique: list observable differences before semi-final and final matches.
    """
    return _judging("seal", **locals())


@task
def swiss(
    rounds: int = 2,
    tiers: int | None = None,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    refine: bool = True,
    **common: Unpack[CommonArguments],
) -> Task:
    """SEAL's judge, seeding and checklist in Swiss pairing, without elimination.

    Args:
        rounds: number of rounds per item.
        tiers: seeding tiers, default min(4, candidates); 1 seeds by lot, without a call.
        swap: ask a match in the second order of presentation: always, close, sample or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
        refine: let the meta-judge add checklist items after close matches.
    """
    return _judging("swiss", **locals())


@task
def round_robin(
    rounds: int = 1,
    swap: Swap = "sample",
    checklist: Checklist = "always",
    newcomers: Names = None,
    baseline: str | None = None,
    **common: Unpack[CommonArguments],
) -> Task:
    """Side-by-side rounds of a round robin on every item; pairs and sides balanced over items.

    Args:
        rounds: number of rounds per item, each with N/2 matches; all N − 1 are full_pairwise. For
            newcomers: the number of opponents that each of them meets on an item.
        swap: ask a match in the second order of presentation: always, close, sample (for each round
            one match in one item of five) or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
        newcomers: ask only the matches of these models; the others have a log already, and rank,
            given both logs, makes one board of all.
        baseline: ask all matches against this model and no others; the score is the win rate.
    """
    return _judging("round_robin", **locals())


@task
def sorted(
    swap: Swap = "sample", checklist: Checklist = "always", **common: Unpack[CommonArguments]
) -> Task:
    """A full order of every item by binary insertion, in about N·log₂N matches.

    Args:
        swap: ask a match in the second order of presentation: always, close, sample or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
    """
    return _judging("sorted", **locals())


@task
def full_pairwise(
    swap: Swap = "sample", checklist: Checklist = "always", **common: Unpack[CommonArguments]
) -> Task:
    """Judge all pairs: the reference that the other protocols are measured against (SEAL, §3).

    Args:
        swap: ask a pair in the second order of presentation: always, close, sample (one of each
            item) or never.
        checklist: vote on the checklist always, or only if the principles come out even (ties).
    """
    return _judging("full_pairwise", **locals())


@task
def stars(rule: bool = True, **common: Unpack[CommonArguments]) -> Task:
    """Give every answer 0 to 3 stars by the key of its item (LLMEval-Fair, figure 11).

    Args:
        rule: if key and answer are both plainly true or false, a rule decides whether the answer is
            correct: the judge rates only its explanation, and a bare answer costs no call.
    """
    return _judging("stars", **locals())


@task
def peer_review(
    reviewers: dict[str, str | None] | list[str | None] | None = None,
    degree: int | None = None,
    method: str = "kemeny_young",
    **common: Unpack[CommonArguments],
) -> Task:
    """Let the models behind the role `peers` rank all answers, including their own (Peer review).

    At least two reviewers are needed.

    Args:
        reviewers: which reviewer is which candidate, if the names do not match: a mapping from
            model to candidate (null: none), or candidates in the order of the peers.
        degree: sparse mode: each reviewer ranks this many answers of others, by a random graph.
        method: how reviews are merged into one ranking: kemeny_young, average, borda, copeland,
            dodgson, irv, kendall or spearman. Reports can apply every method to the same log.
    """
    if degree is not None:
        whole("degree", degree, 2)
    require_readable(method, degree)
    find = peers(reviewers, degree)
    return _judging("peer_review", common, find, degree=degree, method=method)


@task
def own(
    protocol: str | None = None,
    settings: dict[str, Any] | None = None,
    **common: Unpack[CommonArguments],
) -> Task:
    """Judge with your own protocol.

    Args:
        protocol: FILE.py@NAME: the file that registers it, and the name that it registers.
        settings: the protocol's own arguments.
    """
    if not isinstance(settings or {}, dict):
        raise PrerequisiteError(
            f"settings is {settings!r}: it must be like -T settings='{{\"lives\": 2}}'."
        )
    return judging_task(load_protocol(protocol), settings or {}, **common)


def _judging(name: str, common: CommonArguments, find: FindRoles = judges, **settings: Any) -> Task:
    """Build a task from the arguments (`locals`) of its function."""
    protocol = find_protocol(name)
    for setting, wanted in settings_of(protocol).items():
        of_type(setting, settings[setting], wanted)
    return judging_task(protocol, settings, find, **common)
