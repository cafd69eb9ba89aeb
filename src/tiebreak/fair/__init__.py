"""LLMEval-Fair: a private question bank, its server, its tasks and what is read from its results.

    bank      questions, expansion, review, sessions and tokens in one database
    server    the protected server for examinees who are not trusted
    tasks     `fair`, which asks unseen questions, and `replay`, which looks for memorised ones
    analysis  contamination; star scores over samples, dates, causes and fewer questions
    report    their sheets and figures
    cli       their verbs

Nothing else imports this room, but for the lists of verbs, tasks and findings.
"""
