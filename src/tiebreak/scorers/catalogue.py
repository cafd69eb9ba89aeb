"""The built-in protocols: one descriptor each, without loading any of them.

A new protocol needs a module with its function, a descriptor here, a `@task` in
`inspect_tasks/rerank.py`, a row in the table of docs/protocols.md and a test. All lists of
protocols, their order in tables, the meaning of `all` and the lab's standard set come from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class BuiltIn:
    """A built-in protocol: the module of its function, and what users read about it.

    `module` is a module of `tiebreak.scorers`; its `@protocol` names the rule of placement. `help`
    describes what is asked. `peers` is True if several models judge instead of one; `keyed` if
    answers are judged by the key of their item, which not every pool has. `ranks_everyone` is False
    if a candidate may play no match, and so have no rank; `orders_all` if even a judge that never
    errs leaves the order of some answers open, whatever the settings. `variants` are labels with
    other settings that the lab compares as well.

    If results decide who meets whom, `holds_all_pairs` gives, by rule of placement, the share of
    95% intervals that contained the score from judging all pairs, on real verdicts (8 models, 162
    items), as text; no entry if that was not measured. It is None for a protocol that judges all
    pairs, or asks for no pairs.
    """

    name: str
    module: str
    help: str
    peers: bool = False
    keyed: bool = False
    ranks_everyone: bool = True
    orders_all: bool = True
    variants: tuple[str, ...] = ()
    holds_all_pairs: Mapping[str, str] | None = None


REFERENCE: Final = "full_pairwise"
"""The protocol that the others are measured against."""

_SWISS = "SEAL's judge in Swiss rounds without elimination; fitted by least squares"

# In the order of SEAL's tables, our own before the reference.
_ALL: Final = (
    BuiltIn("original", "baselines", "nothing: the benchmark's own metric"),
    BuiltIn("pointwise", "baselines", "every candidate graded on its own"),
    BuiltIn("fixed_rubric", "baselines", "the same, by a rubric written once for the benchmark"),
    BuiltIn("listwise", "baselines", "all candidates ranked in one call"),
    BuiltIn("flat_bracket", "seal", "a seeded elimination bracket", holds_all_pairs={}),
    BuiltIn(
        "seal",
        "seal",
        "the bracket, with a meta-judge that sharpens the checklist",
        holds_all_pairs={"elimination": "78%"},
    ),
    BuiltIn(
        "swiss",
        "seal",
        _SWISS,
        ranks_everyone=False,
        variants=("swiss:rounds=3",),
        holds_all_pairs={"least_squares": "89% (three rounds: 94%)"},
    ),
    BuiltIn(
        "round_robin",
        "round_robin",
        "rounds of a fixed schedule, other ones on the next item; needs no seeding",
        ranks_everyone=False,
    ),
    BuiltIn("sorted", "baselines", "binary insertion: a full order", holds_all_pairs={}),
    BuiltIn(
        "peer_review",
        "peer_review",
        "every model ranks all answers, its own among them",
        peers=True,
    ),
    BuiltIn("stars", "stars", "0 to 3 stars for every candidate, by the key", keyed=True),
    BuiltIn(REFERENCE, "baselines", "all pairs: the reference"),
)
PROTOCOLS: Final[Mapping[str, BuiltIn]] = {protocol.name: protocol for protocol in _ALL}
"""The built-in protocols by name, in the order in which tables list them."""

ONE_JUDGE: Final = tuple(
    protocol.name for protocol in _ALL if not (protocol.peers or protocol.keyed)
)
"""The protocols that `all` stands for: those that ask at most one judge, and need no key."""

STANDARD: Final = tuple(
    label
    for protocol in _ALL
    if not (protocol.peers or protocol.keyed)
    for label in (protocol.name, *protocol.variants)
)
"""The labels that the lab compares by default; the lab has neither peers nor keys."""
