"""Preference pairs as files: what `datasets` loads, and what must not leave with them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_preference_pairs import study
from tests.ranking_logs.builders import write_log
from tests.ranking_logs.planted_votes import items_of, votes_of, write_votes
from tiebreak.analysis.preference_pairs import PreferencePairs, preference_pairs
from tiebreak.publish.errors import PublishError
from tiebreak.publish.preference_pairs import write_pairs

COLUMNS = [
    *("prompt", "chosen", "rejected", "margin", "judge", "benchmark", "item_id"),
    *("chosen_model", "rejected_model", "orders_agreed", "people_agreed"),
    *("chosen_native", "rejected_native"),
]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> PreferencePairs:
    folder = tmp_path_factory.mktemp("pairs")
    samples, people = study(5, 3)
    write_log(folder / "log.eval", samples)
    made = preference_pairs(folder, people)
    # More rows than a row group, and texts that a table might take for something else.
    texts = ("=1+1", "two\nlines, “quoted”", " x ", "{}", "")
    rows = [{**row, "chosen": text} for row, text in zip(made.rows, texts, strict=True)]
    return replace(made, rows=tuple(rows) * 300)


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "builder"), [("parquet",) * 2, ("jsonl", "json"), ("csv",) * 2])
def test_datasets_load(pairs: PreferencePairs, suffix: str, builder: str, tmp_path: Path) -> None:
    from datasets import load_dataset

    file = write_pairs(pairs, tmp_path / "new" / f"pairs.{suffix}")
    loaded: Any = load_dataset(
        builder, data_files=str(file), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded.column_names == COLUMNS
    # A CSV file tells no empty text from a missing one.
    empty = None if suffix == "csv" else ""
    for row, pair in zip(loaded, pairs.rows, strict=True):
        texts = {
            "prompt": ("user", pair["prompt"]),
            "chosen": ("assistant", pair["chosen"] or empty),
            "rejected": ("assistant", pair["rejected"]),
        }
        for name, (role, text) in texts.items():
            # What TRL calls standard, and conversational with an explicit prompt.
            plain = suffix == "csv"
            assert row[name] == (text if plain else [{"role": role, "content": text}])
        assert {name: row[name] for name in COLUMNS[3:]} == {n: pair[n] for n in COLUMNS[3:]}


def test_secrets_stay(
    pairs: PreferencePairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hf_" + "Zq7" * 12)
    row = {**pairs.rows[0], "rejected": "it is hf_" + "Zq7" * 12}
    spoilt = replace(pairs, rows=(row,))
    for name in ("pairs.parquet", "pairs.jsonl", "pairs.csv"):
        with pytest.raises(PublishError, match="the environment variable SOME_API_KEY"):
            write_pairs(spoilt, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_votes_of_people_make_pairs(tmp_path: Path) -> None:
    """A votes file is no log of Inspect's, whose header may hold secrets; raters are numbers."""
    items = items_of(12)
    votes = write_votes(tmp_path / "votes.db", items, [*votes_of(items, ["ann", "ben"])])
    made = preference_pairs(votes, both_orders=False)
    file = write_pairs(made, tmp_path / "pairs.jsonl")
    written = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(written) == len(made.rows) > 0
    raters = {name for row in written for name in row["judge"].split(", ")}
    assert raters == {"rater 1", "rater 2"}


def test_folders_of_models_stay(pairs: PreferencePairs, tmp_path: Path) -> None:
    local = {"chosen_model": "hf//home/ann/llama", "judge": "hf//home/ann/judge, j/x"}
    row = {**pairs.rows[0], **local}
    file = write_pairs(replace(pairs, rows=(row,)), tmp_path / "pairs.jsonl")
    row = json.loads(file.read_text(encoding="utf-8"))
    assert (row["chosen_model"], row["judge"]) == ("hf/llama", "hf/judge, j/x")


def test_other_forms_are_refused(pairs: PreferencePairs, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match=r"pairs.xlsx ends in none of \.parquet, \.jsonl, \.csv"):
        write_pairs(pairs, tmp_path / "pairs.xlsx")
