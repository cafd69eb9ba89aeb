"""Prints the size of the package: lines, rooms, modules, circles, dataclasses and vague names.

    python -m tools.house [--list]

Imports inside functions count, too, and so do those of stubs (.pyi), which say what a package
exports. Lists of names from which tasks and findings are loaded are not imports. `--list` names the
modules with one importer, and counts dataclasses by room.
"""

import ast
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from tools.bindings import DIALECT, PACKAGE, bindings

TESTS: Final = PACKAGE.parent.parent / "tests"


def n_lines(folder: Path) -> int:
    """Count the lines of Python below a folder."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py"))


def modules() -> dict[str, ast.Module]:
    """Parse the modules and stubs of the package; returns them by name, stubs as NAME.pyi."""
    parsed = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        name = (name.removesuffix(".__init__") + path.suffix).removesuffix(".py")
        parsed[name] = ast.parse(path.read_text("utf-8"))
    return parsed


def imports(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """For each module, those of `modules` that it imports, also if only for types."""
    graph: dict[str, set[str]] = {}
    for name, tree in modules.items():
        graph[name] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                package = name.removesuffix(".pyi") if node.level else ""  # only stubs do
                source = f"{package}.{node.module}".lstrip(".")
                inside = {f"{source}.{alias.name}" for alias in node.names}
                graph[name] |= {path if path in modules else source for path in inside}
            elif isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
        graph[name] &= modules.keys() - {name}
    return graph


def main() -> None:
    """Print the figures."""
    parsed = modules()
    dataclasses: Counter[str] = Counter()
    for name, tree in parsed.items():
        room = name.partition(".")[2].partition(".")[0]
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                dataclasses[room] += "dataclass" in "".join(map(ast.unparse, node.decorator_list))
    graph = imports(parsed)
    importers = Counter(there for names in graph.values() for there in names)
    packages = {name.rpartition(".")[0] for name in parsed}
    single = [n for n in parsed if importers[n] == 1 and n not in packages and ".cli" not in n]
    try:
        TopologicalSorter(graph).prepare()
        circle = "none"
    except CycleError as error:
        circle = " -> ".join(error.args[1])
    names = [bound.name.strip("_") for path in PACKAGE.rglob("*.py") for bound in bindings(path)]
    vague = sum(name in DIALECT for name in names)
    rooms = {path.name: n_lines(path) for path in PACKAGE.iterdir() if [*path.glob("*.py")]}
    biggest, total = max(rooms, key=lambda room: rooms[room]), n_lines(PACKAGE)
    print(f"lines of src          {total:,}, of fair {rooms['fair']:,}")
    print(f"modules               {sum(not name.endswith('.pyi') for name in parsed)}")
    print(f"rooms                 {len(rooms)}; biggest {biggest}, {rooms[biggest] / total:.1%}")
    print(f"circles of files      {circle}")
    print(f"vague names           {vague / len(names):.2%}")
    print(f"with one importer     {len(single)}, outside of cli")
    print(f"dataclasses           {dataclasses.total()}")
    print(f"lines of tests        {n_lines(TESTS):,}")
    if "--list" in sys.argv[1:]:
        print(*single, sep="\n")
        print(*(f"{room}: {n} dataclasses" for room, n in dataclasses.items() if n), sep="\n")


if __name__ == "__main__":
    main()
