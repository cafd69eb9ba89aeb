"""Hints at what to install: right where the package is on no index, and all from one place."""

import ast
import re
import sys
import tomllib

import pytest
from click.testing import CliRunner

from tests.cases import cases
from tests.harness import ROOT
from tiebreak.cli.verbs import main
from tiebreak.extras import to_install

PACKAGE = ROOT / "src" / "tiebreak"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
KEPT = ("src", "docs", "examples", "deploy", "tools", "benchmarks", ".github")
TEXT = {".py", ".md", ".yaml", ".yml", ".html", ".j2", ".sh", ""}
FROM_AN_INDEX = re.compile(r"tiebreak\[|pip3? install[^\n#;&|]*[ '\"]tiebreak\b")
OF_A_CLONE = re.compile(r"'\.\[([^\]{]+)\]'")


def texts() -> dict[str, str]:
    files = [path for name in KEPT for path in (ROOT / name).rglob("*")]
    files += [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in files
        if path.is_file() and path.suffix in TEXT and path != PACKAGE / "extras.py"
    }


def test_nothing_is_installed_by_a_name_that_no_index_has() -> None:
    found = {path: FROM_AN_INDEX.findall(text) for path, text in texts().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_extras_of_the_documentation_exist() -> None:
    named = {path: OF_A_CLONE.findall(text) for path, text in texts().items()}
    assert {"docs/how-to/inspect.md", "README.md"} <= {
        path for path, extras in named.items() if extras
    }
    for path, extras in named.items():
        assert {name for some in extras for name in some.split(",")} <= set(EXTRAS), path
        assert not (path.startswith("src") and extras), f"{path} words a hint of its own"


def test_hints_of_the_package_name_extras_and_what_is_in_them() -> None:
    calls = [
        [ast.unparse(argument).strip("'") for argument in node.args]
        for module in PACKAGE.rglob("*.py")
        if module != PACKAGE / "rankers" / "errors.py"
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("to_install", "optional")
    ]
    calls = [["rankings", call[2]] if len(call) == 3 else call for call in calls]
    assert len(calls) >= 11
    for extra, *packages in calls:
        for package in packages:
            assert package in {re.split(r"[<>=\[]", name)[0] for name in EXTRAS[extra]}
        assert extra in EXTRAS


@pytest.mark.parametrize(("extra", "packages", "hint"), cases(__file__, "hints"))
def test_hints(extra: str, packages: list[str], hint: str) -> None:
    assert to_install(extra, *packages) == hint


def test_a_bank_without_its_packages_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def verb(**_: object) -> None:
        raise ModuleNotFoundError("No module named 'sqlalchemy'", name=missing)

    monkeypatch.setattr(main.commands["bank"].commands["stats"], "callback", verb)  # type: ignore[attr-defined]
    missing = "sqlalchemy.exc"
    done = CliRunner().invoke(main, ["bank", "stats", "--bank", "nowhere.db"])
    assert (done.exit_code, done.output) == (
        1,
        "Error: A bank needs sqlalchemy: in a clone of Tiebreak, pip install '.[bank]'.\n",
    )
    missing = "tiebreak.fair.bank.gone"  # a fault of ours is no missing package
    done = CliRunner().invoke(main, ["bank", "stats", "--bank", "nowhere.db"])
    assert isinstance(done.exception, ModuleNotFoundError)


def test_the_page_for_votes_without_its_packages_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "tiebreak.people.page", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(main, ["vote", "nowhere"])
    hint = "in a clone of Tiebreak, pip install '.[people]'"
    assert (done.exit_code, done.output) == (1, f"Error: The page needs uvicorn: {hint}.\n")
