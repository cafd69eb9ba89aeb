"""Files of own prompts: every form says the same, and what is wrong is named with its place."""

import csv
import gzip
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.candidates.test_hub import REPO, hub  # noqa: F401
from tests.cases import cases
from tests.publish.fake_hub import FakeHub
from tiebreak.candidates import CandidateError, Prompt, read_prompts
from tiebreak.candidates.prompts import prompt_of
from tiebreak.candidates.question import Turn

TALK = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": 'Name a cheese, "please"; then\nanother.'},
]
ROWS: list[dict[str, Any]] = [
    {"prompt": "  def f():\n", "id": "code", "category": "code", "target": None},
    {"prompt": "Say 7.", "id": "2", "category": "mail", "target": "7", "system": "Be short."},
    {"messages": TALK, "id": "talk", "category": None},
]
PROMPTS = [
    Prompt("code", (Turn("user", "  def f():\n"),), category="code"),
    Prompt("2", (Turn("system", "Be short."), Turn("user", "Say 7.")), "7", "mail"),
    Prompt("talk", tuple(Turn(turn["role"], turn["content"]) for turn in TALK)),
]
COLUMNS = ("prompt", "messages", "id", "category", "target", "system", "model", "answer")


def json_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")


def json_array(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def packed(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


def table(separator: str) -> Callable[[Path, Sequence[Mapping[str, Any]]], None]:
    def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter=separator)
            writer.writerow(COLUMNS)
            for row in rows:
                cells = [row.get(name) or "" for name in COLUMNS]
                writer.writerow(c if isinstance(c, str) else json.dumps(c) for c in cells)

    return write


def parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in COLUMNS}), path)


FORMS = {
    "p.jsonl": json_lines,
    "p.json": json_array,
    "p.jsonl.gz": packed,
    "p.csv": table(","),
    "semicolons.csv": table(";"),
    "p.tsv": table("\t"),
    "p.parquet": parquet,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(tmp_path: Path, name: str) -> None:
    FORMS[name](tmp_path / name, ROWS)
    assert read_prompts(tmp_path / name) == PROMPTS


def test_a_prompt_without_an_id_is_named_by_its_content(tmp_path: Path) -> None:
    """By nothing else, and as documented: anyone can compute it."""
    rows = [{"prompt": "Say 7.", "category": category} for category in ("a", "b")]
    first, other = (prompt_of(row) for row in rows)
    content = '[["user","Say 7."]]'
    assert first.id == other.id == hashlib.sha256(content.encode()).hexdigest()[:12]
    assert prompt_of({"prompt": "Say 7.", "system": "Short."}).id != first.id
    json_lines(tmp_path / "p.jsonl", rows)
    with pytest.raises(CandidateError, match="is that of line 1, too"):
        read_prompts(tmp_path / "p.jsonl")


@given(st.lists(st.text(min_size=1).filter(str.strip), unique=True, min_size=1))
def test_different_prompts_have_different_names(texts: list[str]) -> None:
    assert len({prompt_of({"prompt": text}).id for text in texts}) == len(texts)


BAD = cases(__file__, "what is no prompt")


def test_all_rows_that_are_no_prompts_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(
        "\n".join(
            json.dumps(row)
            for row in [{"prompt": "ok", "id": "first"}, *(r for r, _ in BAD.values())]
        )
    )
    with pytest.raises(CandidateError) as caught:
        read_prompts(path)
    assert str(caught.value).startswith(f"{len(BAD)} problems in the prompts:\n")
    assert "A prompt is a row with a column prompt" in str(caught.value)
    notes = sorted(caught.value.notes, key=lambda note: int(note.where.split()[-1]))
    for line, (note, (_, words)) in enumerate(zip(notes, BAD.values(), strict=True), start=2):
        assert note.where == f"{path}, line {line}"
        with pytest.raises(ValueError, match=words):
            raise ValueError(note.what)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("p.jsonl", b"", "holds no row"),
        ("p.csv", b"prompt\n", "holds no row"),
        ("p.jsonl", b'{"prompt": "x"}\n{"prompt":', "line 2: it is not JSON"),
        ("p.csv", b'prompt,id\n"a\nb",1\n,2\n', "line 4: its prompt, or message 1, is empty"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CandidateError, match=words):
        read_prompts(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match="does not exist"):
        read_prompts(tmp_path / "p.jsonl")
    with pytest.raises(CandidateError, match="does not exist"):
        read_prompts("data/p.jsonl")


def test_a_dataset_on_the_hub(hub: FakeHub, tmp_path: Path) -> None:  # noqa: F811
    """By its name alone where it holds one file; of several one has to be named."""
    json_lines(tmp_path / "p.jsonl", ROWS)
    content = (tmp_path / "p.jsonl").read_bytes()
    repo = hub.add(REPO)
    repo.commit("main", "prompts", {"data/train.jsonl": content})
    assert read_prompts(REPO) == PROMPTS
    repo.commit("main", "more", {"data/test.jsonl": content.splitlines()[0]})
    with pytest.raises(CandidateError, match=r"there are: data/test\.jsonl, data/train\.jsonl"):
        read_prompts(REPO)
    address = f"hf://datasets/{REPO}/data/test.jsonl"
    assert read_prompts(address) == PROMPTS[:1]
    with pytest.raises(CandidateError, match="there are: none"):
        read_prompts(f"hf://datasets/{REPO}/data/dev.jsonl")
    with pytest.raises(CandidateError, match="there is no such dataset"):
        read_prompts("alice/nothing")


@pytest.mark.parametrize("name", FORMS)
def test_damage_is_one_kind_of_error(tmp_path: Path, name: str) -> None:
    """Bytes flipped, cut off and doubled: rows, or a CandidateError and no other."""
    FORMS[name](tmp_path / name, ROWS)
    whole, draw = (tmp_path / name).read_bytes(), random.Random(name)
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        cut = draw.choice([len(content), draw.randrange(len(content))])
        (tmp_path / name).write_bytes(bytes(content[:cut]) * draw.choice([1, 1, 2]))
        with suppress(CandidateError):
            read_prompts(tmp_path / name)
