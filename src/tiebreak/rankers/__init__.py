"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile                  many rankings of the same candidates, and pairwise preference counts
    aggregation, consensus   one ranking out of many, by any method: `aggregators` lists them
    kemeny, voting           these methods
    panel, dependence        do reviewers agree, and as how many independent votes may they count
    reviewers, expander      each reviewer on its own, views of itself too; who reviews whom
    contests                 models over many benchmarks, by simulated Swiss-system contests
    matches, massey          points and least-squares strengths from matches
    votes                    boards of millions of matches, and whether raters agree
    strength                 Bradley–Terry, also at equal length or style of answers; Elo
    agreement, stability     do two leaderboards say the same, and would they with other items
    kappa                    Cohen's κ of many tables, with intervals; κ against κ
    intervals                of figures over items, and of shares
    linked, relative         scores over partly the same items; shares of a reference's score
    pairwise_tests           which models are told apart
    settlement               when is a ranking decided, however often one looks
    ranks, uncertainty       scores of a leaderboard, and how far other items would move it

Conventions. `ranks` and `scores` are float arrays of shape (items or ballots, N), one column per
model. Rank 1 is the best, equal ranks are ties (tied models share the mean of the ranks that they
take up), NaN marks a model that is absent. Scores are better when higher. Only `csd` reads models ×
benchmarks, as leaderboards print them.
"""

import lazy_loader

# What there is stands in `__init__.pyi`, and is loaded when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
