"""Publishing: rankings, ballots and, on request, candidates as a Hub dataset with a card.

Ranks can also be written into the models' own logs (`write_back`).
"""
