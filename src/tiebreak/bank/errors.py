"""The error of the bank."""


class BankError(ValueError):
    """A bank, a file of questions or a session cannot be used; the message says what to do."""
