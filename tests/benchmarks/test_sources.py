"""Loading: a copy in Hub layout and files, and what is said when there is nothing to load."""

import gzip
import json
import re
import socket
from pathlib import Path

import pytest

from tests.benchmarks.hub import ITEMS, items, write_copy
from tests.cases import cases
from tiebreak.benchmarks import BENCHMARKS, load_questions, sources
from tiebreak.benchmarks.question import Question
from tiebreak.benchmarks.sources import HUB, origin
from tiebreak.prerequisite import PrerequisiteError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "hf")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def from_items(benchmark: str) -> list[Question]:
    return load_questions(benchmark, ITEMS / f"{benchmark}.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize("card", [True, False])
@pytest.mark.parametrize("benchmark", HUB)
def test_a_copy_of_the_repository_holds_the_same_questions_as_the_file(
    benchmark: str, card: bool, tmp_path: Path
) -> None:
    copy = write_copy(tmp_path / "copy", benchmark, card=card)
    assert load_questions(benchmark, copy) == from_items(benchmark)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_files_of_all_kinds_hold_the_same_questions(benchmark: str, tmp_path: Path) -> None:
    path = ITEMS / f"{benchmark}.jsonl"
    packed = tmp_path / "items.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_questions(benchmark, str(packed)) == from_items(benchmark)
    assert len({question.id for question in from_items(benchmark)}) == len(items(benchmark)) >= 8


@pytest.mark.parametrize("benchmark", HUB)
def test_a_parquet_file_holds_the_same_questions(benchmark: str, tmp_path: Path) -> None:
    copy = write_copy(tmp_path / "copy", benchmark)
    [path] = (copy / HUB[benchmark].folder).glob("test-*.parquet")
    assert load_questions(benchmark, path) == from_items(benchmark)


def test_revisions_are_commits() -> None:
    assert all(re.fullmatch("[0-9a-f]{40}", source.revision) for source in HUB.values())
    assert origin("gsm8k") == f"openai/gsm8k@{HUB['gsm8k'].revision}"
    assert origin("gsm8k", "mine.jsonl") == "mine.jsonl"
    assert origin("bfcl").startswith("bfcl-eval")


@pytest.mark.parametrize("benchmark", HUB)
def test_without_a_network_the_message_says_how_to_get_a_copy(benchmark: str) -> None:
    source = HUB[benchmark]
    with pytest.raises(PrerequisiteError) as caught:
        load_questions(benchmark)
    message = str(caught.value)
    assert f"cannot be loaded from {source.repo} at {source.revision[:8]}" in message
    assert f"{source.repo} --revision {source.revision} --local-dir" in message
    assert "-T data=" in message
    assert "--metadata" in message


def test_a_folder_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("nothing")
    with pytest.raises(PrerequisiteError, match=f"cannot be loaded from {tmp_path}"):
        load_questions("gsm8k", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    cases(__file__, "bad_data"),
)
def test_bad_data_say_where(text: str, words: str, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PrerequisiteError, match=words):
        load_questions("gsm8k", data)


@pytest.mark.parametrize("name", ["no.jsonl.gz", "no.parquet"])
def test_damaged_files_are_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"garbage")
    with pytest.raises(PrerequisiteError, match="cannot be read"):
        load_questions("gsm8k", tmp_path / name)


def test_rows_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_ROWS", 3)
    with pytest.raises(PrerequisiteError, match="more than 3 rows"):
        load_questions("gsm8k", ITEMS / "gsm8k.jsonl")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question": "?", "function": "[" * 100_000, "ground_truth": []}, "nested too deeply"),
        ({"question": [{"role": "\ud800", "content": "?"}], "function": []}, r"of \ufffd\."),
        ({"question": [{"role": "x" * 999, "content": "?"}], "function": []}, "x…"),
    ],
)
def test_what_a_row_holds_does_not_spoil_the_message(
    row: dict[str, object], words: str, tmp_path: Path
) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    with pytest.raises(PrerequisiteError, match=words) as caught:
        load_questions("bfcl", tmp_path / "x.jsonl")
    assert len(str(caught.value).encode()) < 1_000


@pytest.mark.parametrize(
    ("benchmark", "column", "value", "words"),
    cases(__file__, "no_text"),
)
def test_what_is_no_text_is_named(
    benchmark: str, column: str, value: object, words: str, tmp_path: Path
) -> None:
    row = items(benchmark)[0] | {column: value}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    with pytest.raises(PrerequisiteError, match=f"line 1: {words}"):
        load_questions(benchmark, tmp_path / "x.jsonl")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"cannot be read.*nowhere\.jsonl does not exist"):
        load_questions("gsm8k", tmp_path / "nowhere.jsonl")


def test_parts_keep_their_names(tmp_path: Path) -> None:
    everything = from_items("mmlu")
    [chosen] = load_questions("mmlu", ITEMS / "mmlu.jsonl", ["astronomy"])
    assert chosen in everything
    assert everything.index(chosen) > 0
    assert chosen.details["subject"] == "astronomy"
    simple = load_questions("bfcl", ITEMS / "bfcl.jsonl", ["simple_python"])
    assert {question.details["category"] for question in simple} == {"simple"}


@pytest.mark.parametrize(
    ("benchmark", "parts", "words"),
    [
        ("mmlu", ["astronomy", "astrology"], "mmlu has no subject 'astrology'. There are: anatomy"),
        ("bfcl", ["complex"], "no category 'complex'"),
        ("bfcl", ["multi_turn_base"], "multi_turn_base is left out"),
        ("gsm8k", ["easy"], "gsm8k has no parts"),
    ],
)
def test_unknown_parts_are_named(benchmark: str, parts: list[str], words: str) -> None:
    with pytest.raises(PrerequisiteError, match=words):
        load_questions(benchmark, ITEMS / f"{benchmark}.jsonl", parts)


def the_hub_answers() -> bool:
    try:
        socket.create_connection(("huggingface.co", 443), timeout=3).close()
    except OSError:
        return False
    return True


@pytest.mark.hub
@pytest.mark.parametrize(
    ("benchmark", "number"), [("humaneval", 164), ("gsm8k", 1319), ("mmlu", 14042)]
)
def test_the_real_data(benchmark: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not the_hub_answers():
        pytest.skip("the Hugging Face Hub cannot be reached")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    questions = load_questions(benchmark)
    assert len(questions) == number
    assert len({question.id for question in questions}) == number
