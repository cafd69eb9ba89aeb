"""What people say, and when models came out, in CSV: forms, what is refused and passed over."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cases import cases
from tests.expected import check
from tests.tables.builders import write
from tiebreak.tables import HumanLabels, HumanRanking, TableError
from tiebreak.tables.dates import read_dates
from tiebreak.tables.human import (
    read_causes,
    read_human_labels,
    read_human_ranking,
)


def read(folder: Path, text: str) -> HumanRanking:
    return read_human_ranking(write(folder / "people.csv", text))


def labelled(folder: Path, text: str) -> HumanLabels:
    return read_human_labels(write(folder / "people.csv", text))


# a first, b and c tied; scores turn round.
SAME = cases(__file__, "one ranking")


@pytest.mark.parametrize(("text", "ranks"), SAME.values(), ids=SAME)
def test_one_ranking(tmp_path: Path, text: str, ranks: dict[str, float]) -> None:
    human = read(tmp_path, text)
    assert human.ranks == {"": ranks}
    assert human.of("gsm8k") == ranks
    assert (human.source, human.notes) == (str(tmp_path / "people.csv"), ())


def test_a_ranking_for_each_benchmark(tmp_path: Path) -> None:
    human = read(tmp_path, "benchmark,model,score\ngsm8k,a,5\n,a,7\nmbpp,b,9\ngsm8k,b,6\n")
    assert human.of("gsm8k") == {"a": -5, "b": -6}
    assert human.of("mbpp") == {"b": -9}
    # None of its own.
    assert human.of("ifeval") == {"a": -7}
    assert read(tmp_path, "benchmark,model,rank\ngsm8k,a,1\n").of("mmlu") == {}


READERS: dict[str, Callable[[Path], object]] = {
    "rankings": read_human_ranking,
    "labels": read_human_labels,
    "causes": read_causes,
    "dates": read_dates,
}


def test_what_is_read_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is passed over, which its notes tell."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for kind, texts in cases(__file__, "files").items():
        for name, text in texts.items():
            content: Any = READERS[kind](write(Path("people.csv"), text))
            entries = getattr(content, "labels", getattr(content, "ranks", content))
            entries = [entries] if isinstance(entries, Mapping) else entries
            about = [getattr(content, field, "") for field in ("kind", "causes")]
            lines += [f"({kind}: {name}) {' '.join(map(str, filter(None, about)))}".rstrip()]
            lines += [*map(repr, entries), *map(str, getattr(content, "notes", ())), ""]
    check(__file__, "people.txt", "\n".join(lines))


FAULTY = "item_id,model,stars\nq1,a,3\nq2,a,7\nq3,a\nq1,a,2\nq4,a,1\n"


def test_faulty_rows_are_named_or_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "people.csv", FAULTY)
    with pytest.raises(TableError) as caught:
        read_human_labels(path)
    *named, advice = str(caught.value).splitlines()
    assert [text.partition(": ")[0].partition(", column")[0] for text in named] == [
        f"{path}, line {line}" for line in (4, 3, 5)
    ]
    assert advice.startswith("3 rows are faulty")
    read = read_human_labels(path, skip_faulty=True)
    assert [label.line for label in read.labels] == [2, 6]
    assert len(read.notes) == 3
    many = write(tmp_path / "many.csv", FAULTY + "q9,a,9\n" * 1_000)
    assert "998 more" in read_human_labels(many, skip_faulty=True).notes[-1]
    none = write(tmp_path / "none.csv", "item_id,model,stars\nq,a,9\n")
    with pytest.raises(TableError, match="no row has stars"):
        read_human_labels(none, skip_faulty=True)
