"""The base of Tiebreak's errors."""


class TiebreakError(Exception):
    """Something cannot be done as asked; the message is a sentence that says so to a user.

    A verb ends with that sentence, without a traceback. Each room has a root of its own below this.
    """
