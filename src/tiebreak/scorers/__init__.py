"""Protocols: how judges are asked about candidates' answers, and what their ballots say.

    protocols, session     a protocol is a function; what it asks with
    catalogue, rules       the built-in protocols, and the rules by which ballots rank
    seal, swiss, …         one module per protocol
    judge, questions       who answers, and what is asked; prompts/ and rubrics/ hold the words
    ballots, placement     what is kept, and the ranking of an item that follows from it

What a protocol's author needs is here by name; it is loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiebreak.scorers.ballots import ItemBallots
    from tiebreak.scorers.contest import Contest
    from tiebreak.scorers.protocols import protocol
    from tiebreak.scorers.session import Session

__all__ = ["Contest", "ItemBallots", "Session", "protocol"]

_HOMES = {
    "Contest": "contest",
    "ItemBallots": "ballots",
    "Session": "session",
    "protocol": "protocols",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tiebreak.scorers' has no attribute {name!r}")
    return getattr(import_module(f"tiebreak.scorers.{_HOMES[name]}"), name)
