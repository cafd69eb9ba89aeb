"""What all results of analyses have in common: a short `repr`, and their sheet in a notebook."""

from tiebreak.text import visible


class Finding:
    """A result that says in a line what it is of; a notebook shows it whole.

    A subclass is a dataclass with `repr=False`; its `str` is the line.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        # Names come from logs, and might steer a terminal.
        return f"{type(self).__name__}({visible(str(self))})"

    def _repr_html_(self) -> str:
        # The one way up: a notebook asks the result itself, and only report knows how it looks.
        from tiebreak.report.sheets import html_of

        return html_of(self)


def shortened(names: list[str], most: int = 3) -> str:
    """Some names with commas between them, and how many more there are."""
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
