"""Write-back: add ranks to each model's own Inspect log, where Inspect's tools show them."""

from tiebreak.publish.write_back.rankings import WriteBackError as WriteBackError
from tiebreak.publish.write_back.run import Outcome as Outcome
from tiebreak.publish.write_back.run import WriteBack as WriteBack
from tiebreak.publish.write_back.run import write_back_ranks as write_back_ranks
