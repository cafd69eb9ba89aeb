"""From what a user asks for to what an estimate takes: contests, protocols, judges, reviewers."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import yaml

from tiebreak.candidates import CandidatePool
from tiebreak.estimate import EstimateError
from tiebreak.estimate.experience import Experience, experience_of
from tiebreak.estimate.figures import Judges, Peer
from tiebreak.estimate.prices import find_price, read_price, read_price_file
from tiebreak.inspect_tasks.contests import contest_samples, restore_contest
from tiebreak.inspect_tasks.own_protocol import load_protocol
from tiebreak.inspect_tasks.roles import (
    HOW_TO_MATCH,
    match_reviewers,
    require_graph,
    require_readable,
)
from tiebreak.ranking_logs.read import read_ranking_logs
from tiebreak.scorers.ballots import Reviewer
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.protocols import ProtocolError
from tiebreak.scorers.rules import RULES
from tiebreak.scorers.variants import Variant, read_variant, split_labels
from tiebreak.words import split_names


def read_contests(
    pool: CandidatePool,
    *,
    task_type: str | None = None,
    rubric: str | None = None,
    saturated_only: bool = False,
    merge_identical: bool = True,
    seed: int = 0,
) -> list[Contest]:
    """The items of a pool as the judging tasks would make them; arguments as there.

    Raises:
        PrerequisiteError: an unknown rubric or task type, or no saturated item.
    """
    samples = contest_samples(
        pool,
        task_type=task_type,
        rubric=rubric,
        seed=seed,
        saturated_only=saturated_only,
        merge_identical=merge_identical,
    )
    return [restore_contest(sample.metadata or {}) for sample in samples]


def read_protocols(text: str) -> list[Variant]:
    """Protocols from a list of labels; a name may be FILE.py@NAME, for one of the user's own.

    Raises:
        EstimateError: no label, no such setting, or a value that it cannot have.
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
    peers: str | None = None,
    prices: Sequence[str] = (),
    price_file: str | PathLike[str] | None = None,
) -> Judges:
    """Who would answer, and at what price; a judge whom no protocol asks is left out.

    Args:
        variants: the protocols.
        judge: the model that judges.
        meta_judge: the model that critiques and refines; None: the judge.
        peers: the models that review each other, with commas between them.
        prices: `IN,OUT` or `MODEL=IN,OUT` in dollars per million tokens.
        price_file: a file as for Inspect's `--model-cost-config`.

    Raises:
        EstimateError: a protocol asks somebody who is not given, no protocol asks the peers, a
            price or the file cannot be read, or a price is for a model that is not asked.
    """
    reviewers = _peers(variants, peers)
    if not _require_judge(variants, judge):
        judge = meta_judge = None
    asked = [model for model in (judge, meta_judge, *reviewers) if model is not None]
    given = [read_price(text) for text in prices]
    if strangers := [model for model, _ in given if model is not None and model not in asked]:
        who = f"{', '.join(asked) or 'nobody'} {'are' if len(asked) > 1 else 'is'}"
        raise EstimateError(f"A price for {strangers[0]}, which is not asked: {who}")
    filed = read_price_file(price_file) if price_file is not None else {}
    price = {model: find_price(model, given, filed) for model in asked}
    return Judges(
        judge=judge,
        price=None if judge is None else price[judge],
        meta_judge=meta_judge,
        meta_price=None if meta_judge is None else price[meta_judge],
        peers=tuple(Peer(model, price[model]) for model in reviewers),
    )


def _require_judge(variants: Sequence[Variant], judge: str | None) -> bool:
    """Whether a protocol asks a judge, who is there then."""
    asking = [variant.label for variant in variants if asks_judge(variant)]
    if asking and judge is None:
        raise EstimateError(
            f"{asking[0]} asks a judge: add --judge MODEL, such as --judge openai/gpt-5"
        )
    return bool(asking)


def _peers(variants: Sequence[Variant], given: str | None) -> list[str]:
    """The models of a list, if a protocol asks for reviews."""
    peers = [model for model in split_names(given or "") if model]
    asking = [variant.label for variant in variants if asks_peers(variant)]
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
    """What a ranking log, or a folder of them, says about its judge.

    Raises:
        RankingLogError: no ranking log there, or one that cannot be read.
        EstimateError: the log holds no call.
    """
    found = read_ranking_logs([log])
    return experience_of(item for one in found for item in (*one.items, *one.cut_short))


def asks_peers(variant: Variant) -> bool:
    """Whether a protocol asks several reviewers instead of a judge."""
    return RULES[variant.protocol.placed_by].reviewed


def asks_judge(variant: Variant) -> bool:
    """Whether a protocol asks a judge."""
    rule = RULES[variant.protocol.placed_by]
    return rule.asks is not None and not rule.reviewed


def find_reviewers(
    judges: Judges, candidates: Sequence[str], variants: Iterable[Variant], given: object = None
) -> tuple[Reviewer, ...]:
    """Which peer is which candidate; one for each peer, in their order.

    Args:
        judges: who would answer.
        candidates: names of the candidates.
        variants: the protocols; a review in sparse mode must be able to link all candidates.
        given: what names do not tell, as `match_reviewers` takes it.

    Raises:
        PrerequisiteError: the message says what does not fit.
    """
    reviewers = match_reviewers([peer.model for peer in judges.peers], candidates, given)
    for variant in variants:
        degree = variant.settings.get("degree")
        if reviewers and asks_peers(variant) and degree is not None:
            require_readable(variant.settings.get("method", ""), degree)
            require_graph(reviewers, candidates, degree)
    return reviewers


def read_matching(given: Any) -> Any:
    """Which peer is which candidate; a text is read as Inspect's command line would read it.

    Raises:
        EstimateError: it is not YAML.
    """
    if given is not None and not isinstance(given, str):
        return given
    try:
        read = yaml.safe_load(given or "")
    except yaml.YAMLError as error:
        raise EstimateError(f"reviewers is {given!r}. {HOW_TO_MATCH}") from error
    if isinstance(read, str) and "," in read:
        return split_names(read)
    return read
