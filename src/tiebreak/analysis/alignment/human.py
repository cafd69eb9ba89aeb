"""Which model goes by which name in a ranking by people."""

from collections import defaultdict
from collections.abc import Sequence

from tiebreak.candidates import namesakes


class AlignmentError(ValueError):
    """A human ranking that nothing can be compared with; the message says what to do next."""


class AmbiguousModelError(AlignmentError):
    """A name in the human ranking fits several models, or several names fit one."""


class NothingInCommonError(AlignmentError):
    """No benchmark has enough models that people ranked, too."""


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
