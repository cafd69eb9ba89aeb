"""What the ballots of a judge show about it.

Every alarm is a test at 1% that holds at any number of verdicts.
"""
