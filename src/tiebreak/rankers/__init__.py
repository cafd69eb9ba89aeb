"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile                  rankings of the same candidates, and pairwise preference counts
    aggregation, consensus   a consensus of many rankings; `aggregators` lists the methods
    kemeny, voting           the aggregation methods
    panel, dependence        agreement of reviewers; how many independent votes they are worth
    reviewers, expander      measures of each reviewer, e.g. self-preference; review graphs
    contests                 ranking models over many benchmarks by simulated Swiss contests
    matches, massey          points and least-squares strengths from matches; boards of millions of
                             matches, and agreement of raters
    strength                 Bradley–Terry, also at equal length or style of answers; Elo
    agreement, stability     whether two leaderboards agree, and would with other items
    kappa                    Cohen's κ of many tables, with intervals; differences of κ
    intervals                intervals of figures over items, and of shares
    linked                   scores over partly shared items; shares of a reference's score
    pairwise_tests           tests of which models are told apart
    settlement               sequential test of whether a ranking is decided
    ranks, uncertainty       ranks and scores of a leaderboard; bootstrap over items

Conventions. `ranks` and `scores` are float arrays of shape (items or ballots, N), one column per
model. Rank 1 is the best, equal ranks are ties (tied models share the mean of the ranks that they
take up), NaN marks a model that is absent. Scores are better when higher. Only `csd` reads models ×
benchmarks, as leaderboards print them.
"""

import lazy_loader

# Public names are listed in `__init__.pyi` and loaded on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
