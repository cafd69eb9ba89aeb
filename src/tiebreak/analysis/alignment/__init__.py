"""Alignment with people: how near a human ranking do reviewers and aggregators come?

From a human ranking and a panel to a report, in this order::

    raters        reviewers, aggregators and native scores, as ranks by item
    correlations  Pearson and Kendall: item by item, and over all items
    align         all of it, and which model goes by which name in the human ranking
"""
