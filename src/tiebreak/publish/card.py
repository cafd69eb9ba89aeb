"""The dataset card: what was measured, how, by whom, and how far it can be trusted.

The generated part is between two marks and is renewed from the latest tables each time; all other
text was written by people and is left unchanged. Likewise in the YAML front matter only the keys
that must change are rewritten, so people's other keys stay, in their order and with their comments.

Leaderboards and contests are both boards: rows of the published tables with the manifest of their
run. They may be another publisher's, so nothing in them is trusted: texts are escaped where they
are shown, and anything that is not JSON or not a file of the dataset is left out.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import yaml

from tiebreak.analysis.item_table import or_nan
from tiebreak.plain_yaml import read_yaml
from tiebreak.publish.contests import CSD
from tiebreak.publish.errors import PublishError
from tiebreak.report.cells import UNDEFINED, decimal, interval, money, ranks, rate, whole
from tiebreak.report.columns import METRICS
from tiebreak.report.markdown import inline
from tiebreak.scorers.ballots import VOTES
from tiebreak.text import count

if TYPE_CHECKING:
    from jinja2 import Template

Row = Mapping[str, Any]
T = TypeVar("T", dict[str, Any], list[Any])

README: Final = "README.md"
BEGIN: Final = "<!-- tiebreak:begin -->"
END: Final = "<!-- tiebreak:end -->"
# Maximum number of models of a board on the card; the table has them all.
LISTED: Final = 20

# Columns that describe how a board was judged; boards that agree in them are explained once.
_JUDGING: Final = (
    "protocol",
    "judge_settings",
    "seed",
    "tiebreak_version",
    "inspect_version",
)
_SAFE = re.compile(r"[A-Za-z0-9-]{1,200}")

_NO_YAML = re.compile(r"\s*---\s*?(?:\r\n|\r|\n)\s*---\s*?(?:\r\n|\r|\n|$)")


def card(
    rows: Iterable[Mapping[str, Any]],
    files: Mapping[str, bytes],
    *,
    contests: Iterable[Mapping[str, Any]] = (),
    license: str | None,
    repo_id: str,
) -> str:
    """The card of a dataset: the generated part renewed, people's part unchanged.

    Args:
        rows: the latest leaderboard.
        files: the files of the dataset by path; `README.md` is the existing card.
        contests: the latest contests.
        license: licence id to put on the card; None leaves it unchanged.
        repo_id: "OWNER/NAME", for the examples.

    Raises:
        PublishError: the existing card cannot be read, or the licence is not an id.
    """
    title = repo_id.rpartition("/")[2]
    before = _readme(files) or f"\n# {inline(title)}\n"
    head, body = split(before)
    newline = "\r\n" if "\r\n" in before else "\n"
    matter = merged(head, files, title=title, license=license)
    licensed = bool((yaml.safe_load(matter) or {}).get("license"))
    ours = generated_part(rows, files, contests=contests, licensed=licensed, repo_id=repo_id)
    ours = ours.replace("\n", newline)
    # Existing lines keep their line ends; new YAML gets those of the others.
    matter = newline.join(re.split(r"\r\n|\r|\n", matter)) if matter != head else matter
    return f"---{newline}{matter}{newline}---{newline}{_with(body, ours, newline)}"


def _readme(files: Mapping[str, bytes]) -> str | None:
    try:
        return files[README].decode() if README in files else None
    except UnicodeDecodeError as error:
        raise PublishError(
            f"README.md in the dataset is not UTF-8 text ({error}): fix it there, then publish "
            "again"
        ) from error


def split(readme: str) -> tuple[str, str]:
    """YAML and body of a card, each without the delimiter lines."""
    from huggingface_hub.repocard import REGEX_YAML_BLOCK

    readme = readme.removeprefix("\ufeff")
    if empty := _NO_YAML.match(readme):  # the Hub's expression mistakes it for an opening line
        return "", readme[empty.end() :]
    block = REGEX_YAML_BLOCK.search(readme)
    return (block[2], readme[block.end() :]) if block else ("", readme)


def generated_part(
    rows: Iterable[Mapping[str, Any]],
    files: Mapping[str, bytes],
    *,
    contests: Iterable[Mapping[str, Any]] = (),
    licensed: bool,
    repo_id: str,
) -> str:
    """The text between the marks, without them."""
    boards = leaderboards_in(rows, files)
    metrics = {metric for board in boards for metric in board.metrics}
    text = _template().render(
        boards=boards,
        judging=judging(boards),
        contests=contests_in(contests, files),
        most=LISTED,
        metrics=[metric for name, metric in METRICS.items() if name in metrics],
        with_candidates=any(path.startswith("candidates/") for path in files),
        licensed=licensed,
        repo_id=repo_id,
    )
    return text.strip("\n")


def _with(body: str, ours: str, newline: str) -> str:
    """The body with the generated part in place, or appended if it is not there yet."""
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
    if not body.strip() or body.endswith(newline * 2):
        return ""
    return newline if body.endswith(newline) else newline * 2


@cache
def _template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        # Markdown, not HTML: all foreign text is escaped by `inline`.
        autoescape=False,  # nosec B701
    )
    environment.filters |= {"inline": inline, "count": count, "whole": whole, "rate": rate}
    environment.filters |= {"decimal": _decimal, "interval": _interval, "ranks": _ranks}
    environment.filters |= {"level": level_of, "bill": bill, "swap": swap_of}
    environment.filters |= {"rounds": rounds_of, "size": size_of}
    return environment.get_template("card.md.jinja")


def _decimal(value: float | None, digits: int = 3) -> str:
    return decimal(or_nan(value), digits)


def _interval(row: Row) -> str:
    return interval(or_nan(row["lower"]), or_nan(row["upper"]))


def _ranks(row: Row) -> str:
    return ranks(row["rank_lower"], row["rank_upper"])


class Board(NamedTuple):
    """One benchmark under one protocol by one judge, or one contest over benchmarks.

    `rows` rank the models, best first; `metrics` maps metrics (in a contest methods) and models to
    rows. `about` comes from the manifest; `plots` are those in the dataset, as `path` and `alt`
    text.
    """

    rows: tuple[Row, ...]
    metrics: Mapping[str, Mapping[str, Row]]
    manifest: str
    about: Mapping[str, Any]
    plots: tuple[Mapping[str, str], ...]

    @property
    def run(self) -> Row:
        """A row for the columns that all rows of the run share."""
        return self.rows[0]

    @property
    def unscored(self) -> float:
        """The mean of the models' unscored rates."""
        rates = [or_nan(row["unscored_rate"]) for row in self.rows]
        known = [rate for rate in rates if not math.isnan(rate)]
        return fmean(known) if known else math.nan

    @property
    def verdict(self) -> tuple[str, str] | None:
        """The verdict and whether the judge can be trusted ("" without a judge).

        None if the run was published by a version of Tiebreak without verdicts.
        """
        verdict = self.about.get("verdict")
        if not isinstance(verdict, dict) or not verdict.get("sentence"):
            return None
        trust = verdict.get("trust")
        state = trust.get("state", "") if isinstance(trust, dict) and self.run["judge"] else ""
        return str(verdict["sentence"]), str(state)

    def value(self, metric: str, model: str, column: str = "value") -> Any:
        """A model's value of another metric, or its rank by another method; None if missing."""
        return self.metrics.get(metric, {}).get(model, {}).get(column)

    def texts(self, name: str) -> list[str]:
        """The texts that the manifest lists under a name, e.g. its warnings."""
        texts = self.about.get(name)
        return [str(text) for text in texts] if isinstance(texts, list) else []


def leaderboards_in(rows: Iterable[Row], files: Mapping[str, bytes]) -> list[Board]:
    """The leaderboards in some rows, in order."""
    boards = _grouped(rows, "benchmark", "protocol", "judge")
    return [_board(board, "metric", "normalized_borda", files) for board in boards]


def contests_in(rows: Iterable[Row], files: Mapping[str, bytes]) -> list[Board]:
    """The contests in some rows, in order; each at the first T that was played."""
    contests = (_board(rows, "method", CSD, files) for rows in _grouped(rows, "contest_id"))
    return [contest for contest in contests if CSD in contest.metrics]


def _grouped(rows: Iterable[Row], *names: str) -> list[list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] or "" for name in names), []).append(row)
    return list(groups.values())


def _board(rows: Sequence[Row], kind: str, main: str, files: Mapping[str, bytes]) -> Board:
    """A board, ranked by the metric or method `main`, or else by the first one."""
    metrics: dict[str, dict[str, Row]] = {}
    for row in rows:
        metrics.setdefault(row[kind], {}).setdefault(row["model"], row)
    run, benchmark = rows[0], rows[0].get("benchmark", "")
    name = run["run_id"] if kind == "metric" else run["contest_id"]
    manifest, folder = f"runs/{name}/manifest.json", f"plots/{name}"
    # An unsafe name, which could lead to another folder, has neither.
    about, drawn = (
        _parsed(files.get(path), dict) if _SAFE.fullmatch(name) else {}
        for path in (manifest, f"{folder}/plots.json")
    )
    if kind == "metric":
        judged_by = (benchmark, run["protocol"])
        parts = mappings(about.get("benchmarks"))
        named = (
            part for part in parts if (part.get("benchmark"), part.get("protocol")) == judged_by
        )
        about = next(named, {})
    return Board(
        rows=tuple((metrics.get(main) or next(iter(metrics.values()))).values()),
        metrics=metrics,
        manifest=manifest if manifest in files else "",
        about=about,
        plots=tuple(
            {"path": path, "alt": str(plot.get("alt", ""))}
            for plot in mappings(drawn.get("plots"))
            if plot.get("benchmark", "") == benchmark
            and _SAFE.fullmatch(str(plot.get("name")))
            and (path := f"{folder}/{plot['name']}.png") in files
        ),
    )


def mappings(listed: Any) -> list[dict[str, Any]]:
    """The objects in a JSON list; empty for anything else."""
    return (
        [value for value in listed if isinstance(value, dict)] if isinstance(listed, list) else []
    )


def _parsed(text: Any, kind: type[T]) -> T:
    """An object or a list from JSON; empty if the text is something else."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()


def judging(boards: Iterable[Board]) -> list[tuple[str, str]]:
    """What was judged, by whom and how; benchmarks judged in the same way share an entry."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for board in boards:
        groups.setdefault(tuple(board.run[name] for name in _JUDGING), []).append(board.run)
    return [
        (f"{', '.join(map(_benchmark, runs))} · {runs[0]['protocol']}", _judges(runs[0]))
        for runs in groups.values()
    ]


def _benchmark(run: Row) -> str:
    return str(run["benchmark"]) + (f" (rubric {run['rubric']})" if run["rubric"] else "")


def _judges(run: Row) -> str:
    models: dict[tuple[str, str], list[str]] = {}
    for settings in mappings(_parsed(run["judge_settings"], list)):
        role, model = (str(settings.pop(name, "")) for name in ("role", "model"))
        given = ", ".join(f"{name} {value}" for name, value in settings.items())
        models.setdefault((role, given or "the provider's own settings"), []).append(model)
    judges = [f"{role} = {', '.join(names)} ({given})" for (role, given), names in models.items()]
    drawn = f", seed {run['seed']}" if run["seed"] is not None and judges else ""
    named = (("Tiebreak", run["tiebreak_version"]), ("Inspect", run["inspect_version"]))
    versions = ", ".join(f"{name} {version}" for name, version in named if version)
    nobody = "people" if run["protocol"] == VOTES else "no judge"
    return ("; ".join(judges) or nobody) + drawn + (f"; {versions}" if versions else "")


def swap_of(run: Row) -> str:
    """The task's `swap` argument (orders of presentation); "" if it is not recorded."""
    return str(_parsed(run["arguments"], dict).get("swap", ""))


def bill(run: Row) -> str:
    """Calls, tokens and cost of a run."""
    n, tokens = run["n_calls"] or 0, (run["input_tokens"] or 0) + (run["output_tokens"] or 0)
    if not n:
        return "no call"
    cost = money(run["cost"])
    worth = "of unknown price" if cost == UNDEFINED else f"worth {cost}"
    return f"{count(n, 'call')}, {count(tokens, 'token')}, {worth}"


def level_of(row: Row) -> str:
    """The confidence level of a row's intervals, in percent."""
    level = or_nan(row["level"])
    return UNDEFINED if math.isnan(level) else f"{level * 100:g}%"


def rounds_of(contest: Row) -> str:
    """The rounds of a contest as text; weighted rounds have no order."""
    rounds = [" + ".join(map(str, names or [])) for names in contest["rounds"]]
    return (" · " if contest["weights"] else " → ").join(rounds)


def size_of(contest: Row) -> str:
    """Size and settings of a contest at the first T."""
    out = contest["eliminate_by_round"] or []
    gone = str(out[0]) if len(set(out)) == 1 else ", ".join(map(str, out))
    missing = {
        "available": "a missing score is left out of its round's mean",
        "worst": "a round without a score is lost",
    }.get(str(contest["missing"]), "")
    played = count(contest["iterations"] or 0, "contest")
    rounds = count(len(contest["rounds"]), "round")
    return "; ".join(
        filter(None, [rounds, f"T = {gone}", f"{played}, seed {contest['seed']}", missing])
    )


_OF_JUDGES: Final = "llm-as-a-judge"
TAGS: Final = ("tiebreak", _OF_JUDGES, "leaderboard")

# The files of every table's splits.
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
    """The configs for existing tables: `load_dataset(NAME, CONFIG)`."""
    configs = []
    for name, splits in CONFIGS.items():
        files = [
            {"split": split, "path": pattern}
            for split, pattern in splits.items()
            if any(_fits(path, pattern) for path in paths)
        ]
        if files:
            configs.append({"config_name": name, "data_files": files})
    return configs


def merged(text: str, paths: Collection[str], *, title: str, license: str | None) -> str:
    """Existing YAML, which may be empty, with the generated keys merged in.

    `paths` are all files of the dataset. An existing title is kept, and the licence if none is
    given.

    Raises:
        PublishError: the YAML cannot be read, or the licence is not an id.
    """
    given = _read(text)
    if license is not None and not _LICENSE.fullmatch(license):
        raise PublishError(
            f"--license {license!r} is not a licence id of the Hub, such as cc-by-4.0, "
            "mit or other (https://huggingface.co/docs/hub/repositories-licenses)"
        )
    judged = any(path.startswith("leaderboard/") for path in paths)
    tags = [tag for tag in TAGS if judged or tag != _OF_JUDGES]
    wanted = {
        **({} if license is None else {"license": license}),
        **{
            name: value
            for name, value in (("pretty_name", title), ("tags", tags))
            if name not in given
        },
        "configs": _configs(given.get("configs"), configs_for(paths)),
    }
    changed = {name: value for name, value in wanted.items() if given.get(name) != value}
    return _updated_yaml(text, given, changed) if changed else text


def _fits(path: str, pattern: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[^/]*"), path) is not None


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


def _configs(given: Any, ours: list[dict[str, Any]]) -> list[Any]:
    """People's configs and ours; ours keep their position and additional keys."""
    given = [] if given is None else given
    if not isinstance(given, list) or not all(isinstance(config, Mapping) for config in given):
        raise PublishError(
            "`configs` at the head of README.md in the dataset is not a list of configs: mend it, "
            "then publish again"
        )
    new = {config["config_name"]: config for config in ours}
    configs = [{**config, **new.pop(config.get("config_name"), {})} for config in given]
    configs += new.values()
    if not any(config.get("default") for config in configs):
        named = {config.get("config_name"): config for config in configs}
        first = next((named[name] for name in ("leaderboard", "contests") if name in named), {})
        first["default"] = True
    return configs


def _updated_yaml(text: str, given: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    """Replace or add some keys in YAML text; dump all of it anew if that does not work."""
    wanted = {**given, **changed}
    # First try to keep the comments in lists that only grew.
    for before in (given, {}):
        try:
            spliced = _replaced(text, before, changed)
            if yaml.safe_load(spliced) == wanted:
                return spliced
        except (yaml.YAMLError, ValueError):
            pass  # YAML whose keys are not at the start of a line
    return _dump(wanted)


def _replaced(text: str, before: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    spans: list[tuple[int, int, str]] = []
    added = dict(changed)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value not in added:
            continue
        old, new = before.get(key.value), added.pop(key.value)
        start, end = key.start_mark.index, value.end_mark.index
        end = start + _content(text[start:end])
        more = []
        if isinstance(old, list) and isinstance(new, list) and old and new[: len(old)] == old:
            more = new[len(old) :]  # only appended entries
        if more and not value.flow_style:
            lines = indent(_dump(more), " " * value.start_mark.column)
            spans.append((end, end, f"\n{lines}"))
        else:
            spans.append((start, end, _dump({key.value: new})))
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    ours = _dump(added) if added else ""
    return f"{text.rstrip()}\n{ours}" if ours and text.strip() else text + ours


def _content(block: str) -> int:
    """Length of a block without trailing comments and empty lines."""
    lines = block.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return len("".join(lines).rstrip())


def _dump(data: Mapping[str, Any] | list[Any]) -> str:
    from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

    return str(yaml_dump(data, sort_keys=False)).strip()
