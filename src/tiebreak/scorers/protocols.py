"""Protocols by name: how the ballots of an item are obtained, and how a protocol is run.

A protocol is one function from (item, candidates, judge) to ballots::

    from tiebreak.scorers import protocol

    @protocol("champion_stays", placed_by="win_rate")
    async def champion_stays(item, candidates, judge):
        champion, *others = judge.lots()
        for challenger in others:
            champion = (await judge.match(champion, challenger)).winner
        return judge.ballots

`placed_by` names the rule that turns these ballots into a ranking (`tiebreak.scorers.rules`).

Users write protocols with settings as `seal,swiss:rounds=3,refine=false`: a label is a protocol's
name, then a colon and the settings that differ from the defaults. Commas separate labels as well as
settings: a part with an equals sign belongs to the label before it.
"""

import asyncio
import difflib
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar, get_type_hints

import anyio
from pydantic import TypeAdapter, ValidationError

from tiebreak.plain_yaml import read_yaml
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.catalogue import ONE_JUDGE, PROTOCOLS
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge
from tiebreak.scorers.rules import RULES, PlacementRule
from tiebreak.scorers.session import ProtocolError, Record, Session
from tiebreak.text import split_names

ProtocolFunction = Callable[..., Awaitable[ItemBallots]]
Prepare = Callable[[Sequence[Contest]], Mapping[str, Any]]
Check = Callable[[Mapping[str, Any], Sequence[str]], None]
T = TypeVar("T")
F = TypeVar("F", bound=ProtocolFunction)

_registered: dict[str, "Protocol"] = {}


def nothing_shared(contests: Sequence[Contest]) -> Mapping[str, Any]:
    """The default `prepare`: the items of a run share nothing."""
    return {}


def accept_all(settings: Mapping[str, Any], models: Sequence[str]) -> None:
    """The default `check`: settings of the right type fit any models."""


@dataclass(frozen=True)
class Protocol:
    """A protocol as `protocol` registers it.

    `check` raises ProtocolError for settings that do not fit the models. `keyed` is True if answers
    are judged by the key of their item; other protocols' contests do not contain the key.
    """

    name: str
    run: ProtocolFunction
    placed_by: Rule
    prepare: Prepare = nothing_shared
    check: Check = accept_all
    keyed: bool = False

    @property
    def rule(self) -> PlacementRule:
        """The rule that ranks by this protocol's ballots."""
        return RULES[self.placed_by]


def protocol(
    name: str,
    *,
    placed_by: Rule,
    prepare: Prepare = nothing_shared,
    check: Check = accept_all,
    keyed: bool = False,
) -> Callable[[F], F]:
    """Register a function (item, candidates, judge, **settings) → ballots as a protocol.

    Args:
        name: its name, for tasks and reports.
        placed_by: the rule that turns its ballots into a ranking.
        prepare: computes further settings, shared by all items of a run, from all contests.
        check: refuses settings that do not fit the models.
        keyed: whether its judge reads the key of an item (`Contest.target`), and no rubric.

    Raises:
        ProtocolError: the name belongs to another protocol, or there is no such rule.
    """
    if placed_by not in RULES:
        raise ProtocolError(f"No rule {placed_by!r} (placed_by). There are: {', '.join(RULES)}.")

    def register(function: F) -> F:
        place = (function.__module__, function.__qualname__)
        built_in = PROTOCOLS.get(name)
        if built_in is not None and function.__module__ != f"tiebreak.scorers.{built_in.module}":
            raise ProtocolError(f"{name!r} is a built-in protocol: choose another name.")
        before = _registered.get(name)
        if before and (before.run.__module__, before.run.__qualname__) != place:
            raise ProtocolError(f"{name!r} is registered already, by {before.run.__module__}.")
        _registered[name] = Protocol(name, function, placed_by, prepare, check, keyed)
        return function

    return register


def find_protocol(name: str) -> Protocol:
    """Return the protocol of this name; a built-in one is imported first.

    Raises:
        ProtocolError: no protocol has this name.
    """
    if name not in _registered and name in PROTOCOLS:
        import_module(f"tiebreak.scorers.{PROTOCOLS[name].module}")
    if name not in _registered:
        known = list(dict.fromkeys((*PROTOCOLS, *_registered)))
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ProtocolError(f"No protocol {name!r}.{hint} There are: {', '.join(known)}.")
    return _registered[name]


async def judge_item(
    protocol: Protocol,
    contest: Contest,
    judge: Judge,
    record: Record = lambda ballots: None,
    settings: Mapping[str, Any] | None = None,
) -> ItemBallots:
    """Judge one item.

    `record` is called with all ballots so far whenever there are new ones. If all answers are
    identical there is nothing to compare, so nothing is asked.

    Raises:
        ProtocolError: the protocol's function does not return ballots of this item.
    """
    session = Session(contest, judge, record, protocol.name, protocol.placed_by)
    if len(session.candidates) > 1 or protocol.rule.judges_one:
        ballots = await protocol.run(contest, session.candidates, session, **(settings or {}))
        if not isinstance(ballots, ItemBallots):
            raise ProtocolError(
                f"{protocol.name!r} returned {type(ballots).__name__}: end it with "
                "`return judge.ballots`."
            )
        if _about(ballots) != _about(session.ballots):
            raise ProtocolError(
                f"{protocol.name!r} returned the ballots of another item ({ballots.item_id}): end "
                "it with `return judge.ballots`."
            )
        session.ballots = ballots
    session.keep(complete=True)
    return session.ballots


def in_event_loop(main: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine function outside of Inspect, for judges that never wait.

    State shared by the items of a run may need an event loop for its locks. If a loop is already
    running (in a notebook) the function gets its own thread.
    """
    results: list[T] = []

    async def keep() -> None:
        # asyncio formats the main task's result when the loop ends: the ballots of a whole run.
        results.append(await main())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        anyio.run(keep)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(anyio.run, keep).result()
    return results[0]


def _about(ballots: ItemBallots) -> tuple[object, ...]:
    return ballots.benchmark, ballots.item_id, ballots.input_hash, ballots.groups


@dataclass(frozen=True, slots=True)
class Variant:
    """A protocol with settings, as written in `label`."""

    label: str
    protocol: Protocol
    settings: Mapping[str, Any]


def split_labels(text: str) -> list[str]:
    """Split a list of labels; `all` stands for every one-judge protocol with its defaults."""
    labels: list[str] = []
    for part in filter(None, split_names(text)):
        if labels and "=" in part and ":" not in part:
            labels[-1] += f",{part}"
        else:
            labels += ONE_JUDGE if part == "all" else (part,)
    return list(dict.fromkeys(labels))


def read_variant(label: str, find: Callable[[str], Protocol] = find_protocol) -> Variant:
    """Read a protocol and its settings from a label.

    `find` looks a protocol up by name, and may raise its own errors.

    Raises:
        ProtocolError: no such protocol or setting, or an invalid value.
    """
    # The name may contain the path of a file, which may contain a colon.
    path, at, rest = label.rpartition("@")
    name, _, given = rest.partition(":")
    protocol = find(path + at + name)
    known = settings_of(protocol)
    settings = {}
    for part in filter(None, split_names(given)):
        key, equals, value = part.partition("=")
        if not equals or key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            takes = f"takes {', '.join(known)}" if known else "takes no settings"
            raise ProtocolError(
                f"{part!r} in {label!r} is not a setting: {name} {takes}, as in "
                f"{name}:{next(iter(known), 'SETTING')}=VALUE.{hint}"
            )
        settings[key] = _value(name, key, value, known[key])
    return Variant(label, protocol, settings)


def settings_of(protocol: Protocol) -> dict[str, Any]:
    """Settings of a protocol (arguments with a default) with their types; others are prepared."""
    types = get_type_hints(protocol.run)
    return {
        parameter.name: types.get(parameter.name, Any)
        for parameter in inspect.signature(protocol.run).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
    }


def _value(protocol: str, key: str, text: str, wanted: Any) -> Any:
    try:
        value = TypeAdapter(wanted).validate_python(read_yaml(text), strict=True)
    except ValueError as error:  # invalid YAML, or another type
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "it is not YAML"
        raise ProtocolError(f"{protocol}: {key} cannot be {text!r:.80} ({why}).") from error
    # Tiers and rounds: protocols need at least one.
    if protocol in PROTOCOLS and type(value) is int and value < 1:
        raise ProtocolError(f"{protocol}: {key} is {value}: it must be at least 1.")
    return value
