"""Publishing: rankings, ballots and, when asked for, candidates as a Hub dataset with a card."""

from tiebreak.publish.dataset import Publication, Written, publish_dataset
from tiebreak.publish.errors import PublishError
from tiebreak.publish.hub import Outcome, RetryPolicy

__all__ = [
    "Outcome",
    "Publication",
    "PublishError",
    "RetryPolicy",
    "Written",
    "publish_dataset",
]
