"""The lab: protocols simulated on planted answers with a planted judge, at no cost.

    planted     a world with known truth, and a judge with stated faults
    simulate    all protocols on it: agreement with full pairwise and with the truth, calls, and
                the number of items needed
    sheet       the results as tables and as data

The protocols are the same code that judges real answers; only the judge differs.
"""
