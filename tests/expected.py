"""Long results that somebody has checked, kept as text in a folder `expected` beside the tests.

With TIEBREAK_RENEW=1 tests keep what they find instead. Read the difference before you commit it.
"""

import os
import re
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
    renew = os.environ.get("TIEBREAK_RENEW")
    text = "" if renew and not kept.exists() else kept.read_text("utf-8")
    if _rounded(found) == _rounded(text):
        return
    if renew:
        kept.write_text(found, "utf-8")
        return
    difference = unified_diff(_rounded(text).splitlines(), _rounded(found).splitlines(), n=0)
    raise AssertionError("\n".join(difference))


def _rounded(text: str) -> str:
    """A text whose long numbers have ten digits: the last of sixteen hang on the processor."""
    return re.sub(r"-?\d+\.\d{9,}(e-?\d+)?", lambda number: f"{float(number[0]):.10g}", text)
