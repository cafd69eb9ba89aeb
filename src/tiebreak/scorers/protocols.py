"""Protocols by name: how the ballots of an item are asked for, and how one is run.

A protocol is one function from (item, candidates, judge) to ballots::

    from tiebreak.scorers import protocol

    @protocol("champion_stays", placed_by="win_rate")
    async def champion_stays(item, candidates, judge):
        champion, *others = judge.lots()
        for challenger in others:
            champion = (await judge.match(champion, challenger)).winner
        return judge.ballots

`placed_by` names the rule that turns these ballots into a ranking (`tiebreak.scorers.rules`).
"""

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

import anyio

from tiebreak.errors import TiebreakError
from tiebreak.scorers.ballots import ItemBallots, Rule
from tiebreak.scorers.catalogue import PROTOCOLS
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.judge import Judge
from tiebreak.scorers.rules import RULES
from tiebreak.scorers.session import Record, Session

ProtocolFunction = Callable[..., Awaitable[ItemBallots]]
Prepare = Callable[[Sequence[Contest]], Mapping[str, Any]]
Check = Callable[[Mapping[str, Any], Sequence[str]], None]
T = TypeVar("T")
F = TypeVar("F", bound=ProtocolFunction)

_registered: dict[str, "Protocol"] = {}


def share_nothing(contests: Sequence[Contest]) -> Mapping[str, Any]:
    """The usual `prepare`: the items of a run share nothing."""
    return {}


def accept_all(settings: Mapping[str, Any], models: Sequence[str]) -> None:
    """The usual `check`: settings of the right type fit any models."""


class ProtocolError(TiebreakError, ValueError):
    """A protocol cannot be found, two want the same name, or one does not keep to the rules."""


@dataclass(frozen=True)
class Protocol:
    """A protocol as `protocol` registers it.

    `check` refuses settings, with a ProtocolError, that do not fit the models. `keyed` is whether
    answers are judged by the key of their item: only then contests hold it.
    """

    name: str
    run: ProtocolFunction
    placed_by: Rule
    prepare: Prepare = share_nothing
    check: Check = accept_all
    keyed: bool = False


def protocol(
    name: str,
    *,
    placed_by: Rule,
    prepare: Prepare = share_nothing,
    check: Check = accept_all,
    keyed: bool = False,
) -> Callable[[F], F]:
    """Register a function (item, candidates, judge, **settings) → ballots as a protocol.

    Args:
        name: its name, for tasks and reports.
        placed_by: the rule that turns its ballots into a ranking.
        prepare: makes what all items of a run share out of all contests, as further settings.
        check: refuses settings that do not fit the models.
        keyed: whether its judge reads the key of an item (`Contest.target`); no rubric is read.

    Raises:
        ProtocolError: the name belongs to another protocol.
    """

    def register(function: F) -> F:
        place = (function.__module__, function.__qualname__)
        own = PROTOCOLS.get(name)
        if own is not None and function.__module__ != f"tiebreak.scorers.{own.module}":
            raise ProtocolError(f"{name!r} is a built-in protocol: choose another name.")
        before = _registered.get(name)
        if before and (before.run.__module__, before.run.__qualname__) != place:
            raise ProtocolError(f"{name!r} is registered already, by {before.run.__module__}.")
        _registered[name] = Protocol(name, function, placed_by, prepare, check, keyed)
        return function

    return register


def find_protocol(name: str) -> Protocol:
    """The protocol of this name.

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

    `record` is called with all ballots so far whenever there are new ones. Where all answers are
    identical there is nothing to compare, and so no call.

    Raises:
        ProtocolError: the protocol's function does not return ballots.
    """
    session = Session(contest, judge, record, protocol.name, protocol.placed_by)
    if len(session.candidates) > 1 or RULES[protocol.placed_by].judges_one:
        found = await protocol.run(contest, session.candidates, session, **(settings or {}))
        if not isinstance(found, ItemBallots):
            raise ProtocolError(
                f"{protocol.name!r} returned {type(found).__name__}: end it with "
                "`return judge.ballots`."
            )
        if _about(found) != _about(session.ballots):
            raise ProtocolError(
                f"{protocol.name!r} returned the ballots of another item ({found.item_id}): end it "
                "with `return judge.ballots`."
            )
        session.ballots = found
    session.keep(complete=True)
    return session.ballots


def in_event_loop(main: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine function outside of Inspect, for judges that never wait.

    What the items of a run share may need an event loop to be locked. Where one is running already
    (a notebook) the function gets a thread of its own.
    """
    found: list[T] = []

    async def keep() -> None:
        # Python writes out what the main task returns when it ends the loop: all ballots of a run.
        found.append(await main())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        anyio.run(keep)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(anyio.run, keep).result()
    return found[0]


def _about(ballots: ItemBallots) -> tuple[object, ...]:
    return ballots.benchmark, ballots.item_id, ballots.input_hash, ballots.groups
