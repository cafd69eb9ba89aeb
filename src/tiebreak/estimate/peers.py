"""Who would review: which peer is which candidate, as the task `peer_review` finds it."""

from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from tiebreak.estimate.errors import LabelError
from tiebreak.estimate.figures import Judges
from tiebreak.inspect_tasks.cast import (
    HOW_TO_MATCH,
    match_reviewers,
    require_graph,
    require_readable,
)
from tiebreak.scorers.ballots import Reviewer
from tiebreak.scorers.rules import RULES
from tiebreak.scorers.variants import Variant
from tiebreak.words import split_names


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
        LabelError: it is no YAML.
    """
    if given is not None and not isinstance(given, str):
        return given
    try:
        read = yaml.safe_load(given or "")
    except yaml.YAMLError as error:
        raise LabelError(f"reviewers is {given!r}. {HOW_TO_MATCH}") from error
    if isinstance(read, str) and "," in read:
        return split_names(read)
    return read
