"""Long results that somebody has checked, kept as text in a folder `expected` beside the tests.

With TIEBREAK_RENEW=1 tests keep what they find instead. Read the difference before you commit it.
"""

import os
from difflib import unified_diff
from pathlib import Path


def check(test: str, name: str, found: str) -> None:
    """Compare a text with the one that is kept under a name beside the test's file."""
    renewed(Path(test).with_name("expected") / name, found)


def commands(test: str, name: str, mark: str = "$ ") -> list[str]:
    """The commands that such a text begins its parts with; a new one is written there by hand."""
    lines = (Path(test).with_name("expected") / name).read_text("utf-8").splitlines()
    return [line.removeprefix(mark) for line in lines if line.startswith(mark)]


def renewed(kept: Path, found: str) -> None:
    """Compare a text with that of a file, such as a page of the documentation that is made."""
    if os.environ.get("TIEBREAK_RENEW"):
        kept.write_text(found, "utf-8")
    text = kept.read_text("utf-8")
    assert found == text, "\n".join(unified_diff(text.splitlines(), found.splitlines(), n=0))
