"""Protocols: how judges are asked about candidates' answers, and what their ballots say.

    protocols, session     a protocol is a function; the session through which it asks
    catalogue, rules       the built-in protocols, and the rules by which ballots rank
    seal, baselines, …     their functions
    judge, questions       who answers, and what is asked; prompts/ and rubrics/ hold the texts
    ballots, placement     the stored data, and the ranking of an item that follows from it

Names that protocol authors need are exported here; they are loaded on first use.
"""

import lazy_loader

# `__init__.pyi` lists the exports, which are loaded on first use.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
