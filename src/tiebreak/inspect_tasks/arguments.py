"""Arguments that all judging tasks share, and checks for the arguments of any task.

Every check raises PrerequisiteError, which names the wrong argument and the possible values.
"""

import difflib
from collections.abc import Collection
from typing import Any, Literal, TypedDict, get_args, get_origin

from tiebreak.candidates import Shard
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.rankers.settlement import SettleFor
from tiebreak.scorers.judge import JuryMode
from tiebreak.text import split_names

Stratify = Literal["auto", "off"]
Media = Literal["refuse", "mark", "show"]
WithoutKey = Literal["refuse", "drop"]


class CommonArguments(TypedDict, total=False):
    """Arguments of every judging task.

    candidates: Folder or files with the candidates' logs, several separated by commas.
    task_type: Rubric by task type: code_generation, math_reasoning, general_qa or tool_calling.
        By default guessed from the benchmark's name, else general_qa.
    rubric: Path of your own rubric file; overrides `task_type`.
    saturated_only: Judge only items whose native scores are all equal.
    seed: Seed of every random draw.
    merge_identical: Judge identical answers once; they share their rank.
    stratify: If the benchmark's own score is verified (tests, final number, chosen option, exact
        match), place answers that failed after those that passed (auto), or not (off).
    media: Items with images, recordings or files: refuse them, mark in the task that these are not
        shown, or show images to a judge that can see (what cannot be shown is marked).
    without_key: Items without a key, if answers are rated by the key (stars): refuse them, or leave
        them out (drop) with a note.
    mode: strict (any hole is an error), intersect (keep items that all models answered) or, if
        answers are graded one by one, union (keep items that any model answered).
    same_settings: Refuse models that were asked in different ways (temperature, shots, solver …).
    shard: "k/n": judge every n-th item, starting at the k-th; read n such logs as one run.
    repeat: Runs with another number get fresh replies, not those in the cache.
    settle: Stop when the ranking is decided (true), or its first k places (k).
    settle_error: Allowed probability that `settle` decides wrongly.
    settle_for: Decide for new items (new), or only for the run's items (these).
    max_calls: Maximum number of judge calls to pay for, over all attempts at the run; each shard
        has its own budget.
    max_cost: Maximum cost in US dollars, over all attempts at the run.
    canaries: Plant this many pairs of a weak answer with and without an attack on the judge, and
        report how often it was persuaded; they never rank. Default none: each costs as much as two
        items of two answers, 4 calls for protocols of matches.
    jury: Of several judges, all judge everything (all), or each match and each answer goes to one
        of them in turn (rotate).
    quorum: Number of judges, of several, that must be usable for a match to count; by default more
        than half.
    """

    candidates: str | list[str] | None
    task_type: str | None
    rubric: str | None
    saturated_only: bool
    seed: int
    merge_identical: bool
    stratify: Stratify | bool
    media: Media
    without_key: WithoutKey
    mode: str
    same_settings: bool
    shard: str | None
    repeat: int
    settle: bool | int
    settle_error: float
    settle_for: SettleFor
    max_calls: int | None
    max_cost: float | None
    canaries: int
    jury: JuryMode
    quorum: int | None


DEFAULTS: CommonArguments = {
    "candidates": None,
    "task_type": None,
    "rubric": None,
    "saturated_only": False,
    "seed": 0,
    "merge_identical": True,
    "stratify": "auto",
    "media": "refuse",
    "without_key": "refuse",
    "mode": "strict",
    "same_settings": False,
    "shard": None,
    "repeat": 1,
    "settle": False,
    "settle_error": 0.05,
    "settle_for": "new",
    "max_calls": None,
    "max_cost": None,
    "canaries": 0,
    "jury": "all",
    "quorum": None,
}


def checked(given: CommonArguments, settings: Collection[str] = ()) -> CommonArguments:
    """Validate the arguments of a judging task, and add the defaults.

    `settings` are names of the task's own arguments, for a hint.
    """
    for name in given:
        if name not in DEFAULTS:
            near = difflib.get_close_matches(name, (*DEFAULTS, *settings), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise PrerequisiteError(f"There is no argument {name!r} (-T {name}=…).{hint}")
    common: CommonArguments = {**DEFAULTS, **given}
    # Command-line arguments have the types that YAML gives them.
    for switch in ("saturated_only", "merge_identical", "same_settings"):
        flag(switch, common[switch])
    if isinstance(common["stratify"], bool):  # YAML reads off as False
        common["stratify"] = "auto" if common["stratify"] else "off"
    one_of("stratify", common["stratify"], get_args(Stratify))
    one_of("media", common["media"], get_args(Media))
    one_of("without_key", common["without_key"], get_args(WithoutKey))
    whole("seed", common["seed"])
    whole("repeat", common["repeat"], 1)
    whole("canaries", common["canaries"], 0)
    for number in ("max_calls", "quorum"):
        if common[number] is not None:
            whole(number, common[number], 1)
    one_of("jury", common["jury"], get_args(JuryMode))
    cost, error = common["max_cost"], common["settle_error"]
    if cost is not None and not (_number(cost) and cost > 0):
        raise PrerequisiteError(f"max_cost is {cost!r}: it must be a number of dollars above 0.")
    if not (_number(error) and 0 < error < 1):
        raise PrerequisiteError(f"settle_error is {error!r}: it must be between 0 and 1.")
    one_of("settle_for", common["settle_for"], get_args(SettleFor))
    if not isinstance(common["settle"], bool):
        whole("settle", common["settle"], 1)
    if common["shard"] is not None:
        if common["settle"]:
            raise PrerequisiteError(
                "settle and shard do not go together: a shard cannot know what the others saw."
            )
        try:
            Shard.parse(common["shard"])
        except ValueError as problem:
            raise PrerequisiteError(f"{problem}.") from problem
    return common


def flag(name: str, value: object) -> bool:
    """Return the value; refuse anything but true or false."""
    if not isinstance(value, bool):
        raise PrerequisiteError(f"{name} is {value!r}: it must be true or false.")
    return value


def names(name: str, value: str | Collection[str] | None) -> tuple[str, ...]:
    """Names from a list or a comma-separated text; empty if there is no value."""
    given = split_names(value) if isinstance(value, str) else value or ()
    if not isinstance(given, Collection) or not all(isinstance(entry, str) for entry in given):
        raise PrerequisiteError(f"{name} is {value!r}: it must be names separated by commas.")
    return tuple(entry.strip() for entry in given if entry.strip())


def one_of(name: str, value: object, known: Collection[str]) -> None:
    """Refuse a value that is not among the known ones."""
    if value not in known:
        raise PrerequisiteError(f"{name} is {value!r}: it must be one of {', '.join(known)}.")


def of_type(name: str, value: Any, wanted: Any) -> None:
    """Refuse a value that does not have the type of a protocol's setting; numbers count from 1."""
    if get_origin(wanted) is Literal:
        one_of(name, value, get_args(wanted))
    elif wanted is bool:
        flag(name, value)
    elif str in get_args(wanted):
        names(name, value)
    elif value is not None or type(None) not in get_args(wanted):
        whole(name, value, 1)


def whole(name: str, value: object, lowest: int | None = None) -> None:
    """Refuse a value that is not a whole number, or is too small."""
    fits = isinstance(value, int) and not isinstance(value, bool)
    if not fits or (lowest is not None and int(str(value)) < lowest):
        least = "" if lowest is None else f" of at least {lowest}"
        raise PrerequisiteError(f"{name} is {value!r}: it must be a whole number{least}.")


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
