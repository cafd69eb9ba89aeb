"""What a dataset lacks of a publication; a folder and the Hub are asked in the same way."""

import json
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tiebreak.publish.bundle import Bundle
from tiebreak.publish.contests import OF_CONTESTS
from tiebreak.publish.errors import PublishError
from tiebreak.publish.latest import changing_files
from tiebreak.publish.tables import from_parquet

# Another machine may round the last digit of a number in another way.
_CLOSE: Final = 1e-9


class Dataset(Mapping[str, bytes]):
    """What a dataset holds at one moment, by path: in a folder, or at one commit on the Hub.

    `name` is its folder or OWNER/NAME, and `remedy` what to do when it holds another version of a
    run. `known` is what is known of every file before it is read: where it is, or its hash.
    """

    name: str
    remedy: str
    known: Mapping[str, Any]

    def __getitem__(self, path: str) -> bytes:
        if path not in self.known:
            raise KeyError(path)
        return self.read(path)

    def __contains__(self, path: object) -> bool:
        return path in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Content of a file that is there."""

    def has(self, path: str, content: bytes) -> bool:
        """Whether a file is there and holds exactly these bytes."""
        return path in self and self[path] == content


def missing_files(
    bundle: Bundle, there: Dataset, *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """The files that have to be written for a dataset to hold a bundle; empty: it holds it.

    Raises:
        PublishError: a file that never changes is there with another content, or the card cannot
            be read or made.
    """

    def holds(path: str, content: bytes) -> bool:
        return path in there and (
            there.has(path, content) or same_content(path, content, there[path])
        )

    new = {path: content for path, content in bundle.files.items() if not holds(path, content)}
    for path in sorted(new.keys() & there.keys()):
        raise PublishError(
            f"{there.name} holds another {path} already, and what is published never changes: the "
            "log has been changed since then (scored again, for example), or --level, --draws or "
            f"--seed are others. {there.remedy}"
        )
    changing = changing_files(bundle, there, license=license, repo_id=repo_id)
    return new | {path: content for path, content in changing.items() if not holds(path, content)}


def same_content(path: str, ours: bytes, theirs: bytes) -> bool:
    """Whether two files at one path say the same.

    Tables and manifests are compared by what they hold, and numbers up to the last digits: another
    version of a library writes other bytes. A column or key that only one of them has, as another
    version of Tiebreak may write, makes no difference, unless each lacks something. Plots are
    drawn with the fonts of a machine and always count as the same, and so does what was made of a
    table of scores that names it.
    """
    if ours == theirs or path.startswith(("plots/", *OF_CONTESTS)):
        return True
    try:
        if path.endswith(".parquet"):
            return _alike(from_parquet(ours).to_pylist(), from_parquet(theirs).to_pylist())
        return path.endswith(".json") and _alike(json.loads(ours), json.loads(theirs))
    except (ValueError, OSError):  # damaged: certainly not ours; Arrow's errors are among these
        return False


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = one.keys() & other.keys()
        added = shared in (one.keys(), other.keys()) and bool(shared) == bool(one or other)
        return added and all(_alike(one[key], other[key]) for key in shared)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return type(one) is type(other) and bool(one == other)
