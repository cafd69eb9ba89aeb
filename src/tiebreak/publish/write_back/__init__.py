"""Write-back: ranks go into each model's own Inspect log, where Inspect's tools show them."""

from tiebreak.publish.write_back.rankings import ItemStanding, Ranking, WriteBackError
from tiebreak.publish.write_back.run import Outcome, Unwritten, WriteBack, write_back_ranks

__all__ = [
    "ItemStanding",
    "Outcome",
    "Ranking",
    "Unwritten",
    "WriteBack",
    "WriteBackError",
    "write_back_ranks",
]
