"""Peer review: ranking, self-preference of models, and reliability of the reviewers.

From ballots to a report, in this order::

    panel            ballots of a log as arrays: items × reviewers × models; reliability of each
                     reviewer and of the panel: bias, unusable replies, agreement
    self_preference  the four views, the gap, and its remainder after aggregation
    review           mean rank over items by any method, all ballots at once, and all of the above:
                     one `PeerReview` for each benchmark and log; sparse beside full
"""
