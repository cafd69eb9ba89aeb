"""Voting rules that merge many rankings into one, beside Kemeny–Young.

Each rule takes a profile and returns a `Consensus`; its docstring gives the formula, how ties
within a ballot and partial ballots are read, and the source. All read "not ranked" as "says
nothing": a ballot only speaks about the candidates that it ranks.
"""

from tiebreak.rankers.voting.average import average
from tiebreak.rankers.voting.borda import borda
from tiebreak.rankers.voting.copeland import copeland
from tiebreak.rankers.voting.dodgson import dodgson
from tiebreak.rankers.voting.irv import irv
from tiebreak.rankers.voting.kendall import kendall
from tiebreak.rankers.voting.spearman import spearman

__all__ = ["average", "borda", "copeland", "dodgson", "irv", "kendall", "spearman"]
