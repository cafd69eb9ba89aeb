"""Messages spell options as the command line has them, whoever reads them.

The same sentence reaches who gave `--mode`, who gave `-T mode=…` and who called a function, and is
written into pages. Options are the spelling that all of them can read; functions have arguments of
the same names.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import cases
from tests.harness import ROOT

PACKAGE = ROOT / "src" / "tiebreak"
# Text that is code for somebody else: HTML, SQL, programs, and arguments of models.
CODE = re.compile(r"<[a-z!]|[A-Z]+ OR REPLACE |CREATE |^import |^def |\bload_dataset\(|^Examples?:")
# Behind -T and in what a role is given, NAME=VALUE is how the command line has it.
GIVEN = re.compile(r"(-T|-M|--\w[\w-]*) '?[\w.]+=\S*|[A-Z_]{4,}=\S*|'?\w+=\[[\w, /…-]*\]'?")
OF_PYTHON = re.compile(
    r"(?<![\w.:,/-])[a-z_]{3,}=(?=['\"\[{\w)]|[,.;)]|$)"  # mode='intersect', (choose with metric=)
    r"|\b(load|read|write)_[a-z_]+\("
    r"|`[a-z_]+=?`|`\.\w+`"
)
# Names of sandboxes, of columns of a dataset, and of our own verbs.
PYTHON_FOR_A_REASON = {
    "`local`",
    "`bubblewrap`",
    "`configs`",
    "`test`",
    "`entry_point`",
    "`rank`",
    "`csd`",
}


def literals(module: Path) -> Iterator[tuple[int, str]]:
    """Texts of a module that may be shown: no docstring, no single word."""
    waiting: list[ast.AST] = [ast.parse(module.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (one.value if isinstance(one, ast.Constant) else "…" for one in node.values)
            yield node.lineno, "".join(map(str, parts))
            waiting += [one for one in node.values if isinstance(one, ast.FormattedValue)]
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.lineno, node.value
        elif not isinstance(node, ast.arguments | ast.Name | ast.alias):
            waiting.extend(ast.iter_child_nodes(node))


def python_in(text: str) -> list[str]:
    if " " not in text.strip() or not OF_PYTHON.search(text) or CODE.search(text):
        return []
    found = [one[0] for one in OF_PYTHON.finditer(GIVEN.sub("", text))]
    return [one for one in found if one not in PYTHON_FOR_A_REASON]


@pytest.mark.parametrize(("text", "found"), cases(__file__, "what is found"))
def test_what_is_found(text: str, found: list[str]) -> None:
    assert python_in(text) == found


@pytest.mark.slow
def test_no_message_spells_an_option_as_an_argument_of_python() -> None:
    found = {
        f"{module.relative_to(PACKAGE)}:{line}": named
        for module in sorted(PACKAGE.rglob("*.py"))
        if "sandbox" not in module.parts
        for line, text in literals(module)
        if (named := python_in(text))
    }
    assert found == {}


def test_no_text_that_users_are_known_to_see_does() -> None:
    """Of what the commands print, and of the pages that tests keep."""
    kept = [*ROOT.glob("tests/**/expected/*.txt"), ROOT / "tests" / "cli" / "interface.txt"]
    files = [file for file in kept if file.name != "handed.txt"]  # calls, which users do not see
    assert len(files) > 20
    spelt = re.compile(r"\b(mode|native|filter|metric|missing)='|`(mode|native|filter|rename)=?`")
    found = {str(file.relative_to(ROOT)): spelt.findall(file.read_text("utf-8")) for file in files}
    values = {name: hits for name, hits in found.items() if hits and "/analysis/" not in name}
    assert values == {}  # those of analysis are fields of dataclasses
