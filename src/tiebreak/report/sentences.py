"""What reasons say in English: `sentences.yaml` has a text for each kind, with places for figures.

A place is `{name}`, as in `str.format`, or has one of these after a colon:

    {n_items:item|items}     the first word where the figure is 1, else the second; of votes "votes"
    {n_items:items}          items, of votes "votes"
    {share:percent}          37%
    {p:p}, {p:p_most}        p = .012, and p ≤ .012 where several p-values do not exceed it
    {models}, {models:; }    several with commas, or with "; ", between them
    {models:and}             A, B and C
    {models:listed}          A, B and 3 more
    {models:or # models}     the same of up to four; of more the text, with their number: 7 models
    {jurors:grouped}         of names with a clause each: those with the same clause together
"""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any, Final

from tiebreak.plain_yaml import packaged
from tiebreak.text import Votes, all_of, listed, p_value, percent

# More models than this are counted, not named.
_FEW: Final = 4


class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        match format_spec:
            case "percent":
                return percent(value)
            case "p" | "p_most":
                return p_value(value, at_most=format_spec == "p_most")
            case "and":
                return all_of(value)
            case "listed":
                return listed(value)
            case "grouped":
                return _grouped(value)
            case _ if format_spec.startswith("or "):
                few = len(value) <= _FEW
                return all_of(value) if few else format_spec[3:].replace("#", str(len(value)))
            case "items":
                return "votes" if isinstance(value, Votes) else "items"
            case "item|items" if isinstance(value, Votes):
                return self.format_field(value, "vote|votes")
            case _ if "|" in format_spec:
                singular, plural = format_spec.split("|")
                return singular if value == 1 else plural
            case _ if isinstance(value, tuple):
                return (format_spec or ", ").join(map(str, value))
        return format(value, format_spec)


def _grouped(clauses: Iterable[tuple[str, object]]) -> str:
    names: dict[str, list[str]] = {}
    for name, clause in clauses:
        names.setdefault(str(clause), []).append(name)
    return "; ".join(f"{', '.join(alike)}{clause}" for clause, alike in names.items())


def sentence(kind: str, figures: Mapping[str, Any]) -> str:
    """The text of a kind of reason, with its figures in their places."""
    return _Formatter().vformat(SENTENCES[kind], (), figures)


SENTENCES: Final[dict[str, str]] = packaged(__file__, "sentences.yaml")
