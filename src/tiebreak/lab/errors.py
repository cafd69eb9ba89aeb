"""What can be wrong with a simulation."""

import numpy as np


class LabError(ValueError):
    """A simulation cannot be run on these numbers; the message says which and why."""


def require(met: bool | np.bool_, problem: str) -> None:
    """Raise `LabError` with this problem, as a sentence, unless the condition is met."""
    if not met:
        raise LabError(problem[0].upper() + problem[1:] + ".")
