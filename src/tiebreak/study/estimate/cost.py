"""The cost of judging, from files or a pool and plain names.

`estimate_cost` makes an `Estimate`; the other functions read a user's input: protocols, judges,
prices, an earlier log, reviewers.

`small_field` tells whether judging every pair needs about as few calls as SEAL's bracket, which
saves calls only with many models. The numbers follow from the protocols themselves, so they are run
here with a judge that only counts.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal

from tiebreak.candidates import CandidatePool, load_by_models, load_candidates
from tiebreak.inspect_tasks.arguments import names as listed_names
from tiebreak.inspect_tasks.canaries import CANARY
from tiebreak.inspect_tasks.contests import contest_samples, require_comparable, restore_contest
from tiebreak.inspect_tasks.judging import require_no_rubric
from tiebreak.inspect_tasks.own_protocol import load_protocol
from tiebreak.inspect_tasks.planting import planted
from tiebreak.inspect_tasks.roles import HOW_TO_MATCH
from tiebreak.paths import Paths
from tiebreak.plain_yaml import read_yaml
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.protocols import Variant, read_variant, split_labels
from tiebreak.scorers.session import ProtocolError
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.dry_judge import TokenCounter, token_counter
from tiebreak.study.estimate.estimate import (
    DEFAULT_PACE,
    SAMPLE,
    Estimate,
    Judges,
    Throughput,
    estimate,
)
from tiebreak.study.estimate.experience import (
    Experience,
    experience_beside,
    experience_of,
)
from tiebreak.study.estimate.prices import PricedModel, known_prices
from tiebreak.study.estimate.totals import Range
from tiebreak.text import split_names


def estimate_cost(
    candidates: CandidatePool | Paths,
    protocols: str | Sequence[str] = "round_robin,seal,full_pairwise",
    *,
    judge: str | None = None,
    meta_judge: str | None = None,
    peers: str | Sequence[str] | None = None,
    prices: Sequence[str] = (),
    price_file: str | PathLike[str] | None = None,
    reasoning_tokens: int | None = None,
    from_log: str | None = None,
    pace: Throughput = DEFAULT_PACE,
    sample: int | None = SAMPLE,
    task_type: str | None = None,
    rubric: str | None = None,
    reviewers: str | Sequence[str] | Mapping[str, str] | None = None,
    saturated_only: bool = False,
    merge_identical: bool = True,
    seed: int = 0,
    mode: Literal["strict", "intersect", "union"] = "strict",
    native: str | None = None,
    filter: str | None = None,
    rename: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    same_settings: bool = False,
) -> Estimate:
    """Estimate the cost of judging: calls, tokens, money and hours. No model is called.

    Args:
        candidates: a pool; or Inspect logs, lm-eval outputs and pools as files, and folders.
        protocols: labels such as `seal` or `swiss:rounds=3`, or FILE.py@NAME; "all" means all
            built-in protocols with one judge.
        judge: the model that judges, in Inspect's notation.
        meta_judge: the model that refines; by default the judge.
        peers: the models that review each other in `peer_review`.
        prices: `IN,OUT` or `MODEL=IN,OUT`, in dollars per million tokens.
        price_file: a file of prices as for Inspect's `--model-cost-config`.
        reasoning_tokens: hidden tokens billed for every call in addition to its reply; None if
            unknown: an estimate then counts none and says so, a plan goes up to 1,000.
        from_log: an earlier ranking log of this judge, for its tokens and close verdicts; by
            default logs of the same models and benchmark beside the candidates are used.
        pace: how fast calls are made.
        sample: number of items whose prompts are counted; None: all.
        task_type: as in the judging tasks, as are the following arguments up to `seed`.
        rubric: file of a rubric.
        reviewers: which peer is which candidate, if their names do not tell.
        saturated_only: judge saturated items only.
        merge_identical: judge identical answers once.
        seed: seed of all draws.
        mode: as in `load_candidates`, or `union` if every protocol grades answers one by one; this
            and the following arguments are for files.
        native: name of the native score.
        filter: lm-eval filter whose score is used.
        rename: names of benchmarks to replace.
        names: names of models, by the file or the folder with their logs.
        same_settings: raise an error if models were asked in different ways.

    Raises:
        EstimateError: a protocol, a model or a price is missing or cannot be read.
        CandidateError: the candidates cannot be loaded or aligned.
        RankingLogError: `from_log` is not a ranking log.
        PrerequisiteError: the pool, the rubric or the peers do not fit the protocols.
    """
    variants = read_protocols(protocols if isinstance(protocols, str) else ",".join(protocols))
    judges = read_judges(variants, judge, meta_judge, peers, prices, price_file)
    experience = read_experience(from_log) if from_log else None
    for variant in variants:
        require_comparable(mode, variant.protocol, same_settings)
    if all(variant.protocol.keyed for variant in variants):
        require_no_rubric(variants[0].protocol, task_type, rubric)
    pools: tuple[CandidatePool, ...]
    how: dict[str, Any] = {"native": native, "filter": filter, "rename": rename, "names": names}
    if isinstance(candidates, CandidatePool):
        pools = (candidates,)
    elif mode == "union":
        pools = load_by_models(candidates, **how)
    else:
        alone = all(variant.protocol.rule.judges_one for variant in variants)
        how |= {"same_settings": same_settings, "alone": alone}
        pools = (load_candidates(candidates, mode=mode, **how),)
    if experience is None:
        experience = experience_beside(pools, judges.answering)
    samples = contest_samples(
        *pools,
        task_type=task_type,
        rubric=rubric,
        saturated_only=saturated_only,
        merge_identical=merge_identical,
        seed=seed,
        keyed=any(variant.protocol.keyed for variant in variants),
    )
    return estimate(
        [restore_contest(sample.metadata or {}) for sample in samples],
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


def estimate_canaries(
    candidates: Paths,
    n: int,
    judge: str,
    *,
    price_file: str | PathLike[str] | None = None,
    mode: Literal["strict", "intersect"] = "strict",
    task_type: str | None = None,
    rubric: str | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate the cost of `n` canaries with `tiebreak/canary`; arguments as in `estimate_cost`.

    The items of the estimate are the canaries and their controls.
    """
    # As in the task `tiebreak/canary`: every match is asked in both orders.
    variant = Variant("canary", CANARY, {"swap": "always"})
    judges = read_judges([variant], judge, price_file=price_file)
    pool = load_candidates(candidates, mode=mode)
    samples = contest_samples(pool, task_type=task_type, rubric=rubric, seed=seed)
    extra = [sample for pair in planted(samples, n, seed) for sample in pair]
    return estimate(
        [restore_contest(sample.metadata or {}) for sample in extra],
        [variant],
        judges,
        token_counter(list(judges.prices)),
        experience=experience_beside((pool,), judges.answering),
        seed=seed,
    )


def read_protocols(text: str) -> list[Variant]:
    """Read protocols from a list of labels; FILE.py@NAME names a protocol of the user's own.

    Raises:
        EstimateError: no label, an unknown setting, or an invalid value of one.
        PrerequisiteError: no such protocol.
    """
    labels = split_labels(text)
    if not labels:
        raise EstimateError("No protocol: name one or more, such as seal,full_pairwise, or all.")
    try:
        return [read_variant(label, load_protocol) for label in labels]
    except ProtocolError as error:
        raise EstimateError(str(error)) from error


def read_judges(
    variants: Sequence[Variant],
    judge: str | None = None,
    meta_judge: str | None = None,
    peers: str | Sequence[str] | None = None,
    prices: Sequence[str] = (),
    price_file: str | PathLike[str] | None = None,
) -> Judges:
    """The models that would answer, with prices; a judge that no protocol asks is left out.

    The arguments are those of `estimate_cost`.

    Raises:
        EstimateError: a protocol asks a judge or peers and none are given, a model has no provider,
            no protocol asks the peers, a price or the file cannot be read, or a price is for a
            model that is not asked.
    """
    reviewers = _peers(variants, peers)
    asking = [variant.label for variant in variants if variant.protocol.rule.asks_judge]
    if asking and judge is None:
        raise EstimateError(
            f"{asking[0]} asks a judge: add --judge MODEL, such as --judge openai/gpt-5"
        )
    if judge is not None and "," in judge:
        raise EstimateError(
            "A jury is estimated judge by judge: give one --judge at a time. All together they "
            "cost the sum; with -T jury=rotate, where they take turns, the mean."
        )
    if not asking:
        judge = meta_judge = None
    if nameless := [model for model in (judge, meta_judge) if model and "/" not in model]:
        raise EstimateError(
            f"{nameless[0]!r} names no provider: give it as PROVIDER/MODEL, such as openai/gpt-5"
        )
    asked = [model for model in (judge, meta_judge, *reviewers) if model is not None]
    price = known_prices(asked, prices, price_file)
    return Judges(
        judge=judge,
        price=price.get(judge or ""),
        meta_judge=meta_judge,
        meta_price=price.get(meta_judge or ""),
        peers=tuple(PricedModel(model, price.get(model)) for model in reviewers),
    )


def _peers(variants: Sequence[Variant], given: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names in a list of peers; raises EstimateError unless a protocol asks for reviews."""
    peers = listed_names("peers", given)
    asking = [variant.label for variant in variants if variant.protocol.rule.reviewed]
    if asking and not peers:
        raise EstimateError(
            f"{asking[0]} asks reviewers: add --peers MODEL,MODEL…, such as "
            "--peers openai/gpt-5,anthropic/claude-opus-4-5"
        )
    if peers and not asking:
        raise EstimateError(
            "No protocol here asks the --peers: add peer_review to --protocol, as in "
            "--protocol peer_review or --protocol all,peer_review"
        )
    return peers


def read_experience(log: str) -> Experience:
    """Experience with the judge of a ranking log, or of a folder of them.

    Raises:
        RankingLogError: the path has no ranking log, or one that cannot be read.
        EstimateError: the log holds no call.
    """
    logs = read_ranking_logs([log], with_votes=False)
    return experience_of(item for read in logs for item in (*read.items, *read.cut_short))


def read_matching(given: Any) -> Any:
    """Read which peer is which candidate; text is read as by Inspect's command line.

    Raises:
        EstimateError: the text is not YAML.
    """
    if given is not None and not isinstance(given, str):
        return given
    try:
        read = read_yaml(given or "")
    except ValueError as error:
        raise EstimateError(f"reviewers is {given!r}. {HOW_TO_MATCH}") from error
    if isinstance(read, str) and "," in read:
        return split_names(read)
    return read


MOST: Final = 8
"""Largest number of models to check: with more, a bracket asks a fraction of all pairs."""

_BRACKET, _ALL_PAIRS, _SOME_PAIRS = "seal", "full_pairwise", "round_robin"
_SAMPLE: Final = 40


def small_field(pool: CandidatePool) -> str | None:
    """A sentence if judging all pairs takes about as few calls as SEAL for few models, or None."""
    n_models = max(len(pool.models_of(name)) for name in pool.benchmarks)
    if not 2 < n_models <= MOST:
        return None
    contests = [restore_contest(sample.metadata or {}) for sample in contest_samples(pool)]
    protocols = read_protocols(",".join((_BRACKET, _ALL_PAIRS, _SOME_PAIRS)))
    counter = TokenCounter("nothing", lambda text: 0.0)
    estimated = estimate(contests, protocols, Judges("any/judge"), counter, sample=_SAMPLE)
    return few_models(estimated)


def few_models(estimated: Estimate) -> str | None:
    """The sentence of `small_field`, from an estimate; also None if that lacks a protocol."""
    calls: Mapping[str, Range] = {row.label: row.calls_per_item for row in estimated.protocols}
    if not {_BRACKET, _ALL_PAIRS} <= calls.keys():
        return None
    bracket, pairs = calls[_BRACKET], calls[_ALL_PAIRS]
    if pairs.likely > bracket.high or not pairs.likely:
        return None
    saves = "nothing" if pairs.likely <= bracket.likely else "little"
    sentence = (
        f"With {len(estimated.models)} models a bracket saves {saves}: {_ALL_PAIRS} judges every "
        f"pair in {pairs.likely:.1f} calls an item, {_BRACKET} asks {bracket.likely:.1f} "
        f"({bracket.low:.1f}–{bracket.high:.1f})"
    )
    some = calls.get(_SOME_PAIRS)
    return sentence if some is None else f"{sentence}, {_SOME_PAIRS} {some.likely:.1f}"
