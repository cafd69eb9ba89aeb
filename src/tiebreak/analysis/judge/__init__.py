"""What the ballots of a judge show about it.

    biases     whether it goes by the order in which answers are shown; whether the longer answer
               gains, between the same two models
    canaries   whether answers that talk to it persuade it
    figures    all of it, one `JudgeFigures` for each leaderboard, and for each judge of a jury;
               whether verdicts are more than coin tosses, cycles, usable replies

Every alarm is a test at 1% that holds at any number of verdicts.
"""
