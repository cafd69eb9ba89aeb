"""Publishing: rankings, ballots and, when asked for, candidates as a Hub dataset with a card.

The ranks also go into the models' own logs (`write_back`).
"""
