"""Why ranks cannot be written back."""


class WriteBackError(ValueError):
    """Ranks cannot be written back; the message says why and what to do next."""


class AmbiguousRankingError(WriteBackError):
    """Two rankings want the same score of the same log."""


class NothingToWriteError(WriteBackError):
    """No log belongs to any of the rankings."""


class LogChangedError(WriteBackError):
    """A log changed, or cannot be changed, while ranks were put into it."""
