"""The base of all results of analyses: a short `repr`, and the whole sheet in a notebook."""

from tiebreak.text import visible


class Finding:
    """A result whose `repr` is one line; a notebook shows its whole sheet.

    A subclass is a dataclass with `repr=False`; its `str` gives the line.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        # Names come from logs and may contain terminal control sequences.
        return f"{type(self).__name__}({visible(str(self))})"

    def _repr_html_(self) -> str:
        # The only import of `report` in this room: notebooks ask the result itself for its HTML.
        from tiebreak.report.sheets import html_of

        return html_of(self)


def shortened(names: list[str], most: int = 3) -> str:
    """The first `most` names, separated by commas, and the number of all if there are more."""
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
