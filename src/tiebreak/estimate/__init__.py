"""The estimate: what a protocol would ask, and what that would cost, before anything is paid.

    dry_judge    a judge that renders and counts every prompt and makes up the reply
    tokens       how texts are counted without a model
    totals       from some items to all of them: a sample, totals and their uncertainty
    prices       dollars per million tokens, by model
    peers        who would review in peer review, and which candidate each is
    experience   what an earlier ranking log says about a judge instead
    estimate     all of that for a pool and some protocols
    console      the table, and the same as data

The protocols are the ones that judge real answers; only the judge is another. No model is asked.
"""
