"""Publishing: rankings, ballots and, when asked for, candidates as a Hub dataset with a card."""

from tiebreak.publish.bundle import Bundle, PublishedRun, bundle
from tiebreak.publish.errors import (
    CandidatesNotFoundError,
    CardError,
    FolderInTheWayError,
    NothingToPublishError,
    OtherCandidatesError,
    PublishError,
    RunConflictError,
    SecretFoundError,
)

__all__ = [
    "Bundle",
    "CandidatesNotFoundError",
    "CardError",
    "FolderInTheWayError",
    "NothingToPublishError",
    "OtherCandidatesError",
    "PublishError",
    "PublishedRun",
    "RunConflictError",
    "SecretFoundError",
    "bundle",
]
