"""A dataset on the Hub, as it is at one commit."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tiebreak.publish.missing import Dataset

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MAIN: Final = "main"


@dataclass(frozen=True, eq=False)
class Snapshot(Dataset):
    """What a dataset holds at commit `head`.

    Attributes:
        api: The Hub's client, with its endpoint and token.
        name: "OWNER/NAME".
        head: Hash of the commit.
        private: Whether the dataset is private.
        known: Hash by path: SHA-256 of the content for files in large-file storage (64 digits),
            the hash of Git's blob (SHA-1, 40 digits) for all others.
    """

    api: "HfApi"
    name: str
    head: str
    private: bool
    known: Mapping[str, str]
    remedy: str = (
        "Publish as it was published then, or to another NAME, or delete that run's files from the "
        "dataset first."
    )
    _contents: dict[str, bytes] = field(default_factory=dict, repr=False)

    def read(self, path: str) -> bytes:
        """Content of a file, straight into memory: the download cache stays as it is."""
        from huggingface_hub import hf_hub_url, utils

        if path not in self._contents:
            where = {"repo_type": "dataset", "revision": self.head, "endpoint": self.api.endpoint}
            headers = utils.build_hf_headers(token=self.api.token)  # type: ignore[attr-defined]
            session = utils.get_session()  # type: ignore[attr-defined]
            response = session.get(hf_hub_url(self.name, path, **where), headers=headers)
            utils.hf_raise_for_status(response)  # type: ignore[attr-defined]
            self._contents[path] = response.content
        return self._contents[path]

    def has(self, path: str, content: bytes) -> bool:
        """Whether the file at `path` is there and holds exactly these bytes."""
        there = self.known.get(path)
        return there is not None and there == _hash(content, len(there))


def _hash(content: bytes, digits: int) -> str:
    if digits == 64:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()


def look(api: "HfApi", repo_id: str, revision: str = MAIN) -> Snapshot:
    """Look at a dataset: its head and, at exactly that commit, all its files."""
    from huggingface_hub.hf_api import RepoFile

    info = api.dataset_info(repo_id, revision=revision)
    assert info.sha is not None, "the Hub names the commit when it is asked for a revision"
    tree = api.list_repo_tree(repo_id, recursive=True, revision=info.sha, repo_type="dataset")
    hashes = {
        file.path: file.lfs.sha256 if file.lfs else file.blob_id
        for file in tree
        if isinstance(file, RepoFile)
    }
    return Snapshot(api, repo_id, info.sha, bool(info.private), hashes)
