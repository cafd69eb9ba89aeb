"""What judging would cost, from files or a pool and plain names to an `Estimate`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal

from tiebreak.candidates import CandidatePool, load_candidates
from tiebreak.estimate.estimate import DEFAULT_PACE, SAMPLE, estimate
from tiebreak.estimate.figures import Estimate, Pace
from tiebreak.estimate.request import (
    read_contests,
    read_experience,
    read_judges,
    read_matching,
    read_protocols,
)
from tiebreak.estimate.tokens import token_counter
from tiebreak.paths import Paths


def estimate_cost(
    candidates: CandidatePool | Paths,
    protocols: str | Sequence[str] = "seal,full_pairwise",
    *,
    judge: str | None = None,
    meta_judge: str | None = None,
    peers: str | Sequence[str] | None = None,
    prices: Sequence[str] = (),
    price_file: str | PathLike[str] | None = None,
    reasoning_tokens: int = 0,
    from_log: str | None = None,
    pace: Pace = DEFAULT_PACE,
    sample: int | None = SAMPLE,
    task_type: str | None = None,
    rubric: str | None = None,
    reviewers: str | Sequence[str] | Mapping[str, str] | None = None,
    saturated_only: bool = False,
    merge_identical: bool = True,
    seed: int = 0,
    mode: Literal["strict", "intersect"] = "strict",
    native: str | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> Estimate:
    """Estimate what judging would cost: calls, tokens, money and hours. No model is called.

    Args:
        candidates: a pool; or Inspect logs, lm-eval outputs and pools as files, and folders.
        protocols: labels such as `seal` or `swiss:rounds=3`, or FILE.py@NAME; "all" stands for the
            built-in protocols with one judge.
        judge: the model that judges, in Inspect's notation.
        meta_judge: the model that refines; by default the judge.
        peers: the models that review each other in `peer_review`.
        prices: `IN,OUT` or `MODEL=IN,OUT`, in dollars per million tokens.
        price_file: a file of prices as for Inspect's `--model-cost-config`.
        reasoning_tokens: hidden tokens that every call is billed on top of its reply.
        from_log: an earlier ranking log of this judge, for its tokens and close calls.
        pace: how fast calls are made.
        sample: number of items whose prompts are counted; None: all.
        task_type: as the judging tasks take it, as are the following.
        rubric: file of a rubric.
        reviewers: which peer is which candidate, where their names do not say.
        saturated_only: judge saturated items only.
        merge_identical: judge identical answers once.
        seed: seed of all draws.
        mode: for files, as are the following: as in `load_candidates`.
        native: name of the native score.
        filter: lm-eval filter whose score is taken.
        rename: names of benchmarks to replace.

    Raises:
        EstimateError: a protocol, a model or a price is missing or cannot be read.
        CandidateError: the candidates cannot be loaded or aligned.
        RankingLogError: `from_log` is not a ranking log.
        PrerequisiteError: the pool, the rubric or the peers do not fit the protocols.
    """
    variants = read_protocols(protocols if isinstance(protocols, str) else ",".join(protocols))
    given = peers if peers is None or isinstance(peers, str) else ",".join(peers)
    judges = read_judges(variants, judge, meta_judge, given, prices, price_file)
    experience = read_experience(from_log) if from_log else None
    pool = candidates
    if not isinstance(pool, CandidatePool):
        pool = load_candidates(pool, mode=mode, native=native, filter=filter, rename=rename)
    contests = read_contests(
        pool,
        task_type=task_type,
        rubric=rubric,
        saturated_only=saturated_only,
        merge_identical=merge_identical,
        seed=seed,
    )
    return estimate(
        contests,
        variants,
        judges,
        token_counter(list(judges.prices)),
        pace=pace,
        reasoning_tokens=reasoning_tokens,
        experience=experience,
        sample=sample,
        seed=seed,
        reviewers=read_matching(reviewers),
    )
