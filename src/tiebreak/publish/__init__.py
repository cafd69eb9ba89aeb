"""Publishing: rankings, ballots and, when asked for, candidates as a Hub dataset with a card."""

from tiebreak.publish.bundle import Bundle, PublishedRun, bundle
from tiebreak.publish.errors import PublishError
from tiebreak.publish.folder import Written, write_folder
from tiebreak.publish.hub import Outcome, publish_bundle

__all__ = [
    "Bundle",
    "Outcome",
    "PublishError",
    "PublishedRun",
    "Written",
    "bundle",
    "publish_bundle",
    "write_folder",
]
