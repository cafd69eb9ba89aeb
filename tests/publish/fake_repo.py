"""What a fake Hub keeps: datasets with their whole history, as Git would."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

LFS_SUFFIXES = (".parquet", ".png")


class Answer(NamedTuple):
    status: int
    body: Any = None
    headers: Mapping[str, str] = {}


class Refusal(Exception):
    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        self.answer = Answer(status, {"error": message}, headers)


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    title: str
    description: str
    tree: Mapping[str, bytes]


@dataclass
class Repo:
    private: bool
    gated: bool = False
    refs: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    pull_requests: dict[int, str] = field(default_factory=dict)  # number → title

    def commit(
        self, ref: str, title: str, files: Mapping[str, bytes], description: str = ""
    ) -> str:
        parent = self.refs.get(ref)
        tree = dict(self.commits[parent].tree) if parent else {}
        tree |= files
        # The number makes two commits of the same content two commits, as their time would.
        text = json.dumps([len(self.commits), parent, title, sorted(tree)])
        oid = hashlib.sha1(text.encode()).hexdigest()
        self.commits[oid] = Commit(oid, parent, title, description, tree)
        self.refs[ref] = oid
        return oid

    def resolve(self, revision: str) -> Commit:
        oid = self.refs.get(revision, revision)
        if oid not in self.commits:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[oid]

    def history(self, ref: str = "main") -> list[Commit]:
        """Commits of a branch, newest first."""
        found, oid = [], self.refs.get(ref)
        while oid is not None:
            found.append(self.commits[oid])
            oid = found[-1].parent
        return found


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def is_lfs(path: str) -> bool:
    return path.endswith(LFS_SUFFIXES)


def file_info(path: str, content: bytes) -> dict[str, Any]:
    entry = {"type": "file", "path": path, "size": len(content), "oid": blob_id(content)}
    if is_lfs(path):
        oid = hashlib.sha256(content).hexdigest()
        entry |= {"lfs": {"oid": oid, "size": len(content), "pointerSize": 130}}
    return entry
