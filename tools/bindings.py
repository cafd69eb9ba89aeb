"""Counts the vague names that the package binds, by room and in total.

    python -m tools.bindings [--list]

A binding is a name that an assignment, a loop, a comprehension, an import, a parameter, a function
or a class makes. `--list` prints each with its place, as file:line: name.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PACKAGE: Final = Path(__file__).parent.parent / "src" / "tiebreak"

DIALECT: Final = {
    *("one", "found", "own", "said", "told", "whole", "beside", "who", "what", "has", "it", "its"),
    *("there", "that", "each", "every", "mine", "others", "says", "does", "which"),
}
"""Words in place of which the field has a noun, e.g. model, result, ballot, score."""


class Binding(NamedTuple):
    """A name and where it is bound."""

    path: Path
    line: int
    name: str


def bindings(path: Path) -> Iterator[Binding]:
    """Yield all names that a module binds."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.alias):
            name = node.asname or node.name.rpartition(".")[2]
        if name:
            yield Binding(path, getattr(node, "lineno", 0), name)


def main() -> None:
    """Print the share of vague names in each room and in total."""
    counts: Counter[str] = Counter()
    vague: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for binding in bindings(path):
            counts[room] += 1
            if binding.name.strip("_") in DIALECT:
                vague[room] += 1
                if "--list" in sys.argv[1:]:
                    print(f"{path.relative_to(PACKAGE)}:{binding.line}: {binding.name}")
    for room, n in counts.most_common():
        print(f"{room:15} {vague[room]:5,} of {n:6,}  {vague[room] / n:.1%}")
    total, n = vague.total(), counts.total()
    print(f"{'in all':15} {total:5,} of {n:6,}  {total / n:.2%}")


if __name__ == "__main__":
    main()
