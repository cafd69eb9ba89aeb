"""Rank arithmetic: arrays in, arrays and frozen dataclasses out; no files, no models, no calls.

    profile, pairwise        many rankings of the same candidates, and who is put before whom
    aggregation, consensus   one ranking out of many, by any method: `aggregators` lists them
    kemeny, voting, views    these methods; a model's view of itself and its peers' view of it
    panel, dependence        do reviewers agree, and as how many independent votes may they count
    reviewers, expander      each reviewer on its own; who reviews whom in sparse peer review
    contests                 models over many benchmarks, by simulated Swiss-system contests
    massey, strength         strengths from matches: least squares, Bradley–Terry, Elo
    covariates               Bradley–Terry at equal length or style of answers
    agreement, stability     do two leaderboards say the same, and would they with other items
    kappa                    Cohen's κ of many tables, with intervals; κ against κ
    shares                   two shares of independent samples, in clusters
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
