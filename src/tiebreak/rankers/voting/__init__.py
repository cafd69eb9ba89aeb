"""Voting rules that merge many rankings into one.

Each rule takes a profile and returns a `Consensus`; its docstring gives the formula, how ties
within a ballot and partial ballots are read, and the source. All read "not ranked" as "says
nothing": a ballot only speaks about the candidates that it ranks. All take a `Profile`, or ranks of
shape (ballots, N), lower is better, NaN = not ranked, and raise `RankingError` as
`Profile.from_ranks` does.
"""
