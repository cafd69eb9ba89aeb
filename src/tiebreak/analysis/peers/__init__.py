"""Peer review: who is best, who favours itself, and what the panel of reviewers is worth.

From ballots to a report, in this order::

    panel            ballots of a log as arrays: items × reviewers × models; what each reviewer and
                     the whole panel are worth: can they be trusted, do they agree
    self_preference  the four views, the gap, and what aggregation leaves of it
    review           mean rank over items by any method, all ballots at once, and all of the above:
                     one `PeerReview` for each benchmark and log; sparse beside full
"""
