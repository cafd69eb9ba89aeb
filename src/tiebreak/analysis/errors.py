"""The errors of analyses that have nothing to say."""

from tiebreak.errors import TiebreakError


class AnalysisError(TiebreakError, ValueError):
    """What was given cannot be compared or computed from; the message says what to do next."""


class NothingToCompareError(AnalysisError):
    """No log is the reference, or there is only the reference."""
