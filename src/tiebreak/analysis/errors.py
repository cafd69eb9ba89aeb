"""Errors of analyses that cannot give a result."""

from tiebreak.errors import TiebreakError


class AnalysisError(TiebreakError, ValueError):
    """The input cannot be compared or analysed; the message says what to do next."""


class NothingToCompareError(AnalysisError):
    """No log is the reference, or there is only the reference."""
