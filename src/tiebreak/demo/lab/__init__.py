"""The lab: every protocol on planted answers, with a planted judge, before anything is paid.

    planted     a world of which the truth is known, and a judge with stated faults
    simulate    all protocols on it: agreement with full pairwise and with the truth, calls, and how
                many items it takes
    sheet       the same as tables and as data

The protocols are the ones that judge real answers; only the judge is another.
"""
