"""The estimate: what a protocol would ask, and what that would cost, before anything is paid.

    dry_judge    a judge that renders and counts every prompt and makes up the reply; how texts are
                 counted without a model
    prices       dollars per million tokens, by model
    experience   what an earlier ranking log says about a judge instead, and about the next run
    totals       from some items to all of them: a sample, totals and their uncertainty
    estimate     all of that for contests and protocols, and what comes out
    cost         the same from what a user asks for: files or a pool, and plain names
    plan         what a budget buys, or a precision costs
    sheet        the table and its notes, and the same as data; of plans `plan_sheet`

The protocols are the ones that judge real answers; only the judge is another. No model is asked.
"""

from tiebreak.errors import TiebreakError


class EstimateError(TiebreakError, ValueError):
    """An estimate cannot be made as requested; the message says what to do."""
