"""Parts of a page that a program writes, between two marks."""

from pathlib import Path


def renew(page: Path, text: str, begin: str, end: str) -> None:
    """Put `text` between the marks of `page`; the rest stays. Exits if there are no marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page} has no lines {begin!r} and {end!r} to write between.")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
