"""The tables of the pages' tests hold nothing that no page needs, and pages nothing unchecked."""

import json
import re
from pathlib import Path

import pytest

from tests.harness import ROOT
from tests.pages import tables
from tests.pages.reading import MADE, blocks, code, scenes, texts
from tests.test_outputs import PAGES as SHOWN
from tiebreak.candidates.prompts import prompt_of
from tiebreak.study.design import read_study
from tools import reference

pytestmark = pytest.mark.pages

SCENES = {scene.name: scene for scene in scenes()}
LINES = [line for scene in SCENES.values() for line in scene.commands]


@pytest.mark.parametrize("start", tables.NOT_RUN)
def test_what_is_not_run_stands_on_a_page(start: str) -> None:
    assert any(line.startswith(start) for line in LINES)
    assert (ROOT / tables.NOT_RUN[start]).is_file()


@pytest.mark.parametrize("pattern", tables.PUT)
def test_what_is_replaced_stands_on_a_page(pattern: str) -> None:
    assert any(re.search(pattern, line) for line in LINES)


@pytest.mark.parametrize("name", [*tables.REMOVED, *tables.GIVEN])
def test_what_is_prepared_is_for_a_page(name: str) -> None:
    assert name in SCENES


def test_most_commands_are_run() -> None:
    run = [line for line in LINES if not tables.why_not_run(line)]
    assert len(run) > 260
    assert len(LINES) - len(run) < 25
    assert len(list(code())) >= 2
    assert {"README.md", "docs/papers.md", "docs/fair.md", f"{MADE}:tiebreak rank"} <= set(SCENES)


def test_only_known_kinds_of_blocks() -> None:
    """What is neither run nor shown as an output has no place to be wrong in unseen."""
    outputs = {page.relative_to(ROOT).as_posix() for page in SHOWN}
    by_hand = {name: text for name, text in texts().items() if name not in MADE_PAGES}
    kinds = {name: {block.kind for block in blocks(text)} for name, text in by_hand.items()}
    assert {name for name, found in kinds.items() if "text" in found} == outputs
    assert set().union(*kinds.values()) == {"sh", "inline", "python", "text", "yaml", "json"}


def test_data_on_pages_is_what_it_says(tmp_path: Path) -> None:
    data = [block for text in texts().values() for block in blocks(text)]
    studies = [block.text for block in data if block.kind == "yaml"]
    for number, study in enumerate(studies):
        path = tmp_path / f"{number}.yaml"
        path.write_text(study, encoding="utf-8")
        assert read_study(path).models
    rows = [json.loads(block.text) for block in data if block.kind == "json"]
    assert [prompt_of(row) for row in rows]
    assert studies


MADE_PAGES = {name for name in texts() if not (ROOT / name).is_file()} | {
    f"docs/reference/{name}" for name in reference.PAGES
}
