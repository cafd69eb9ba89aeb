"""Plain data on the wire: what comes out equals what went in, and nothing else comes out."""

import collections
import decimal
import enum
import fractions
import json
import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sandbox.plain_data import DEEPEST, MOST_PARTS, NotPlainData, decode, encode

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**30, max_value=10**60),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
)
HASHABLE = st.recursive(
    SCALARS,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
PLAIN = st.recursive(
    HASHABLE | st.sets(HASHABLE, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HASHABLE, inner, max_size=3),
    max_leaves=8,
)


def over_the_wire(value: object) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


def shape(value: object) -> object:
    """Types all the way down: 1, 1.0 and True are equal, but not the same."""
    if isinstance(value, dict):
        return dict, [(shape(key), shape(entry)) for key, entry in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [shape(entry) for entry in value]
    if isinstance(value, set | frozenset):
        return type(value), sorted(repr(shape(entry)) for entry in value)
    return type(value)


@pytest.mark.slow
@settings(deadline=None)
@given(PLAIN)
def test_plain_data_arrive_as_they_are(value: object) -> None:
    there = over_the_wire(value)
    assert there == value
    assert shape(there) == shape(value)


def test_numbers_that_are_none() -> None:
    assert math.isnan(over_the_wire(math.nan))
    assert over_the_wire([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert math.copysign(1, over_the_wire(-0.0)) == -1


def test_long_numbers() -> None:
    # Python neither writes nor reads decimals of more than 4,300 digits.
    for number in (2**63 - 1, 2**63, -(2**63), 10**5000, -(10**5000)):
        assert over_the_wire(number) == number


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Pair(NamedTuple):
    x: int
    y: int


class Word(enum.StrEnum):
    RED = "red"


class Loud(str):
    def __str__(self) -> str:
        return "LOUD"


class Sly(list[int]):
    def __iter__(self) -> Any:
        return iter([9])

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


@pytest.mark.parametrize(
    ("value", "there"),
    [
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
        (Pair(1, 2), (1, 2)),
        (Word.RED, "red"),
        (Loud("quiet"), "quiet"),
        (Level.LOW, 1),
        (bytearray(b"x"), b"x"),
        (Sly([1, 2]), [1, 2]),
        (float("1.5"), 1.5),
        (decimal.Decimal("2.50"), decimal.Decimal("2.5")),
        (fractions.Fraction(1, 2), fractions.Fraction(1, 2)),
        (fractions.Fraction(10**5000, 3), fractions.Fraction(10**5000, 3)),
        (range(3, 9, 2), range(3, 9, 2)),
        (collections.deque([1, (2,)]), collections.deque([1, (2,)])),
        ({"a": 1}.keys(), {"a": 1}.keys()),
        ({"a": 1}.items(), {"a": 1}.items()),
    ],
)
def test_a_subclass_counts_as_the_plain_type_it_is(value: object, there: object) -> None:
    found = over_the_wire(value)
    assert type(found) is type(there)
    assert found == there


def test_iterators_can_be_read_once_and_equal_nothing() -> None:
    there = over_the_wire(n * n for n in range(3))
    assert there != [0, 1, 4]
    assert tuple(there) == (0, 1, 4)
    assert tuple(there) == ()
    assert list(over_the_wire(map(str, [1]))) == ["1"]


@pytest.mark.parametrize(
    "value",
    [object(), Colour.RED, int, len, range(10**9), range(10**30), decimal.Decimal("1e999999999")],
)
def test_what_is_not_plain_equals_nothing(value: object) -> None:
    there = over_the_wire([value])[0]
    assert isinstance(there, NotPlainData)
    assert type(value).__name__ in repr(there)
    assert there != value
    assert there != over_the_wire(value)


def test_other_plain_data_compare_as_they_do_here() -> None:
    assert over_the_wire(decimal.Decimal(2)) == 2
    assert over_the_wire(fractions.Fraction(1, 2)) == 0.5
    assert over_the_wire({1: "a"}.keys()) == {1}
    assert list(over_the_wire({1: "a", 2: "a"}.values())) == ["a", "a"]
    assert over_the_wire({1: "a"}.values()) != ["a"]
    assert over_the_wire(collections.deque([1])) != [1]
    assert over_the_wire(range(2)) != [0, 1]
    assert math.isnan(over_the_wire(decimal.Decimal("nan")))


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.slow
def test_the_largest_and_the_deepest() -> None:
    # The list itself is one part.
    assert over_the_wire([0] * (MOST_PARTS - 1)) == [0] * (MOST_PARTS - 1)
    assert isinstance(over_the_wire([0] * MOST_PARTS), NotPlainData)
    assert over_the_wire(nested(DEEPEST)) == nested(DEEPEST)
    assert isinstance(over_the_wire(nested(DEEPEST + 1)), NotPlainData)
