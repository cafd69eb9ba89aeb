"""Calls that are right by a ground truth, and calls that are a little or quite wrong."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.cases import cases
from tiebreak.benchmarks.bfcl.check import Call
from tiebreak.benchmarks.question import Question

Calls = list[Call]


def right_calls(question: Question, rng: random.Random | None = None) -> Calls:
    """The ground truth as calls: of every argument one of its values, the first without `rng`."""
    return [
        Call(
            name,
            {
                key: _plain(_one(values, rng), rng)
                for key, values in admitted.items()
                if _real(values)
            },
        )
        for right in question.details["ground_truth"]
        for name, admitted in right.items()
    ]


def mutated(question: Question, rng: random.Random) -> Calls:
    """Right calls with one to three changes."""
    calls = right_calls(question, rng)
    for _ in range(rng.randint(1, 3)):
        if not calls or rng.random() < 0.3:
            calls = rng.choice(_OF_CALLS)(calls, question, rng)
        else:
            at = rng.randrange(len(calls))
            arguments = _with_change(calls[at].arguments, question, rng)
            calls = [*calls[:at], Call(calls[at].name, arguments), *calls[at + 1 :]]
    return calls


def without_dots(calls: Calls) -> Calls:
    return [Call(call.name.replace(".", "_"), call.arguments) for call in calls]


def as_python(calls: Calls) -> str:
    """The calls in BFCL's own notation."""
    written = [
        f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
        for name, arguments in calls
    ]
    return f"[{', '.join(written)}]"


def _real(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if value != ""]


def _one(values: Sequence[Any], rng: random.Random | None) -> Any:
    return rng.choice(_real(values)) if rng else _real(values)[0]


def _plain(value: Any, rng: random.Random | None) -> Any:
    """An object of the ground truth lists the values of each key; one of each is taken."""
    if isinstance(value, dict):
        return {key: _one(v, rng) for key, v in value.items() if isinstance(v, list) and _real(v)}
    if isinstance(value, list):
        return [_plain(item, rng) for item in value]
    return value


_VALUES: Final[tuple[Any, ...]] = (*cases(__file__, "values"), ())


def _with_change(
    arguments: Mapping[str, Any], question: Question, rng: random.Random
) -> dict[str, Any]:
    changed = dict(arguments)
    draw = rng.random()
    if not changed or draw < 0.08:
        known = [name for tool in question.tools for name in tool["parameters"]["properties"]]
        return {**changed, rng.choice(["surplus", *known]): rng.choice(_VALUES)}
    key = rng.choice(list(changed))
    if draw < 0.2:
        del changed[key]
    elif draw < 0.3:
        changed[key] = rng.choice(_VALUES)
    else:
        changed[key] = rng.choice(_OF_VALUES)(changed[key], rng)
    return changed


def _retyped(value: Any, rng: random.Random) -> Any:
    kinds: list[Callable[[Any], Any]] = [str, repr, lambda v: [v], lambda v: (v,)]
    kinds.append(lambda v: {"v": v})
    if isinstance(value, int | float):
        kinds += [float, int, bool, lambda v: v + 1, lambda v: -v, lambda v: v + 1e-12]
    if isinstance(value, list):
        kinds += [tuple, lambda v: v[::-1], lambda v: v[1:], lambda v: [*v, *v[:1]], lambda v: []]
    return rng.choice(kinds)(value)


def _spelt(value: Any, rng: random.Random) -> Any:
    """A text in another spelling; of a list or an object, one of its texts."""
    if not isinstance(value, str):
        return _inside(value, rng, _spelt)
    at = rng.randint(0, len(value))
    forms = [value.upper(), value.title(), value[:at], value.replace("'", '"')]
    forms += [value.replace(sign, "") for sign in " ,"]
    forms += [value[:at] + rng.choice(signs) + value[at:] for signs in (" ,./-_*^", "!?:;\n\t–'xé")]
    return rng.choice(forms)


def _deeper(value: Any, rng: random.Random) -> Any:
    return _inside(value, rng, _retyped)


def _rekeyed(value: Any, rng: random.Random) -> Any:
    """An object with a key less, more, or in another spelling; of a list, one of its objects."""
    if not (isinstance(value, dict) and value):
        return _inside(value, rng, _rekeyed)
    key = rng.choice(list(value))
    rest = {other: value[other] for other in value if other != key}
    return rng.choice([rest, {**value, "surplus": 1}, {**rest, key.upper(): value[key]}])


def _inside(value: Any, rng: random.Random, change: Callable[[Any, random.Random], Any]) -> Any:
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return [*value[:at], change(value[at], rng), *value[at + 1 :]]
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        return {**value, key: change(value[key], rng)}
    return value


_OF_VALUES: Final[tuple[Any, ...]] = (_retyped, _spelt, _deeper, _rekeyed)


def _dropped(calls: Calls, question: Question, rng: random.Random) -> Calls:
    at = rng.randrange(len(calls)) if calls else 0
    return calls[:at] + calls[at + 1 :]


def _doubled(calls: Calls, question: Question, rng: random.Random) -> Calls:
    return [*calls, rng.choice(calls)] if calls else calls


def _shuffled(calls: Calls, question: Question, rng: random.Random) -> Calls:
    return rng.sample(calls, len(calls))


def _renamed(calls: Calls, question: Question, rng: random.Random) -> Calls:
    """One call gets the name of another function, or one that is nearly right."""
    if not calls:
        return calls
    at = rng.randrange(len(calls))
    name, arguments = calls[at]
    names = [name.upper(), f"{name}_", name.split(".")[-1], *(t["name"] for t in question.tools)]
    return [*calls[:at], Call(rng.choice(names), arguments), *calls[at + 1 :]]


def _exchanged(calls: Calls, question: Question, rng: random.Random) -> Calls:
    """The arguments change places, the names stay."""
    arguments = _shuffled(calls, question, rng)
    return [Call(a.name, b.arguments) for a, b in zip(calls, arguments, strict=True)]


_OF_CALLS: Final = (_dropped, _doubled, _shuffled, _renamed, _exchanged)
