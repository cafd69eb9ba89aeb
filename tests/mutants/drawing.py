"""Lists all mutants, and draws a random sample: first lines, then one mutant of each line."""

import ast
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

Span = tuple[tuple[int, int], tuple[int, int]]
"""Start (line, column) and end (line, column, not included)."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes:
        module: path of the module relative to the package, e.g. `scorers/bracket.py`.
        line: line where the change begins, from 1.
        operator: cosmic-ray's name of the kind of change.
        occurrence: index, from 0, among the places in the module that the operator can change.
        start: line and column where the change begins.
        end: line and column where it ends.
    """

    module: str
    line: int
    operator: str
    occurrence: int
    start: tuple[int, int]
    end: tuple[int, int]

    @property
    def room(self) -> str:
        """The folder of the package that the module is in."""
        return self.module.split("/")[0]


def mutants_of(module: str, source: str, operators: Iterable[str]) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    nodes, tree = list(ast_nodes(get_ast(source))), ast.parse(source)
    unchanged, operations = list(_unchanged(tree)), _operations(tree)
    for operator in operators:
        positions = get_operator(f"core/{operator}")().mutation_positions
        places = ((start, end) for node in nodes for start, end in positions(node))
        for occurrence, (start, end) in enumerate(places):
            if "BinaryOperator" in operator and not _within(start, operations):
                continue
            if not _within(start, unchanged):
                yield Mutant(module, start[0], operator, occurrence, start, end)


def mutated(source: str, mutant: Mutant) -> str:
    """The module's source with the change."""
    changed = mutate_code(source, get_operator(f"core/{mutant.operator}")(), mutant.occurrence)
    if changed is None:
        raise ValueError(f"{mutant}: no such place in the source")
    return str(changed)


def drawn(mutants: Iterable[Mutant], seed: int) -> Iterator[Mutant]:
    """Yield one mutant of each line, in random order: first its operator is drawn, then the place.

    So a line with forty numbers counts as much as one with a single comparison.
    """
    by_line: dict[tuple[str, int], dict[str, list[Mutant]]] = defaultdict(lambda: defaultdict(list))
    for mutant in mutants:
        by_line[mutant.module, mutant.line][mutant.operator].append(mutant)
    generator = random.Random(seed)
    for line in generator.sample(sorted(by_line), len(by_line)):
        places = by_line[line]
        yield generator.choice(places[generator.choice(sorted(places))])


def changed_lines(source: str, changed: str) -> tuple[str, str]:
    """Return the lines that differ, before and after, each stripped and joined by spaces."""
    before, after = source.splitlines(), changed.splitlines()
    start = next(
        (i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0
    )
    tail = 0
    while before[-1 - tail] == after[-1 - tail] and tail < min(len(before), len(after)) - start - 1:
        tail += 1
    texts = (lines[start : len(lines) - tail] for lines in (before, after))
    one, other = (" ".join(line.strip() for line in text) for text in texts)
    return one, other


def sources(package: Path, rooms: Iterable[str]) -> dict[str, str]:
    """Read the modules of the rooms; returns their source by path relative to the package."""
    paths = (path for room in rooms for path in sorted((package / room).rglob("*.py")))
    return {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in paths}


def _unchanged(tree: ast.Module) -> Iterator[Span]:
    """Yield the code that is not worth a change: annotations, `if TYPE_CHECKING`, and guards.

    Guards against a programmer's slip are `strict=` of a zip and the decorators of a class.
    """
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(annotation=hint) | ast.arg(annotation=ast.expr() as hint):
                yield _span(hint)
            case ast.FunctionDef(returns=ast.expr() as hint):
                yield _span(hint)
            case ast.If(test=ast.Name(id="TYPE_CHECKING") as test):
                yield _span(test)
            case ast.Call(func=ast.Name(id="zip"), keywords=options):
                yield from (_span(option) for option in options)
            case ast.ClassDef(decorator_list=decorators):
                yield from (_span(one) for one in decorators)


def _operations(tree: ast.Module) -> list[Span]:
    """Spans between two operands: cosmic-ray also takes the `*` of `f(*args)` for an operator."""
    return [
        (_span(node.left)[1], _span(node.right)[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp)
    ] + [
        (_span(node.target)[1], _span(node.value)[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign)
    ]


def _within(place: tuple[int, int], spans: Iterable[Span]) -> bool:
    return any(first <= place < last for first, last in spans)


def _span(node: ast.expr | ast.keyword) -> Span:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
