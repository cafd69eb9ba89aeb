"""Answers that attack the judge: the texts of attacks.yaml, and the items that contain one."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import BaseModel, ConfigDict

from tiebreak.plain_yaml import packaged

ANSWER: Final = "[[answer]]"

ORDINARY: Final = "ordinary"
PLANTED: Final = "planted"
"""Names of the two answers of a canary."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack text; `kind` is what it pretends to be. The part after the answer is repeated.

    It comes `repeat` times. A text without a placeholder (kind "null") replaces the whole answer.
    """

    id: str
    kind: str
    text: str
    repeat: int = 1

    def on(self, answer: str) -> str:
        """Return an answer with this attack."""
        before, place, after = self.text.partition(ANSWER)
        return f"{before}{answer}{after * self.repeat}" if place else self.text


class Canary(BaseModel):
    """A planted item: an ordinary answer, and a weak one that attacks the judge.

    `number` counts the canaries of a run, from 1. A `control` has the same weak answer without the
    attack. `model` is the name of the weak answer.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    number: int
    attack: str
    kind: str
    control: bool = False
    model: str = PLANTED


@lru_cache
def attacks() -> tuple[Attack, ...]:
    """All attacks, in the order of the file."""
    return tuple(Attack(**attack) for attack in packaged(__file__, "attacks.yaml"))
