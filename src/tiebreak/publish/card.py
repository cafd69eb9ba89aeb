"""The dataset card: what was measured, how, by whom, and how far it can be trusted.

Our part stands between two marks and is made anew from the latest tables each time; all other text
is a person's and stays as it is.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tiebreak.publish.contest_headlines import contests_in
from tiebreak.publish.errors import PublishError
from tiebreak.publish.front_matter import merged
from tiebreak.publish.headlines import boards_in, judging, plots_of, verdict_of, warnings_of
from tiebreak.report.columns import METRICS
from tiebreak.report.markdown import inline

if TYPE_CHECKING:
    from jinja2 import Template

README: Final = "README.md"
BEGIN: Final = "<!-- tiebreak:begin -->"
END: Final = "<!-- tiebreak:end -->"

_NO_YAML = re.compile(r"\s*---\s*?(?:\r\n|\r|\n)\s*---\s*?(?:\r\n|\r|\n|$)")


def card(
    rows: Iterable[Mapping[str, Any]],
    files: Mapping[str, bytes],
    *,
    contests: Iterable[Mapping[str, Any]] = (),
    license: str | None,
    repo_id: str,
) -> str:
    """The card of a dataset: our part made anew, a person's part as it was.

    Args:
        rows: the latest leaderboard.
        files: the files of the dataset by path; `README.md` is the card that is there.
        contests: the latest contests.
        license: licence id to put on the card; None leaves it as it is.
        repo_id: "OWNER/NAME", for the examples.

    Raises:
        PublishError: the card that is there cannot be read, or the licence is not an id.
    """
    title = repo_id.rpartition("/")[2]
    there = _readme(files) or f"\n# {inline(title)}\n"
    head, body = split(there)
    newline = "\r\n" if "\r\n" in there else "\n"
    matter = merged(head, files, title=title, license=license)
    licensed = _licensed(matter)
    ours = our_part(rows, files, contests=contests, licensed=licensed, repo_id=repo_id)
    ours = ours.replace("\n", newline)
    # Lines that were there keep their ends; what YAML came anew gets those of the others.
    matter = newline.join(re.split(r"\r\n|\r|\n", matter)) if matter != head else matter
    return f"---{newline}{matter}{newline}---{newline}{_with(body, ours, newline)}"


def _readme(files: Mapping[str, bytes]) -> str | None:
    """Text of the card, its line ends as they are; None when there is none yet."""
    try:
        return files[README].decode() if README in files else None
    except UnicodeDecodeError as error:
        raise PublishError(
            f"README.md in the dataset is not UTF-8 text ({error}): mend it there, then publish "
            "again"
        ) from error


def split(readme: str) -> tuple[str, str]:
    """YAML and body of a card, each without the lines of dashes."""
    from huggingface_hub.repocard import REGEX_YAML_BLOCK

    readme = readme.removeprefix("\ufeff")
    if empty := _NO_YAML.match(readme):  # which the Hub's expression takes for a beginning
        return "", readme[empty.end() :]
    found = REGEX_YAML_BLOCK.search(readme)
    return (found[2], readme[found.end() :]) if found else ("", readme)


def our_part(
    rows: Iterable[Mapping[str, Any]],
    files: Mapping[str, bytes],
    *,
    contests: Iterable[Mapping[str, Any]] = (),
    licensed: bool,
    repo_id: str,
) -> str:
    """What stands between the marks, without them."""
    boards = boards_in(rows)
    metrics = {metric for board in boards for metric in board.metrics}
    text = _template().render(
        boards=boards,
        judging=judging(boards),
        verdicts={board: verdict_of(board, files) for board in boards},
        plots={board: plots_of(board, files) for board in boards},
        warnings={board: warnings_of(board, files) for board in boards},
        contests=contests_in(contests, files),
        metrics=[metric for name, metric in METRICS.items() if name in metrics],
        paths=set(files),
        with_candidates=any(path.startswith("candidates/") for path in files),
        licensed=licensed,
        repo_id=repo_id,
    )
    return text.strip("\n")


def _with(body: str, ours: str, newline: str) -> str:
    """The body with our part in its place, or after a person's text where it is not there yet."""
    part = newline.join((BEGIN, ours, END))
    begins, ends = body.count(BEGIN), body.count(END)
    if begins == ends == 0:
        return f"{body}{_gap(body, newline)}{part}{newline}"
    start, end = body.find(BEGIN), body.find(END)
    if begins != 1 or ends != 1 or end < start:
        raise PublishError(
            f"README.md in the dataset must have {BEGIN} once, and {END} once after it: what "
            "stands between them is made anew. Remove the marks that are too many, or all of them"
        )
    return body[:start] + part + body[end + len(END) :]


def _gap(body: str, newline: str) -> str:
    """What makes an empty line after a text."""
    if not body.strip() or body.endswith(newline * 2):
        return ""
    return newline if body.endswith(newline) else newline * 2


def _licensed(matter: str) -> bool:
    import yaml

    return bool((yaml.safe_load(matter) or {}).get("license"))


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        # Markdown, not HTML: every foreign text goes through `inline`.
        autoescape=False,  # nosec B701
    )
    environment.filters["inline"] = inline
    return environment.get_template("card.md.jinja")
