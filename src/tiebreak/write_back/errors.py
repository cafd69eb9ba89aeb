"""Why ranks cannot be written back."""


class WriteBackError(ValueError):
    """Ranks cannot be written back; the message says why and what to do next."""
