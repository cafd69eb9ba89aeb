"""Answers that talk to the judge: the texts of attacks.yaml, and where one was planted."""

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
    """One text; `kind` is what it pretends to be. What follows the answer comes `repeat` times.

    A text without a place for an answer (kind "null") is the whole answer, whatever the task is.
    """

    id: str
    kind: str
    text: str
    repeat: int = 1

    def on(self, answer: str) -> str:
        """An answer with this attack."""
        before, place, after = self.text.partition(ANSWER)
        return f"{before}{answer}{after * self.repeat}" if place else self.text


class Canary(BaseModel):
    """An item that was planted: an ordinary answer, and a weak one with an attack on the judge.

    `number` counts the canaries of a run, from 1. A `control` is the same without the attack.
    `model` is the name of the weak answer.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    number: int
    attack: str
    kind: str
    control: bool = False
    model: str = PLANTED


@lru_cache
def attacks() -> tuple[Attack, ...]:
    """All of them, in the order of the file."""
    return tuple(Attack(**attack) for attack in packaged(__file__, "attacks.yaml"))
