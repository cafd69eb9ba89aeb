"""Runs the tutorial `docs/tutorial.ipynb`, compares its outputs, and writes it as a page.

    python -m tools.tutorial

It runs in a temporary folder with a link to `examples/`, and with a stand-in for the Hugging Face
Hub on loopback. A cell whose output differs from the notebook's is an error; with TIEBREAK_RENEW=1
the notebook keeps the new output. Cells tagged "varies" (they print times) are not compared.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.publish.fake_hub import WRITE, FakeHub

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
PAGE = NOTEBOOK.with_suffix(".md")
SECONDS = 300
"""Time limit of a cell; in one of them the embedded model judges."""
HUB = re.compile(r"http://127\.0\.0\.1:\d+")
STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def main() -> None:
    """Run the notebook and write the page; exits with an error if an output differs."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    shown = [list(texts(cell)) for cell in notebook.cells]
    run(notebook)
    found = [list(texts(cell)) for cell in notebook.cells]
    if os.environ.get("TIEBREAK_RENEW"):
        nbformat.write(notebook, NOTEBOOK)
    elif others := list(differing(notebook, shown, found)):
        sys.exit("\n\n".join(others) + "\nIf that is right: TIEBREAK_RENEW=1 make docs")
    PAGE.write_text(page(notebook), encoding="utf-8")


def run(notebook: Any) -> None:
    """Run all cells, and put their outputs into the notebook, without those of the error stream."""
    with tempfile.TemporaryDirectory() as folder, FakeHub().running() as hub:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.environ |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "80",
            "HF_ENDPOINT": hub.url,
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HOME": f"{folder}/hub",
            "HF_TOKEN": WRITE,
            "INSPECT_CACHE_DIR": f"{folder}/cache",
        }
        os.environ.pop("HF_HUB_OFFLINE", None)
        NotebookClient(
            notebook,
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
            timeout=SECONDS,
            resources={"metadata": {"path": folder}},
            coalesce_streams=True,
            record_timing=False,
        ).execute()
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text" in output:
                output.text = HUB.sub("http://127.0.0.1:8000", still(output.text))
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]


def still(text: str) -> str:
    """Remove colours, progress and blanks at ends of lines from the output of a terminal."""
    lines = (line.rstrip("\r").split("\r")[-1] for line in text.split("\n"))
    return "\n".join(STEERING.sub("", line).rstrip() for line in lines)


def texts(cell: Any) -> Iterator[str]:
    """Yield the outputs of a cell as text."""
    for output in cell.get("outputs", ()):
        yield output.get("text") or output["data"].get("text/plain", "")


def differing(notebook: Any, shown: list[list[str]], found: list[list[str]]) -> Iterator[str]:
    """Yield a message for each cell whose output differs from the notebook's."""
    for cell, before, now in zip(notebook.cells, shown, found, strict=True):
        if before != now and "varies" not in cell.metadata.get("tags", ()):
            yield f"{cell.source}\n--- shown ---\n{''.join(before)}\n--- found ---\n{''.join(now)}"


def page(notebook: Any) -> str:
    """Return the notebook as Markdown: shell commands without "!", outputs below their cells."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        shell = cell.source.startswith("!")
        source = re.sub(r"^!", "", cell.source, flags=re.M) if shell else cell.source
        parts.append(f"```{'sh' if shell else 'python'}\n{source}\n```")
        parts += map(_output, cell.outputs)
    return "\n\n".join(parts) + "\n"


def _output(output: Any) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        # The site has a style of its own; a blank line would end the block of HTML.
        bare = re.sub(r"<style.*?</style>| border=.1.", "", data["text/html"], flags=re.S)
        return re.sub(r"\n\s*\n", "\n", f"<div>{bare}</div>")
    text: str = output.get("text") or data["text/plain"]
    return "```text\n" + text.strip("\n") + "\n```"


if __name__ == "__main__":
    main()
