"""Protocols: how judges are asked about candidates' answers, and what their ballots say.

    protocols, session     a protocol is a function; what it asks with
    catalogue, rules       the built-in protocols, and the rules by which ballots rank
    seal, baselines, …     their functions
    judge, questions       who answers, and what is asked; prompts/ and rubrics/ hold the words
    ballots, placement     what is kept, and the ranking of an item that follows from it

What a protocol's author needs is here by name; it is loaded when first used.
"""

import lazy_loader

# What there is stands in `__init__.pyi`, and is loaded when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
