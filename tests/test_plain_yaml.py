"""YAML that people write: what is read, and what is refused with a sentence, at once."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import tiebreak
from tests.cases import cases
from tiebreak.plain_yaml import MOST_CHARACTERS, packaged, read_yaml, read_yaml_file

LETTERS = "abcdefghijklm"
PAIRS = list(pairwise(LETTERS))
LISTS = "a: &a [x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in PAIRS)
MERGED = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 9)}]}}\n" for a, b in PAIRS
)


@pytest.mark.parametrize(("text", "value"), cases(__file__, "what is read"))
def test_what_is_read(text: str, value: Any) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1", "line 1: expected"),
        ("a: 1\na: 2", "line 2: the key 'a' is there twice"),
        ("{b: {<<: {x: 1}, <<: {y: 2}}}", "the key '<<' is there twice"),
        (LISTS, "stand for more than 1,000,000 values"),
        (MERGED, "stand for more than 1,000,000 values"),
        ("&a [*a]", "stand for more than 1,000,000 values"),
        ("[" * 20_000, "nested too deeply"),
        ("!!bool x", "does not fit its tag"),
        ("!!timestamp x", "does not fit its tag"),
        ("!!int ''", "does not fit its tag"),
        ("2024-13-45", "month must be"),
        ("9" * 5_000, "4300 digits"),
        ('"\\ud800"', "line 1: a text holds half of a character"),
        ("a\x00b", "special characters are not allowed"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("a" * (MOST_CHARACTERS + 1), "more than 500,000 characters"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_yaml(text)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml_file(path) == {"a": 1}
    path.write_bytes("a: é\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not text in UTF-8 \(byte 3\)"):
        read_yaml_file(path)
    with pytest.raises(ValueError, match=r"cannot be opened \(Is a directory\)"):
        read_yaml_file(tmp_path)


def test_values_are_those_of_yaml() -> None:
    text = "- {a: 1.5, b: yes, c: 2024-01-02, d: 0x1f}\n- - null\n  - 'x: y'\n"
    assert read_yaml(text) == yaml.safe_load(text)


def test_the_packages_own_files_are_read_as_all_others() -> None:
    files = [
        path
        for path in Path(tiebreak.__file__).parent.rglob("*.yaml")
        if "lm_eval_tasks" not in path.parts  # with tags of lm-eval
    ]
    assert len(files) > 10
    for path in files:
        assert packaged(str(path), path.name) == read_yaml_file(path)
