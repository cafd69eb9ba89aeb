"""Checks of a judge by its ballots.

    biases     whether it follows the order in which answers are shown; whether longer answers win
               more often, between the same two models
    canaries   whether answers that address the judge persuade it
    figures    all checks, one `JudgeFigures` for each leaderboard and for each judge of a jury;
               whether verdicts are more than coin tosses, cycles, usable replies

Every alarm is a test at 1% that keeps its level at any number of verdicts.
"""
