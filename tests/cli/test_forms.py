"""Markdown and LaTeX of the verbs are tables with the cells that a terminal shows."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from tests.ranking_logs.builders import bracket, write_log
from tests.report.test_renderers import read
from tiebreak.cli.verbs import main

VERBS = {
    "rank": "rank logs --draws 100",
    "compare": "compare logs --reference seal --draws 100",
    "csd": "csd scores.csv --iterations 100",
    "aggregate": "aggregate scores.csv --method all",
}


def rows_of(text: str) -> list[list[str]]:
    """The rows of all tables, as a renderer of Markdown reads them."""
    return read(MarkdownIt("commonmark").enable("table").render(text)).rows


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for protocol in ("seal", "flat_bracket"):
        items = [bracket(f"q{k}", "o/a_b", "o/b&c", "c%", protocol=protocol) for k in range(3)]
        write_log(tmp_path / "logs" / f"{protocol}.eval", items, eval_id=protocol, task_id=protocol)
    (tmp_path / "scores.csv").write_text("model,maths,law\no/a_b,9,7\no/b&c,8,8\nc%,1,3\n")


def printed(command: str, form: str) -> str:
    done = CliRunner().invoke(main, [*command.split(), "--format", form])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("given")
@pytest.mark.parametrize("command", VERBS.values(), ids=VERBS)
def test_a_verb_prints_the_same_cells_in_every_form(command: str) -> None:
    from_html = read(printed(command, "html")).rows
    found = rows_of(printed(command, "markdown"))
    assert found
    # HTML has a second line of a cell without the brackets that Markdown sets around it.
    bare = [[re.sub(r"[() ]", "", cell) for cell in row] for row in found]
    assert bare == [[re.sub(r"[() ]", "", cell) for cell in row] for row in from_html]
    text = printed(command, "latex")
    tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text, re.S)
    rows = [row for _, body in tables for row in body.splitlines() if row.endswith(r"\\")]
    assert len(rows) == len(found)
    for sides, body in tables:
        own = [row for row in body.splitlines() if row.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in own} == {len(sides)}
    # Every environment and brace that is opened is closed, and no sign is left bare.
    assert sorted(re.findall(r"\\begin\{(\w+)\}", text)) == sorted(
        re.findall(r"\\end\{(\w+)\}", text)
    )
    bare_text = re.sub(r"\\[\\{}%&#_$]", "", text)
    assert bare_text.count("{") == bare_text.count("}")
    assert bare_text.count("$") % 2 == 0
    assert not re.search(r"[%#_]", bare_text)
