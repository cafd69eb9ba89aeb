"""What can be wrong with paths that are to hold ranking logs."""


class RankingLogError(ValueError):
    """A path that was given holds no ranking; the message says what to do next."""


class NoRankingLogError(RankingLogError):
    """No ranking log at this path."""


class NotARankingLogError(RankingLogError):
    """The file is an Inspect log, but not one that ranks candidates."""


class UnreadableLogError(RankingLogError):
    """The file cannot be read as an Inspect log."""


class MissingShardError(RankingLogError):
    """A run lacks shards; the message lists those that are missing and those that are there."""


class OverlappingShardsError(RankingLogError):
    """Two shards of a run hold the same part of it, or cut it differently."""


class NoPeerReviewError(RankingLogError):
    """There are ranking logs, but none of a peer review."""
