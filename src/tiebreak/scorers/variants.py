"""Protocols with settings, as people write them: `seal,swiss:rounds=3,refine=false`.

A label is a protocol's name, then a colon and its settings where they differ from the defaults.
Several labels are separated by commas, as settings are: a part with an equals sign belongs to the
label before it.
"""

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from tiebreak.plain_yaml import read_yaml
from tiebreak.scorers.catalogue import ONE_JUDGE, PROTOCOLS
from tiebreak.scorers.protocols import Protocol, ProtocolError, find_protocol
from tiebreak.text import split_names


@dataclass(frozen=True, slots=True)
class Variant:
    """A protocol with settings, as `label` writes it."""

    label: str
    protocol: Protocol
    settings: Mapping[str, Any]


def split_labels(text: str) -> list[str]:
    """The labels of a list; `all` stands for all with one judge, with their defaults."""
    labels: list[str] = []
    for part in filter(None, split_names(text)):
        if labels and "=" in part and ":" not in part:
            labels[-1] += f",{part}"
        else:
            labels += ONE_JUDGE if part == "all" else (part,)
    return list(dict.fromkeys(labels))


def read_variant(label: str, find: Callable[[str], Protocol] = find_protocol) -> Variant:
    """A protocol and its settings from a label.

    `find` finds a protocol by its name, and may raise errors of its own.

    Raises:
        ProtocolError: no such protocol or setting, or a value that the setting cannot have.
    """
    # The name may hold the path of a file, and that a colon.
    path, at, rest = label.rpartition("@")
    name, _, given = rest.partition(":")
    found = find(path + at + name)
    known = settings_of(found)
    settings = {}
    for part in filter(None, split_names(given)):
        key, equals, value = part.partition("=")
        if not equals or key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            has = f"takes {', '.join(known)}" if known else "takes no settings"
            raise ProtocolError(
                f"{part!r} in {label!r} is not a setting: {name} {has}, as in "
                f"{name}:{next(iter(known), 'SETTING')}=VALUE.{hint}"
            )
        settings[key] = _value(name, key, value, known[key])
    return Variant(label, found, settings)


def settings_of(protocol: Protocol) -> dict[str, Any]:
    """The settings of a protocol and their types: what has a default. The rest is prepared."""
    types = get_type_hints(protocol.run)
    return {
        parameter.name: types.get(parameter.name, Any)
        for parameter in inspect.signature(protocol.run).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
    }


def _value(protocol: str, key: str, text: str, wanted: Any) -> Any:
    """A setting's value, read as the command line of Inspect reads it."""
    try:
        value = TypeAdapter(wanted).validate_python(read_yaml(text), strict=True)
    except ValueError as error:  # of YAML, or of a type
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "it is not YAML"
        raise ProtocolError(f"{protocol}: {key} cannot be {text!r} ({why}).") from error
    # Tiers and rounds: a protocol needs at least one.
    if protocol in PROTOCOLS and type(value) is int and value < 1:
        raise ProtocolError(f"{protocol}: {key} is {value}: it must be at least 1.")
    return value
