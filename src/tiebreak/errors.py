"""The base class of Tiebreak's errors."""


class TiebreakError(Exception):
    """Base class: a request cannot be carried out; the message is a sentence for the user.

    Verbs print the message without a traceback. Each room derives its own base class from this one.
    """
