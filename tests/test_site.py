"""The documentation site: its pages, links and reference, where `make docs` itself does not look.

Zensical finds broken links between pages, broken anchors and names that do not exist; it passes
over pages in no menu, menus without a page, missing pictures, and links out of `docs/`.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from PIL import Image

import tiebreak
from tests.cli.test_interface import verbs
from tests.harness import ROOT
from tiebreak.analysis import frames
from tiebreak.cli.verbs import main
from tiebreak.inspect_tasks.arguments import DEFAULTS
from tiebreak.scorers.catalogue import PROTOCOLS
from tools import picture, reference

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
MADE = {"tutorial.md", "reference/figures.md", *(f"reference/{name}" for name in reference.PAGES)}
REPORT = "example/index.html"


def in_menu(entry: object) -> Iterator[str]:
    """The files that a menu names."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for below in entry.values():
            yield from in_menu(below)
    elif isinstance(entry, list):
        for below in entry:
            yield from in_menu(below)


def test_every_page_is_in_the_menu_once() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    named = sorted(in_menu(site["project"]["nav"]))
    there = {page.relative_to(DOCS).as_posix() for page in PAGES[1:]}
    assert named == sorted(there | MADE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    lost = []
    for target in (one or other for one, other in targets):
        path = (page.parent / target.partition("#")[0]).resolve()
        if re.match(r"https?:|#", target):
            continue
        inside = page.parent == ROOT or path.is_relative_to(DOCS)
        made = path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix() in MADE | {REPORT}
        if not inside or not (made or path.exists()):
            lost.append(target)
    assert lost == []


def test_no_page_is_too_long_to_read() -> None:
    """But for the JSON documents, in which one looks up a name."""
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
    texts |= {name: page() for name, page in reference.PAGES.items() if name != "json.md"}
    words = {name: len(re.findall(r"\S*\w\S*", text)) for name, text in texts.items()}
    assert {name: n for name, n in words.items() if n > 2500} == {}


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 100] == []


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == tiebreak.__version__
    assert all(one["authors"] for one in (citation, *citation["references"]))


def test_the_pages_of_python_have_every_public_name() -> None:
    pages = sorted((DOCS / "reference" / "python").glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = re.findall(r"^::: tiebreak\.(\S+)$", text, re.M)
    from tiebreak import scorers

    assert sorted(named) == sorted([*dir(tiebreak), *(f"scorers.{name}" for name in dir(scorers))])


def test_the_pages_of_the_command_line_have_every_option() -> None:
    pages = "\n".join(map(reference.verbs, reference.stages()))
    parts = re.split(r"^##+ (.*)$", pages, flags=re.M)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    commands = dict(verbs(main, "tiebreak"))
    del commands["tiebreak"]
    assert texts.keys() == commands.keys()
    assert all(
        f"[`{name}`](" in reference.command_line() for name in commands if name.count(" ") < 2
    )
    for name, command in commands.items():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                assert all(
                    f"`{option}" in texts[name] or f" {option}" in texts[name]
                    for option in param.opts
                ), (name, param.name)


def test_the_page_of_tasks_has_every_task_and_argument() -> None:
    text = reference.tasks()
    tasks = re.findall(r"^### tiebreak/(\w+)$", text, re.M)
    assert {*PROTOCOLS, "own", "humaneval", "gsm8k", "mmlu", "bfcl", "fair", "replay"} <= set(tasks)
    shared = text.partition("## Arguments of every judging task")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", shared, re.M) == list(DEFAULTS)


def test_an_argument_without_a_word_is_an_error() -> None:
    with pytest.raises(KeyError, match="new"):
        reference.arguments("Do it.\n\nArgs:\n    old: What was there.", {"new": int}, {"new": 1})


def test_the_page_of_json_has_every_document() -> None:
    documents = reference.documents()
    assert {"tiebreak/leaderboards", "tiebreak/peer-review", "tiebreak/plan"} <= documents.keys()
    sources = (path.read_text(encoding="utf-8") for path in reference.PACKAGE.rglob("*.py"))
    made = {
        name for text in sources for name in re.findall(r'document\(\s*"(tiebreak/[\w-]+)"', text)
    }
    assert documents.keys() == made
    assert all(text for _, text, _ in documents.values())
    assert all(f"## {name}\n" in reference.json_documents() for name in documents)


def test_the_page_of_data_frames_has_every_column() -> None:
    text = reference.data_frames()
    columns = [*frames.LEADERBOARD, *frames.RANKINGS, *frames.BALLOTS]
    assert re.findall(r"^\| `(\w+)` \|", text, re.M) == columns


def test_pictures_are_of_the_page_that_is_made_today(tmp_path: Path) -> None:
    today = picture.digest(picture.written(tmp_path))
    kept = {path: Image.open(path).info.get(picture.PAGE) for path in picture.IMAGES.iterdir()}
    assert len(kept) == 2
    assert set(kept.values()) == {today}, "make picture"
