"""What people say: a ranking of models, perhaps one for each benchmark, and who is who in it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiebreak.candidates import namesakes

ALL_BENCHMARKS = ""


class AlignmentError(ValueError):
    """A human ranking that nothing can be compared with; the message says what to do next."""


class AmbiguousModelError(AlignmentError):
    """A name in the human ranking fits several models, or several names fit one."""


class NothingInCommonError(AlignmentError):
    """No benchmark has enough models that people ranked, too."""


@dataclass(frozen=True, slots=True)
class HumanRanking:
    """Models as people rank them, by benchmark; those under "" hold for all other benchmarks.

    The numbers are ranks: lower is better, equal is tied; only their order counts. The paper
    matches each benchmark with the leaderboard of people's votes that fits it best (Peer review,
    §4.1): mathematics with mathematics, and so on. `source` is the file; `notes` are sentences on
    what was passed over in it.
    """

    source: str
    ranks: Mapping[str, Mapping[str, float]]
    notes: tuple[str, ...] = ()

    def of(self, benchmark: str) -> Mapping[str, float]:
        """Ranks of the models on a benchmark; empty where people said nothing about it."""
        return self.ranks.get(benchmark) or self.ranks.get(ALL_BENCHMARKS, {})


def match_names(names: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Which model goes by which name in a human ranking.

    They are the same, or one is the other without what stands before a slash: openai/gpt-5 and
    gpt-5. Who has a namesake is not looked for under another name.

    Returns:
        From models to names; those without a counterpart are left out.

    Raises:
        AmbiguousModelError: a name fits several models, or several names fit one.
    """
    found = {model: model for model in models if model in set(names)}
    fits: dict[str, list[str]] = defaultdict(list)
    for name in (name for name in names if name not in found):
        close = namesakes(name, (model for model in models if model not in found))
        if len(close) > 1:
            raise AmbiguousModelError(
                f"{name!r} in the human ranking could be {' or '.join(map(repr, close))}; write "
                "the model's whole name"
            )
        for model in close:
            fits[model].append(name)
    for model, several in fits.items():
        if len(several) > 1:
            raise AmbiguousModelError(
                f"In the human ranking {' and '.join(map(repr, several))} could both be {model!r}; "
                "keep one of them, or write the model's whole name"
            )
        found[model] = several[0]
    return found
