"""Counting tokens: the rule by hand, pieces, and which way of counting is taken."""

import base64
import hashlib
from pathlib import Path

import pytest
import tiktoken
import tiktoken.load
import tiktoken.registry
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.study.estimate.dry_judge import by_rule, count_by_paragraph, token_counter


@pytest.mark.parametrize(
    ("text", "tokens"),
    cases(__file__, "rule"),
)
def test_rule(text: str, tokens: int) -> None:
    assert by_rule(text) == tokens


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.sampled_from(["a b", "12", "\n\n", "\n", ".", " "])).map("".join))
def test_pieces_are_the_text(text: str) -> None:
    assert count_by_paragraph(len)(text) == len(text)


def test_each_piece_is_counted_once() -> None:
    counted = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    total = count_by_paragraph(count)
    assert total("a\n\nb\n\na\n\nc") == 4
    assert total("b\n\nd") == 2
    assert counted == ["a\n\n", "b\n\n", "c", "d"]


class Encoding:
    """A vocabulary in which every letter is a token."""

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, text: str, disallowed_special: object) -> list[str]:
        assert disallowed_special == ()  # `<|endoftext|>` in an answer is text
        return list(text)


@pytest.mark.parametrize(
    ("models", "vocabulary", "exact"),
    cases(__file__, "vocabulary"),
)
def test_with_a_vocabulary(
    models: str, vocabulary: str, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiktoken, "get_encoding", Encoding)
    counter = token_counter(models.split())
    assert counter.name.startswith(vocabulary)
    assert counter.count("abc\n\nabc") == 8
    assert (counter.low, counter.high) == ((1, 1) if exact else (0.95, 1.3))


@pytest.mark.parametrize(
    ("model", "low", "high"),
    [("openai/gpt-4o", 0.9, 1.1), ("x/y", 0.9 * 0.95, 1.1 * 1.3)],
)
def test_without_one(model: str, low: float, high: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(name: str) -> Encoding:
        raise ConnectionError(name)

    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    counter = token_counter([model])
    assert counter.name.startswith("a rule")
    assert counter.count("a response") == 2
    assert (counter.low, counter.high) == pytest.approx((low, high))


def test_where_there_is_no_way_out_nothing_is_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As SECURITY.md tells how to do without: a proxy that is none, and no vocabulary at hand."""
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert token_counter(["openai/gpt-4o"]).name.startswith("a rule, within about 10%")
    assert list(tmp_path.iterdir()) == []


def test_a_vocabulary_in_the_folder_is_not_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder and the name that SECURITY.md gives; tiktoken checks what the file holds."""
    ranks = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))
    address = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    (tmp_path / hashlib.sha1(address.encode()).hexdigest()).write_bytes(ranks)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setattr(tiktoken.load, "check_hash", lambda data, expected: data == ranks)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert token_counter(["openai/gpt-4o"]).name == "o200k_base"
