"""Findings, and reasons for missing figures, as a kind with figures instead of a sentence.

Rooms that compute numbers return reasons; `report.sentences` has their English text.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Reason:
    """A kind of statement with the figures and names to insert.

    `str` makes its sentence or clause. Figures may be reasons themselves, or tuples.
    """

    kind: str
    figures: tuple[tuple[str, Any], ...]

    def __init__(self, kind: str, /, **figures: Any) -> None:
        # Lists become tuples, so that reasons are hashable.
        held = ((key, tuple(v) if isinstance(v, list) else v) for key, v in figures.items())
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "figures", tuple(held))

    def __getitem__(self, name: str) -> Any:
        return dict(self.figures)[name]

    def __str__(self) -> str:
        # The only import from a higher room: only report has the words that printing needs.
        from tiebreak.report.sentences import sentence

        return sentence(self.kind, dict(self.figures))

    def __repr__(self) -> str:
        figures = "".join(f", {name}={value!r}" for name, value in self.figures)
        return f"Reason({self.kind!r}{figures})"


Remark = Reason | str
"""A reason, or a text taken from the data that was read."""
