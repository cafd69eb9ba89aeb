"""English text for reasons: `sentences.yaml` has a template for each kind of `Reason`.

A field of a template is `{name}`, as in `str.format`, or has one of these after a colon:

    {n_items:item|items}     the first word if the figure is 1, else the second; for `Votes` "votes"
    {n_items:items}          "items", or "votes" for `Votes`
    {share:percent}          37%
    {p:p}, {p:p_most}        p = .012, or p ≤ .012 for the largest of several p-values
    {models}, {models:; }    a tuple, joined by commas or by "; "
    {models:and}             A, B and C
    {models:listed}          A, B and 3 more
    {models:or # models}     like "and" for up to four, else the text with their number: 7 models
    {jurors:grouped}         (name, clause) pairs; names with the same clause share it
"""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any, Final

from tiebreak.plain_yaml import packaged
from tiebreak.text import Votes, all_of, listed, p_value, percent

# `{models:or # models}` names up to this many models, and counts more than that.
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
    """The sentence for a kind of reason, with its figures filled in."""
    return _Formatter().vformat(SENTENCES[kind], (), figures)


SENTENCES: Final[dict[str, str]] = packaged(__file__, "sentences.yaml")
