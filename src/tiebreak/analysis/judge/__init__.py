"""What the ballots of a judge show about it.

    position   whether it goes by the order in which answers are shown
    length     whether the longer answer gains, between the same two models
    coin       whether its verdicts are more than coin tosses; cycles
    replies    how often it gives no usable reply
    figures    all of it, one `JudgeFigures` for each leaderboard

Every alarm is a test at 1% that holds at any number of verdicts.
"""
