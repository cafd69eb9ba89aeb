"""Estimates of the calls and the cost of a protocol, before anything is paid.

    dry_judge    a judge that renders and counts every prompt and makes up the reply; counting of
                 tokens without a model
    prices       dollars per million tokens, by model
    experience   tokens, close verdicts and noise of a judge from earlier ranking logs
    totals       from some items to all of them: a sample, totals and their uncertainty
    estimate     estimates for contests and protocols, by all of the above
    cost         the same from a user's input: files or a pool, and plain names
    plan         what a budget buys, or what a precision costs
    sheet        an estimate as a table with notes, and as data; for plans `plan_sheet`

Estimates run the protocols that judge real answers, with another judge. No model is asked.
"""

from tiebreak.errors import TiebreakError


class EstimateError(TiebreakError, ValueError):
    """An estimate cannot be made as requested; the message says what to do next."""
