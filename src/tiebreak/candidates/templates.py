"""lm-eval's templates: the text that a task makes of a document, without its examples.

Summaries of runs hold the template of each task (`doc_to_text`: Jinja, or the name of a column),
and anyone can write a summary. So a template is rendered only if it does nothing but put columns
together, and no further than the prompt in which its text should be found.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from jinja2 import Template, TemplateError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

_NODES: Final = (
    *(nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Assign, nodes.Keyword),
    *(nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Compare, nodes.Operand, nodes.Test),
    *(nodes.If, nodes.CondExpr, nodes.Not, nodes.And, nodes.Or, nodes.Sub),
)
# None of these makes a text longer: a chain of those that do is exponential.
_FILTERS: Final = {
    *("trim", "lower", "upper", "capitalize", "title", "first", "last", "length", "list", "int"),
    *("default", "d", "safe", "sort", "items"),
}
_METHODS: Final = {
    *("strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "title", "split", "rsplit"),
    *("splitlines", "startswith", "endswith", "items", "keys", "values", "get", "index", "count"),
    *("removeprefix", "removesuffix"),
}
_MOST_JOINS, _LONGEST_JOINT = 2, 20
_LONGEST_TEMPLATE: Final = 20_000


def render(template: str, doc: Mapping[str, Any], longest: int) -> str | None:
    """The text that a template makes of a document; None where that is not found out.

    Args:
        template: Jinja, or the name of a column.
        doc: the document.
        longest: no text of more characters is wanted.
    """
    if isinstance(column := doc.get(template), str):
        return column
    compiled = _compiled(template)
    if compiled is None:
        return None
    pieces, size = [], 0
    try:
        for piece in compiled.generate(doc):
            pieces.append(piece)
            size += len(piece)
            if size > longest:
                return None
    except Exception:  # whatever a template does to a document that it was not made for
        return None
    return "".join(pieces)


@lru_cache(maxsize=64)
def _compiled(template: str) -> Template | None:
    if len(template) > _LONGEST_TEMPLATE or "{{" not in template:
        return None
    environment = ImmutableSandboxedEnvironment(keep_trailing_newline=True)
    try:
        tree = environment.parse(template)
        return environment.from_string(template) if _is_plain(tree) else None
    except TemplateError:
        return None


def _is_plain(tree: nodes.Template) -> bool:
    """Whether a template is short work: no loop in a loop, nothing that makes long texts."""
    loops = list(tree.find_all(nodes.For))
    nested = any(node.find(nodes.For) for loop in loops for node in loop.body)
    joins = [node for node in _below(tree) if _name_of(node) == "join"]
    return not nested and len(joins) <= _MOST_JOINS and all(map(_is_allowed, _below(tree)))


def _below(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in node.iter_child_nodes():
        yield child
        yield from _below(child)


def _name_of(node: nodes.Node) -> str | None:
    """The name of a filter or a method that is called."""
    if isinstance(node, nodes.Filter):
        return node.name
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        return node.node.attr
    return None


def _is_allowed(node: nodes.Node) -> bool:
    match node:
        case nodes.Filter() | nodes.Call() if _name_of(node) in ("join", "replace"):
            return _is_short(node)
        case nodes.Filter():
            return node.name in _FILTERS
        case nodes.Call():
            return _name_of(node) in _METHODS
        case nodes.Tuple() if node.ctx == "store":
            return True
        case nodes.List() | nodes.Tuple():
            return all(isinstance(item, nodes.Const) for item in node.items)
        case nodes.Dict() | nodes.Pair():
            return all(isinstance(part, nodes.Const | nodes.Pair) for part in _below(node))
        case nodes.For():
            return not node.recursive
        case _:
            return isinstance(node, _NODES)


def _is_short(node: nodes.Filter | nodes.Call) -> bool:
    """Whether a join puts a short text between parts, or a replacement makes nothing longer."""
    given = [argument.value for argument in node.args if isinstance(argument, nodes.Const)]
    if len(given) != len(node.args) or not all(isinstance(text, str) for text in given):
        # `", ".join(options)`: the text before the dot stands between.
        joint = node.node.node if isinstance(node.node, nodes.Getattr) else None
        given = [joint.value] if isinstance(joint, nodes.Const) else [" " * (_LONGEST_JOINT + 1)]
    if _name_of(node) == "join":
        return all(len(text) <= _LONGEST_JOINT for text in given)
    return len(given) == 2 and 0 < len(given[0]) >= len(given[1])
