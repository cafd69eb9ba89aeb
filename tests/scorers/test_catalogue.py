"""Every built-in protocol is complete: its function, its task with the same defaults, its help."""

import inspect
import re
from importlib import import_module

import pytest

from tests.harness import ROOT
from tiebreak.inspect_tasks import rerank
from tiebreak.scorers.catalogue import ONE_JUDGE, PROTOCOLS, REFERENCE, STANDARD
from tiebreak.scorers.protocols import find_protocol, read_variant
from tiebreak.scorers.rules import RULES

TABLE = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
# What a task takes beside its protocol's settings, and the one of its own.
TASK_ONLY = {"peer_review": {"reviewers"}}


def own_arguments(function: object) -> dict[str, object]:
    """Name and default of a task's own arguments."""
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return {p.name: p.default for p in parameters if p.kind is not p.VAR_KEYWORD}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_its_function_is_in_its_module(name: str) -> None:
    import_module(f"tiebreak.scorers.{PROTOCOLS[name].module}")
    found = find_protocol(name)
    assert found.run.__module__ == f"tiebreak.scorers.{PROTOCOLS[name].module}"
    assert RULES[found.placed_by].reviewed == PROTOCOLS[name].peers
    assert found.keyed == PROTOCOLS[name].keyed


@pytest.mark.parametrize("name", PROTOCOLS)
def test_its_task_takes_its_settings_with_its_defaults(name: str) -> None:
    task = getattr(rerank, name, None)
    assert task is not None, f"inspect_tasks/rerank.py has no @task {name}"
    settings = {
        p.name: p.default
        for p in inspect.signature(find_protocol(name).run).parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.default is not p.empty
    }
    arguments = own_arguments(task)
    for argument in TASK_ONLY.get(name, ()):
        arguments.pop(argument)
    assert arguments == settings


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_page_says_what_it_asks_and_takes(name: str) -> None:
    row = re.search(rf"^\| `{name}` \| (.*?) \| .*? \| (.*?) ?\|$", TABLE, re.MULTILINE)
    assert row is not None, f"the table of docs/protocols.md has no row {name}"
    assert row[1] == PROTOCOLS[name].help
    assert re.findall(r"`(\w+)`", row[2]) == list(own_arguments(getattr(rerank, name)))


def test_no_task_is_left_without_a_protocol() -> None:
    tasks = re.findall(r"@task\ndef (\w+)\(", inspect.getsource(rerank))
    assert set(tasks) == {*PROTOCOLS, "own"}


def test_lists_of_protocols() -> None:
    assert set(PROTOCOLS) - set(ONE_JUDGE) == {"peer_review", "stars"}
    assert REFERENCE in ONE_JUDGE
    assert {read_variant(label).protocol.name for label in STANDARD} == set(ONE_JUDGE)
