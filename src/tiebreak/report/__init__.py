"""Findings for readers: on a terminal, as data, as pictures and as a page.

Nothing is imported here, so that a contest over a table of scores does not load Inspect.
"""

from tiebreak.errors import TiebreakError


class ReportError(TiebreakError, ValueError):
    """A report or a plot cannot be made; the message says what to do instead."""
