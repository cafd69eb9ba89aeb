"""The lab: every protocol on planted answers, with a planted judge, before anything is paid.

    planted     a world of which the truth is known: models and their answers
    judge       a judge with stated faults
    simulate    all protocols on it: agreement with full pairwise and with the truth, and calls
    study       what that found: how many items, and which protocol
    sheet       the same as tables and as data

The protocols are the ones that judge real answers; only the judge is another.
"""
