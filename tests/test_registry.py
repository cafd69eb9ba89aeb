"""What is ready to be sent to lists of extensions is true of the package; no address is made up."""

import ast
import re
import tomllib
from typing import Any

import pytest
import yaml

import tiebreak
from tests.harness import ROOT
from tiebreak.scorers.catalogue import PROTOCOLS

GITHUB = ROOT / ".github"
PACKAGE = ROOT / "src" / "tiebreak"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

pytestmark = pytest.mark.skipif(
    (ROOT / "PKG-INFO").exists(), reason="a source distribution has no templates"
)


def read(name: str) -> Any:
    return yaml.safe_load((GITHUB / name).read_text(encoding="utf-8"))


def tasks() -> set[str]:
    """Functions that are marked as tasks of Inspect."""
    return {
        node.name
        for room in ("inspect_tasks", "fair/tasks")
        for module in (PACKAGE / room).glob("*.py")
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(mark).partition("(")[0] == "task" for mark in node.decorator_list)
    }


def test_the_facts_are_those_of_the_package() -> None:
    facts = read("registry/package.yml")
    assert facts["name"] == PROJECT["name"] == tiebreak.__name__
    assert facts["version"] == PROJECT["version"] == tiebreak.__version__
    assert (facts["license"], facts["python"]) == (PROJECT["license"], PROJECT["requires-python"])
    assert facts["inspect"] in PROJECT["dependencies"]
    assert set(facts["inspect_tasks"]) == tasks() > set(PROTOCOLS)
    written = {
        path.stem for path in (PACKAGE / "benchmarks" / "lm_eval_tasks").glob("tiebreak*.yaml")
    }
    assert set(facts["lm_eval_tasks"]) == written
    assert set(facts["extras"]) == set(PROJECT["optional-dependencies"])


def test_the_entry_has_what_the_list_of_extensions_asks_for() -> None:
    [entry] = read("registry/inspect-extension.yml")
    assert set(entry) == {"name", "description", "author", "categories"}
    assert entry["name"].casefold() == PROJECT["name"]
    assert set(entry["categories"]) <= {"Sandboxes", "Analysis", "Frameworks", "Tooling"}
    for protocol in ("round robin", "SEAL", "Swiss", "peer review", "stars"):
        assert protocol in entry["description"]
        assert protocol.replace(" ", "_").casefold() in PROTOCOLS


def test_no_address_is_invented() -> None:
    files = [path for path in GITHUB.rglob("*") if path.is_file()]
    assert len(files) >= 7
    for path in files:
        found = re.findall(r"https?://\S+|\S+@\S+\.\S+", path.read_text(encoding="utf-8"))
        assert found == [], path


@pytest.mark.parametrize("name", ["bug", "question"])
def test_forms_are_forms(name: str) -> None:
    """A name, a description, and fields, each with an id of its own."""
    form = read(f"ISSUE_TEMPLATE/{name}.yml")
    assert form["name"]
    assert form["description"]
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in fields}) == len(fields) >= 3
    assert {part["type"] for part in fields} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert all(part["attributes"]["label"] for part in fields)
