"""The YAML at the head of a dataset card: ours is merged into what a person wrote.

Only what has to change is written anew, so a person's other keys stay, in their order and with
their comments.
"""

import re
from collections.abc import Collection, Mapping
from textwrap import indent
from typing import Any, Final

import yaml

from tiebreak.plain_yaml import read_yaml
from tiebreak.publish.errors import PublishError

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
    """YAML with our keys in it.

    Args:
        text: the YAML that is there; may be empty.
        paths: all files of the dataset.
        title: its name, for a card that has none.
        license: licence id; None leaves what is there.

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
