"""Small bundles and stand-ins for what publishing needs beside the Hub."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import huggingface_hub.utils._http
import pytest

from tests.publish.fake_hub import WRITE, FakeHub
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.dataset import Publication, publish_dataset
from tiebreak.publish.hub import Outcome, RetryPolicy, publish_bundle

REPO = "alice/ranks"
LATEST = "leaderboard/latest.parquet"
COMMIT = r"POST .*/commit/"


@contextmanager
def online(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A running Hub, a client that may use it, and no token but the one that is passed."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    # The client waits a second on its own when a connection breaks inside some of its calls.
    clock = SimpleNamespace(sleep=lambda seconds: None)
    monkeypatch.setattr(huggingface_hub.utils._http, "time", clock)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with FakeHub().running() as hub:
        yield hub


def run(number: int) -> dict[str, bytes]:
    """Run `number`; its files go both ways, as plain Git blobs and by large-file storage."""
    name = f"run{number}"
    return {
        f"leaderboard/full/{name}.parquet": f"rows of {name}".encode(),
        f"ballots/{name}.parquet": f"ballots of {name}".encode(),
        f"runs/{name}/manifest.json": json.dumps({"run": number}).encode(),
    }


def bundle_of(*numbers: int) -> Bundle:
    return Bundle({f"run{number}": run(number) for number in numbers}, {})


def changing(
    bundle: Bundle, there: Mapping[str, bytes], *, license: str | None, repo_id: str
) -> dict[str, bytes]:
    """A card and a latest leaderboard that list all runs, those that are there included."""
    rows = json.loads(there[LATEST]) if LATEST in there else {}
    rows |= {run_id: len(files) for run_id, files in bundle.runs.items()}
    own = there.get("README.md", b"A person's words.").decode().split("\n")[0]
    licensed = f"\nlicense: {license}" if license else ""
    return {
        "README.md": (own + licensed + "\n" + "\n".join(sorted(rows))).encode(),
        LATEST: json.dumps(rows, sort_keys=True).encode(),
    }


def same_bytes(path: str, ours: bytes, theirs: bytes) -> bool:
    return path.startswith("plots/") or ours == theirs


def impatient(**more: Any) -> RetryPolicy:
    """The usual policy, without the waiting."""
    return RetryPolicy(**{"sleep": lambda seconds: None, "timeout": 5.0, **more})


def publish(hub: FakeHub, bundle: Bundle, repo_id: str = REPO, **more: Any) -> Outcome:
    usual = {"token": WRITE, "wait": impatient()}
    return publish_bundle(bundle, repo_id, endpoint=hub.url, **{**usual, **more})


def send(hub: FakeHub, *paths: Path, **more: Any) -> Publication:
    """`publish_dataset` to this Hub."""
    return publish_dataset(paths, REPO, token=WRITE, endpoint=hub.url, wait=impatient(), **more)


def rows_of(tree: Any) -> set[str]:
    return set(json.loads(tree[LATEST]))


def titles(hub: FakeHub, ref: str = "main") -> list[str]:
    return [commit.title for commit in hub.repos[REPO].history(ref)]
