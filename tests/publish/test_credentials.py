"""What is a credential: shapes of real ones are found, what stands in real environments is not."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
import yaml
from inspect_ai.log import read_eval_log

from tests.cases import cases
from tests.publish.credential_shapes import Shape, shapes
from tiebreak.demo.screen import RECORDED
from tiebreak.publish.secrets import called_by, credentials, environment_secrets, refuse_secrets

ENVIRONMENTS = cast(
    "Mapping[str, Mapping[str, str]]",
    yaml.safe_load(Path(__file__).with_name("environments.yaml").read_text("utf-8")),
)


def missed(shape: Shape, variable: str) -> list[str]:
    """The parts of a shape in which nothing would be found."""
    found = credentials(variable, shape.value)
    return [part for part in shape.parts if not any(one in part for one in found)]


def named(shape: Shape) -> str:
    return shape.name


@pytest.mark.parametrize("shape", shapes(), ids=named)
def test_a_credential_is_found_by_its_name(shape: Shape) -> None:
    assert missed(shape, shape.variable) == []


@pytest.mark.parametrize("shape", [one for one in shapes() if one.neutral], ids=named)
def test_a_credential_is_found_by_its_look_alone(shape: Shape) -> None:
    assert missed(shape, "NOTE") == []


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_nothing_in_an_environment_without_secrets_is_one(name: str) -> None:
    assert list(environment_secrets(ENVIRONMENTS[name])) == []


@pytest.mark.slow
def test_no_word_of_our_own_text_looks_like_one() -> None:
    """Thousands of words that anybody may write: names, options, paths, formulas, addresses."""
    root = Path(__file__).parents[2]
    words: set[str] = set()
    for path in (*root.glob("docs/**/*.md"), *root.glob("src/tiebreak/*/[a-e]*.py")):
        words |= set(re.findall(r"[^\s=]{8,}", path.read_text("utf-8")))
    assert len(words) > 10_000
    assert [word for word in words if ")@" not in word and credentials("NOTE", word)] == []


@pytest.mark.parametrize(("name", "called"), cases(__file__, "names"))
def test_what_a_name_says(name: str, called: str) -> None:
    assert called_by(name) == called


KEY_ID = "AKIA" + "Q7ZK" * 4  # a mark tells of a key even where names are public


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [*cases(__file__, "values"), ("CLIENT_ID", KEY_ID, [KEY_ID])],
)
def test_what_of_a_value_is_one(name: str, value: str, found: list[str]) -> None:
    assert {*found} <= credentials(name, value)
    longer = {one for one in credentials(name, value) if not any(part in one for part in found)}
    assert longer == set(), "and nothing beside it"


@pytest.mark.parametrize(("name", "value", "found"), cases(__file__, "exact"))
def test_what_alone_of_a_value_is_one(name: str, value: str, found: list[str]) -> None:
    assert credentials(name, value) == {*found}


def test_this_environment_stops_nothing_that_it_does_not_hold() -> None:
    """Whatever stands in the variables here: text of a usual publication is not refused."""
    harmless = "\n".join(value for one in ENVIRONMENTS.values() for value in one.values())
    refuse_secrets({"a.txt": harmless.encode()}, environment_secrets(os.environ))


@pytest.mark.parametrize("address", cases(__file__, "addresses"))
def test_an_address_that_anybody_may_write_is_none(address: str) -> None:
    assert credentials("LINK", address) == set()


@pytest.mark.slow
def test_ordinary_answers_are_not_refused() -> None:
    """Answers of models in recorded logs, where variables hold stand-ins and names of data."""
    logs = sorted((RECORDED / "candidates").rglob("*.eval"))
    texts = [
        sample.model_dump_json().encode()
        for log in logs
        for sample in read_eval_log(str(log)).samples or []
    ]
    assert sum(map(len, texts)) > 400_000
    variables = cases(__file__, "stand_ins")
    known = [
        *environment_secrets(variables),
        *(secret for one in ENVIRONMENTS.values() for secret in environment_secrets(one)),
    ]
    refuse_secrets({f"{number}.json": text for number, text in enumerate(texts)}, known)
    assert known == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["a", "a.", "a=", "--a", "eyJ", "://a:", "http://hook/a1/", "a: ", "-----BEGIN A", "[", "aB1"],
)
def test_no_value_takes_long(part: str) -> None:
    started = time.process_time()
    credentials("X_KEY", part * (20_000 // len(part)))
    assert time.process_time() - started < 0.5


def test_of_a_long_one_any_part_is_enough() -> None:
    [key] = [one.value for one in shapes() if one.name == "OpenAI, project"]
    found = credentials("KEY", key)
    for at in range(0, len(key) - 63):
        assert any(piece in key[at : at + 64] for piece in found)
    [pem] = [one.value for one in shapes() if one.name == "private key"]
    pieces = credentials("DEPLOY", pem)
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]{32}", piece) for piece in pieces)
    assert not any(piece in pem[:130] for piece in pieces), "the beginning of many keys"


def key_of(pieces: int) -> tuple[str, list[str]]:
    """A private key of so many pieces of 32 characters, two a line."""
    own = [f"{number:02}" + "aB3+" * 7 + "xy" for number in range(pieces)]
    lines = ["".join(own[at : at + 2]) for at in range(0, pieces, 2)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"]), own


@pytest.mark.parametrize("pieces", [1, 2, 3, 4, 5, 8])
def test_a_private_key_is_looked_for_without_its_beginning(pieces: int) -> None:
    """The first three pieces are like those of other keys; of a short key the last one counts."""
    key, own = key_of(pieces)
    assert credentials("X", key) == set(own[3:] or own[-1:])
    assert credentials("X", key.replace("\n", "\\n")) == set(own[3:] or own[-1:])


def test_a_long_credential_is_looked_for_in_pieces() -> None:
    known = "hf_" + "".join(f"aB{number}dE" for number in range(10, 27))
    pieces = {known[at : at + 32] for at in range(0, len(known) - 31, 32)}
    assert len(pieces) > 2
    assert pieces <= credentials("X", known)
    assert known not in credentials("X", known)
    assert known[:64] in credentials("X", known[:64])
    assert {known[:32], known[32:64]} <= credentials("X", known[:65])
    assert known[:65] not in credentials("X", known[:65])
