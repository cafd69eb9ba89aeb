"""What BFCL itself says: on its own questions with right and mutated calls, and on odd ones."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest

from tests.benchmarks.bfcl.mutations import as_python, mutated, right_calls, without_dots
from tests.benchmarks.bfcl.official import DOTTED, UNDERSCORED, Official, official
from tests.cases import cases
from tiebreak.benchmarks.bfcl.check import Call, problem, written_calls
from tiebreak.benchmarks.bfcl.questions import load_rows, read
from tiebreak.benchmarks.question import Question

MUTATIONS: Final = 2
"""Of each question."""


@pytest.fixture(scope="module", name="theirs")
def _theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Official]:
    with official(tmp_path_factory.mktemp("bfcl")) as functions:
        yield functions


@pytest.fixture(scope="module", name="questions")
def _questions() -> list[Question]:
    """BFCL's own questions that have a ground truth."""
    questions = [read(row, number) for number, row in enumerate(load_rows())]
    return [question for question in questions if question.details["ground_truth"]]


# Right calls that BFCL rejects itself: its ground truth has an argument that the function lacks,
# or lacks one that the function requires.
UNREACHABLE: Final = {
    "parallel_multiple_12",
    "parallel_multiple_26",
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_507-149-4",
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
}


@pytest.mark.slow
def test_right_calls_are_right(theirs: Official, questions: Sequence[Question]) -> None:
    assert len(questions) == 2351  # 400 + 3 · 200 + 258 + 1053 + 16 + 24
    wrong = {q.id for q in questions if problem(right_calls(q), q)}
    assert wrong == {q.id for q in questions if not theirs.accepts(right_calls(q), q)}
    assert wrong == UNREACHABLE


@pytest.mark.slow
def test_mutated_calls(theirs: Official, questions: Sequence[Question]) -> None:
    said: Counter[bool] = Counter()
    for question in questions:
        rng = random.Random(question.id)
        for _ in range(MUTATIONS):
            calls = mutated(question, rng)
            for model, form in ((DOTTED, calls), (UNDERSCORED, without_dots(calls))):
                accepted = theirs.accepts(form, question, model)
                found = problem(form, question)
                assert (found is None) == accepted, (question.id, form, found)
                said[bool(accepted)] += 1
    # Both verdicts are common, so agreement is no matter of course.
    assert sum(said.values()) == 2 * MUTATIONS * len(questions)
    assert min(said.values()) > 0.25 * sum(said.values())


@pytest.mark.slow
def test_written_calls(theirs: Official, questions: Sequence[Question]) -> None:
    for question in questions[::3]:
        calls = mutated(question, random.Random(question.id))
        text = as_python(calls)
        assert repr(written_calls(text)) == repr(theirs.read(text)), question.id


SCALARS: Final = cases(__file__, "scalars")
SIMPLE: Final = ("string", "integer", "float", "boolean", "dict", "any")
ODD: Final = 10_000


def odd_value(rng: random.Random, deepest: int = 2) -> Any:
    """A value of any type, also of one that no schema has."""
    kind = rng.randrange(6) if deepest else 0
    if kind < 3:
        return rng.choice(SCALARS)
    items = [odd_value(rng, deepest - 1) for _ in range(rng.randrange(3))]
    if kind == 3:
        return dict(zip("ab", items, strict=False))
    return tuple(items) if kind == 4 and rng.random() < 0.3 else items


def odd_ground_truth(rng: random.Random) -> list[Any]:
    """Admitted values, of one type mostly; objects list the values of each key."""
    one: Sequence[Callable[[], Any]] = (
        lambda: rng.choice(SCALARS),
        lambda: [rng.choice(SCALARS) for _ in range(rng.randrange(3))],
        lambda: {
            key: rng.choices(SCALARS, k=rng.randint(1, 2)) for key in "ab"[: rng.randrange(3)]
        },
        lambda: [one[2]() for _ in range(rng.randrange(3))],
        lambda: [one[1]() for _ in range(rng.randrange(3))],
        lambda: "",
    )
    kind = rng.choice(one)
    return [(rng.choice(one) if rng.random() < 0.2 else kind)() for _ in range(rng.randrange(4))]


@pytest.mark.slow
def test_odd_values_and_odd_ground_truths(theirs: Official) -> None:
    rng = random.Random(0)
    said: Counter[bool | None] = Counter()
    for _ in range(ODD):
        kind = rng.choice([*SIMPLE, "array", "tuple"])
        schema = {"type": kind, "items": {"type": rng.choice([*SIMPLE, "array"])}}
        tool = {
            "name": "f.g",
            "parameters": {"properties": {"x": schema}, "required": rng.choice([[], ["x"]])},
        }
        details = {"category": "simple", "ground_truth": [{"f.g": {"x": odd_ground_truth(rng)}}]}
        question = Question("odd", "", "", tools=(tool,), details=details)
        calls = right_calls(question, rng) if rng.random() < 0.5 else [Call("f.g", {})]
        if rng.random() < 0.7:
            calls = mutated(question, rng)
        elif rng.random() < 0.5:
            calls = [Call("f.g", {"x": odd_value(rng)})]
        accepted = theirs.accepts(calls, question)
        said[accepted] += 1
        found = problem(calls, question)  # never raises
        if accepted is not None:
            assert (found is None) == accepted, (calls, schema, details)
    assert min(said[True], said[False]) > ODD / 10
    assert said[None] > 0


@pytest.mark.parametrize("text", cases(__file__, "alike"))
def test_whole_answers_are_read_alike(theirs: Official, text: str) -> None:
    theirs_read = theirs.read(text)
    assert repr(written_calls(text)) == repr(theirs_read or [])
    # Where no call is right, and where any is, only this counts.
    called = theirs_read is not None and not theirs.is_empty_output(theirs.decode(text))
    assert bool(written_calls(text)) == called


@pytest.mark.parametrize(("text", "read_there", "read_here"), cases(__file__, "not alike"))
def test_where_the_readers_differ(
    theirs: Official, text: str, read_there: list[Any] | None, read_here: list[Any]
) -> None:
    assert theirs.read(text) == (read_there and [Call(*call) for call in read_there])
    assert written_calls(text) == [Call(*call) for call in read_here]


def one_argument(kind: str, admitted: list[Any]) -> Question:
    schema = {"type": kind, "items": {"type": "integer"}}
    tool = {"name": "f", "parameters": {"properties": {"x": schema}, "required": []}}
    details = {"category": "simple", "ground_truth": [{"f": {"x": admitted}}]}
    return Question("q", "", "", tools=(tool,), details=details)


# What their checker says, and ours. None: theirs raises.
ODDITIES: Final = [
    *(
        (kind, admitted, value, right, right)
        for kind, admitted, value, right in cases(__file__, "oddities")
    ),
    ("float", [1.0], 10**400, None, False),  # too large for a float
    ("dict", [{"a": 5}], {"a": 5}, None, False),  # a ground truth that lists no values
    # What makes no sense among the admitted values admits nothing; the others do.
    ("dict", [{"a": ["x"]}, "y"], {"a": "z"}, None, False),
    ("array", [[1], 2], [1], None, True),
]


@pytest.mark.parametrize(("kind", "admitted", "value", "accepted", "right"), ODDITIES)
def test_oddities(
    theirs: Official, kind: str, admitted: list[Any], value: Any, accepted: bool | None, right: bool
) -> None:
    question, calls = one_argument(kind, admitted), [Call("f", {"x": value})]
    assert theirs.accepts(calls, question) is accepted
    assert (problem(calls, question) is None) == right
