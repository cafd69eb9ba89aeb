"""Registry of the methods that merge many rankings into one (Peer review, appendix D).

To add a method, write a function from a `Profile` to a `Consensus`, add a line here, name its score
in `cli.aggregate`, and add its test; the command line, tables, tasks and the tests common to all
methods read this list. Importing it loads neither NumPy nor SciPy, so that help texts are quick.
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
    """An aggregation method; call it with a profile to get a `Consensus`.

    `heading` is the heading of its column, as in the paper's tables. `home` names the function as
    "module:name" within `tiebreak.rankers`. `optimal_order`: the method searches for an optimal
    order without ties; of several it returns the lexicographically smallest in columns.
    `complete_only`: it reads only ballots that rank all candidates. `slow`: it takes seconds when
    the others take milliseconds. Methods with `optimal_order` or `slow` accept a `time_limit`.
    """

    name: Method
    heading: str
    home: str
    optimal_order: bool = False
    complete_only: bool = False
    slow: bool = False

    def __call__(self, profile: "Profile", *, time_limit: float | None = None) -> "Consensus":
        """Merge the ballots of a profile into one ranking.

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
