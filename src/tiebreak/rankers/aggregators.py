"""The methods that merge many rankings into one, each described once (Peer review, appendix D).

A new one is a function from a `Profile` to a `Consensus`, a line here, what it orders by in
`cli.aggregate`, and its test; the command line, tables, tasks and the tests of what all methods
have in common read this list. Importing it loads neither NumPy nor SciPy, so that a help text need
not wait for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tiebreak.rankers.consensus import Consensus
    from tiebreak.rankers.profile import Profile

Method = Literal[
    "kemeny_young", "average", "borda", "copeland", "dodgson", "irv", "kendall", "spearman"
]


@dataclass(frozen=True, slots=True)
class Aggregator:
    """One method; call it with a profile, and it returns a `Consensus`.

    `heading` heads its column, as in the paper's tables. `home` is the function, "module:name"
    within `tiebreak.rankers`. `optimal_order`: it looks for an order without ties; of equal orders
    it returns the first by column. `complete_only`: it reads only ballots that rank all candidates.
    `slow`: it takes seconds where the others take milliseconds. Slow ones and those with an optimal
    order take a `time_limit`.
    """

    name: Method
    heading: str
    home: str
    optimal_order: bool = False
    complete_only: bool = False
    slow: bool = False

    def __call__(self, profile: "Profile", *, time_limit: float | None = None) -> "Consensus":
        """One ranking out of many.

        Args:
            profile: the ballots.
            time_limit: seconds after which the search for an optimal order, or for the scores of
                a slow method, gives up.

        Raises:
            RankingError: the method cannot read these ballots; its docstring says when.
            UnprovenOrderError: no exact answer could be proven.
        """
        module, function = self.home.split(":")
        count = getattr(import_module(f"tiebreak.rankers.{module}"), function)
        options = {"time_limit": time_limit} if self.optimal_order or self.slow else {}
        consensus: Consensus = count(profile, **options)
        return consensus


_ALL = (
    Aggregator("kemeny_young", "Kem", "voting:kemeny", optimal_order=True),
    Aggregator("average", "Avg", "voting:average"),
    Aggregator("borda", "Bor", "voting:borda"),
    Aggregator("copeland", "Cop", "voting:copeland"),
    Aggregator("dodgson", "Dod", "voting:dodgson", slow=True),
    Aggregator("irv", "IRV", "voting:irv"),
    Aggregator("kendall", "Ken", "voting:kendall", optimal_order=True, complete_only=True),
    Aggregator("spearman", "Spm", "voting:spearman"),
)
AGGREGATORS: Mapping[str, Aggregator] = MappingProxyType(
    {aggregator.name: aggregator for aggregator in _ALL}
)
