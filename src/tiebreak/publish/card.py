"""The dataset card: what was measured, how, by whom, and how far it can be trusted.

Our part stands between two marks and is made anew from the latest tables each time; all other text
is a person's and stays as it is. So it is with the YAML at the head: only what has to change is
written anew, so a person's other keys stay, in their order and with their comments.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final

import yaml

from tiebreak.analysis.item_table import or_nan
from tiebreak.plain_yaml import read_yaml
from tiebreak.publish.errors import PublishError
from tiebreak.publish.headlines import (
    LISTED,
    Row,
    boards_in,
    contests_in,
    judging,
    level_of,
    plots_of,
    verdict_of,
    warnings_of,
)
from tiebreak.report.cells import decimal, interval, ranks, rate, whole
from tiebreak.report.columns import METRICS
from tiebreak.report.markdown import inline
from tiebreak.text import count

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
        most=LISTED,
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
    environment.filters |= {"inline": inline, "count": count, "whole": whole, "rate": rate}
    environment.filters |= {"decimal": _decimal, "interval": _interval, "ranks": _ranks}
    environment.filters["level"] = level_of
    return environment.get_template("card.md.jinja")


def _decimal(value: float | None, digits: int = 3) -> str:
    return decimal(or_nan(value), digits)


def _interval(row: Row) -> str:
    return interval(or_nan(row["lower"]), or_nan(row["upper"]))


def _ranks(row: Row) -> str:
    return ranks(row["rank_lower"], row["rank_upper"])


_OF_JUDGES: Final = "llm-as-a-judge"
TAGS: Final = ("tiebreak", _OF_JUDGES, "leaderboard")

# The splits of every table: which files they are.
CONFIGS: Final[Mapping[str, Mapping[str, str]]] = {
    "leaderboard": {"latest": "leaderboard/latest.parquet", "full": "leaderboard/full/*.parquet"},
    **{
        name: {"full": f"{name}/*.parquet"}
        for name in ("rankings", "ballots", "judge_texts", "candidates")
    },
    "contests": {"latest": "contests/latest.parquet", "full": "contests/full/*.parquet"},
    "scores": {"full": "scores/*.parquet"},
}

_LICENSE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,39}")


def configs_for(paths: Collection[str]) -> list[dict[str, Any]]:
    """The configs of the tables that are there: `load_dataset(NAME, CONFIG)`."""
    found = []
    for name, splits in CONFIGS.items():
        files = [
            {"split": split, "path": pattern}
            for split, pattern in splits.items()
            if any(_fits(path, pattern) for path in paths)
        ]
        if files:
            found.append({"config_name": name, "data_files": files})
    return found


def merged(text: str, paths: Collection[str], *, title: str, license: str | None) -> str:
    """The YAML that is there, which may be empty, with our keys in it.

    `paths` are all files of the dataset. A card that has a title keeps it; without a licence id
    what is there stays.

    Raises:
        PublishError: the YAML cannot be read, or the licence is not an id.
    """
    there = _read(text)
    wanted: dict[str, Any] = {}
    if license is not None:
        wanted["license"] = _licence(license)
    wanted |= {} if "pretty_name" in there else {"pretty_name": title}
    judged = any(path.startswith("leaderboard/") for path in paths)
    tags = [tag for tag in TAGS if judged or tag != _OF_JUDGES]
    wanted |= {} if "tags" in there else {"tags": tags}
    wanted["configs"] = _configs(there.get("configs"), configs_for(paths))
    changed = {name: value for name, value in wanted.items() if there.get(name) != value}
    return _spliced(text, there, changed) if changed else text


def _fits(path: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), path) is not None


def _licence(given: str) -> str:
    if not _LICENSE.fullmatch(given):
        raise PublishError(
            f"--license {given!r} is not a licence id of the Hub, such as cc-by-4.0, "
            "mit or other (https://huggingface.co/docs/hub/repositories-licenses)"
        )
    return given


def _read(text: str) -> dict[str, Any]:
    try:
        data = read_yaml(text)
    except ValueError as error:
        raise PublishError(
            "Mend the YAML at the head of README.md in the dataset, then publish again: it "
            + str(error)[:200]
        ) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise PublishError(
            "The YAML at the head of README.md in the dataset has no keys: mend it, then publish "
            "again"
        )
    return data


def _configs(there: Any, ours: list[dict[str, Any]]) -> list[Any]:
    """A person's configs and ours; ours keep the place and the further keys that they have."""
    there = [] if there is None else there
    if not isinstance(there, list) or not all(isinstance(one, Mapping) for one in there):
        raise PublishError(
            "`configs` at the head of README.md in the dataset is not a list of configs: mend it, "
            "then publish again"
        )
    new = {one["config_name"]: one for one in ours}
    found = [{**one, **new.pop(one.get("config_name"), {})} for one in there]
    found += new.values()
    if not any(one.get("default") for one in found):
        named = {one.get("config_name"): one for one in found}
        first = next((named[name] for name in ("leaderboard", "contests") if name in named), {})
        first["default"] = True
    return found


def _spliced(text: str, there: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    """The same YAML with some keys replaced or added; all of it anew where that does not work."""
    wanted = {**there, **changed}
    # First so that a list which only grew keeps the comments in it.
    for before in (there, {}):
        try:
            found = _replaced(text, before, changed)
            if yaml.safe_load(found) == wanted:
                return found
        except (yaml.YAMLError, ValueError):
            pass  # a form of YAML in which keys do not stand at the start of a line
    return _dump(wanted)


def _replaced(text: str, before: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    spans: list[tuple[int, int, str]] = []
    there = set()
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value in changed:
                there.add(key.value)
                start, end = key.start_mark.index, value.end_mark.index
                end = start + _content(text[start:end])
                more = _more(before.get(key.value), changed[key.value])
                if more and not value.flow_style:
                    lines = indent(_dump(more), " " * value.start_mark.column)
                    spans.append((end, end, f"\n{lines}"))
                else:
                    spans.append((start, end, _dump({key.value: changed[key.value]})))
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    rest = {name: value for name, value in changed.items() if name not in there}
    ours = _dump(rest) if rest else ""
    return f"{text.rstrip()}\n{ours}" if ours and text.strip() else text + ours


def _more(old: Any, new: Any) -> list[Any]:
    """What a list has that only grew; nothing where it is another one."""
    if isinstance(old, list) and isinstance(new, list) and old and new[: len(old)] == old:
        return new[len(old) :]
    return []


def _content(block: str) -> int:
    """Length of a block without the comments and empty lines that follow it."""
    lines = block.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return len("".join(lines).rstrip())


def _dump(data: Mapping[str, Any] | list[Any]) -> str:
    from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

    return str(yaml_dump(data, sort_keys=False)).strip()
