"""What a dataset lacks: files as a mapping, and which numbers are the same."""

import json
from typing import Any

import pytest

from tests.cases import cases
from tests.publish.hub_client import bundle_of, run
from tiebreak.publish.errors import PublishError
from tiebreak.publish.hub import Snapshot
from tiebreak.publish.latest import Dataset, missing_files, same_content


class Held(Dataset):
    """Some files, and how often each was read."""

    name, remedy = "me/ranks", "Mend it."

    def __init__(self, files: dict[str, bytes]) -> None:
        self.known = files
        self.reads: list[str] = []

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        content: bytes = self.known[path]
        return content


def test_a_dataset_is_a_mapping_that_reads_what_is_asked_for() -> None:
    held = Held({"a": b"1", "b": b"2"})
    assert (len(held), list(held), "a" in held, "c" in held) == (2, ["a", "b"], True, False)
    assert held.reads == []
    assert (held["a"], held.get("c")) == (b"1", None)
    with pytest.raises(KeyError, match="c"):
        held["c"]
    assert held.holds("b", b"2")
    assert not held.holds("b", b"1")
    assert not held.holds("c", b"2")
    assert held.reads == ["a", "b", "b"]


@pytest.mark.usefixtures("small_files")
def test_what_is_missing_and_what_is_there_otherwise() -> None:
    given: dict[str, Any] = {"license": None, "repo_id": "me/ranks"}
    everything = missing_files(bundle_of(1, 2), Held({}), **given)
    assert everything.keys() == {
        *run(1),
        *run(2),
        "README.md",
        "leaderboard/latest.parquet",
    }
    assert missing_files(bundle_of(1, 2), Held(everything), **given) == {}
    some = {path: content for path, content in everything.items() if "run2" not in path}
    assert missing_files(bundle_of(1, 2), Held(some), **given).keys() == run(2).keys()
    first, *_ = sorted(run(1))
    with pytest.raises(PublishError) as caught:
        missing_files(bundle_of(1), Held(dict.fromkeys(run(1), b"other")), **given)
    assert str(caught.value) == (
        f"me/ranks holds another {first} already, and what is published never changes: the log has "
        "been changed since then (scored again, for example), or --level, --draws or --seed are "
        "others. Mend it."
    )


@pytest.mark.parametrize(("ours", "theirs", "same"), cases(__file__, "numbers"))
def test_numbers_are_the_same_up_to_the_last_digits(ours: Any, theirs: Any, same: bool) -> None:
    one, other = (json.dumps({"x": value}).encode() + b" " for value in (ours, theirs))
    assert same_content("a.json", one, other[:-1]) is same
    assert same_content("a.txt", one, other[:-1]) is False


def test_a_snapshot_knows_files_by_either_hash() -> None:
    """Of large-file storage the hash of the content, of others that of Git's blob."""
    known = {
        # As `printf hello | sha256sum` and `printf hello | git hash-object --stdin` say.
        "large": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "small": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
    }
    there = Snapshot(None, "me/ranks", "c0ffee", True, known)  # type: ignore[arg-type]
    for path in known:
        assert there.holds(path, b"hello")
        assert not there.holds(path, b"hello ")
    assert not there.holds("other", b"hello")
