"""What a draw needs of a question."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A question as far as sampling goes; `answer` is its key."""

    uuid: str
    raw_uuid: str
    category: str
    type: str
    answer: str

    @property
    def truth(self) -> str:
        """The key of a true/false question, "true" or "false"; empty for every other."""
        return self.answer if self.type == "true_false" else ""
