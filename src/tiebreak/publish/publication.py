"""One publication over all its tries."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tiebreak.candidates.hub_fault import fault
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.errors import NEVER_CHANGES, PublishError
from tiebreak.publish.latest import README
from tiebreak.publish.remote import MAIN, Snapshot, look

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_LISTED = 3
_IGNORE = "# Nothing is ignored.\n"


class LivingFiles(Protocol):
    """The files that change with every publication; see `latest.living_files`."""

    def __call__(
        self,
        bundle: Bundle,
        *,
        readme: str | None,
        read: Callable[[str], bytes],
        paths: Collection[str],
        license: str | None,
        repo_id: str,
    ) -> dict[str, bytes]:
        """Contents by path."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a publication did.

    Attributes:
        url: Address of the dataset, or of the pull request.
        commit: Hash of the commit; None: all was there already.
        pull_request: Number of the pull request, if one was asked for.
        published: Ids of the runs that are there since this publication.
        already: Ids of the runs that were there before.
        tries: How often it was tried.
        private: Whether the dataset is private now.
        made_public: Whether this publication made it public.
    """

    url: str
    commit: str | None
    pull_request: int | None
    published: tuple[str, ...]
    already: tuple[str, ...]
    tries: int
    private: bool
    made_public: bool = False


class _Sent(NamedTuple):
    """A commit that was sent: it has landed, or nobody knows."""

    title: str
    runs: list[str]


@dataclass
class Publication:
    """What a publication wants, and what it has done so far; `attempt` is one try."""

    api: "HfApi"
    bundle: Bundle
    repo_id: str
    public: bool
    pull_request: bool
    license: str | None
    living: LivingFiles
    same: Callable[[str, bytes, bytes], bool]
    tries: int = 0
    sent: _Sent | None = None
    landed: str | None = None  # hash of the commit
    was_private: bool = False
    published: set[str] = field(default_factory=set)

    def attempt(self) -> Outcome:
        """Look at the dataset as it is now, and add in one commit what is missing."""
        self.tries += 1
        there = self._look()
        self.was_private |= there.private
        changes = self._changes(there)
        number = None
        if changes and self.pull_request:
            number = self._open_pull_request(changes) or self._commit(there, changes)
        elif changes:
            self._commit(there, changes)
        elif self.sent and self.landed is None:
            self._find(self.sent)
        return self._outcome(there, number)

    def _look(self) -> Snapshot:
        """The dataset at its head; it is created when it is not there, private at first."""
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

        try:
            return look(self.api, self.repo_id)
        except GatedRepoError:
            raise
        except RepositoryNotFoundError:
            if self.pull_request:
                raise
            self.api.create_repo(self.repo_id, repo_type="dataset", private=True, exist_ok=True)
            return look(self.api, self.repo_id)

    def _changes(self, there: Snapshot) -> dict[str, bytes]:
        """What a commit on `there` has to write; nothing when all is there already.

        Raises:
            PublishError: A file that never changes is there with another content.
        """
        new = {
            path: content
            for path, content in self.bundle.files.items()
            if not self._holds(there, path, content)
        }
        living = self.living(
            self.bundle,
            readme=_card(there),
            read=there.read,
            paths=there.paths,
            license=self.license,
            repo_id=self.repo_id,
        )
        for path, content in living.items():
            kept = there.has(path, content) or (
                path in there.paths and self.same(path, content, there.read(path))
            )
            if not kept:
                new[path] = content
        return new

    def _holds(self, there: Snapshot, path: str, content: bytes) -> bool:
        """Whether an immutable file is there; another one in its place is an error."""
        if path not in there.paths:
            return False
        if there.has(path, content) or self.same(path, content, there.read(path)):
            return True
        raise PublishError(
            f"{self.repo_id} holds another {path} already, and {NEVER_CHANGES}. Publish as it was "
            "published then, or to another NAME, or delete that run's files from the dataset first."
        )

    def _commit(self, there: Snapshot, changes: Mapping[str, bytes]) -> int | None:
        """Write all in one commit on exactly what was seen; number of the pull request, if any."""
        from huggingface_hub import CommitOperationAdd

        runs = self._runs_in(changes)
        before, self.sent = self.sent, _Sent(_title(runs), runs)
        # New operations for every try: the client marks those that it has uploaded. A buffer, not
        # bytes, goes by plain HTTP and not through Xet, whose errors tell nothing about a retry.
        files = [
            CommitOperationAdd(path, BytesIO(content)) for path, content in sorted(changes.items())
        ]
        target: dict[str, Any] = {
            "repo_type": "dataset",
            "revision": MAIN,
            "create_pr": self.pull_request,
        }
        try:
            # Said here and not left to `create_commit`: no .gitignore keeps a part of a run out.
            self.api.preupload_lfs_files(
                self.repo_id, files, gitignore_content=_IGNORE, free_memory=False, **target
            )
            done = self.api.create_commit(
                self.repo_id,
                files,
                commit_message=self.sent.title,
                commit_description="\n".join(f"- {run}" for run in runs),
                parent_commit=there.head,
                **target,
            )
        except Exception as error:
            if _was_refused(error):
                self.sent = before
            if isinstance(error, ValueError) and fault(error) is None:
                said = " ".join(str(error).split())
                raise PublishError(
                    f"The Hub does not take these files ({said}): mend what it names, then publish "
                    "again."
                ) from error
            raise
        self._has_landed(done.oid, runs)
        number: int | None = done.pr_num
        return number

    def _runs_in(self, changes: Collection[str]) -> list[str]:
        return [r.run_id for r in self.bundle.runs if not r.files.keys().isdisjoint(changes)]

    def _find(self, sent: _Sent) -> None:
        """The commit that was sent and not answered: its files are there, so it has landed."""
        for commit in self.api.list_repo_commits(self.repo_id, repo_type="dataset"):
            if commit.title == sent.title:
                self._has_landed(commit.commit_id, sent.runs)
                break

    def _has_landed(self, commit: str, runs: Iterable[str]) -> None:
        self.landed = commit
        self.published |= set(runs)

    def _open_pull_request(self, changes: Mapping[str, bytes]) -> int | None:
        """Number of an open pull request that holds these changes already."""
        title = _title(self._runs_in(changes))
        immutable = changes.keys() & self.bundle.files.keys()
        for found in self.api.get_repo_discussions(
            self.repo_id,
            repo_type="dataset",
            discussion_type="pull_request",
            discussion_status="open",
        ):
            if found.title == title:
                proposed = look(self.api, self.repo_id, f"refs/pr/{found.num}")
                if all(proposed.has(path, changes[path]) for path in immutable):
                    if self.sent is not None:
                        self._has_landed(proposed.head, self.sent.runs)
                    return found.num
        return None

    def _outcome(self, there: Snapshot, number: int | None) -> Outcome:
        if self.public and there.private:
            self.api.update_repo_settings(self.repo_id, private=False, repo_type="dataset")
        url = f"{self.api.endpoint}/datasets/{self.repo_id}"
        runs = [run.run_id for run in self.bundle.runs]
        return Outcome(
            url=url if number is None else f"{url}/discussions/{number}",
            commit=self.landed,
            pull_request=number,
            published=tuple(run for run in runs if run in self.published),
            already=tuple(run for run in runs if run not in self.published),
            tries=self.tries,
            private=there.private and not self.public,
            made_public=self.public and self.was_private,
        )

    def explain(self, said: str) -> str:
        """The sentence, after a word on what has landed nevertheless."""
        done = "The runs are published, but the dataset is still private. "
        return done + said if self.landed is not None and self.public else said


def _card(there: Snapshot) -> str | None:
    """Text of the card; None when there is none yet."""
    if README not in there.paths:
        return None
    try:
        return there.read(README).decode("utf-8")
    except UnicodeDecodeError as error:
        raise PublishError(
            f"README.md of {there.repo_id} is no UTF-8 text ({error}): mend it on the Hub, then "
            "publish again."
        ) from error


def _was_refused(error: Exception) -> bool:
    """Whether the Hub said that it did not commit; anything else leaves it open."""
    found = fault(error)
    return found is not None and found.status is not None and found.kind != "down"


def _title(runs: Iterable[str]) -> str:
    """Title of the commit; by it a commit or pull request is found again."""
    ids = list(runs)
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    named = ", ".join(ids[:_LISTED]) + more
    return f"Add {len(ids)} run{'' if len(ids) == 1 else 's'}: {named}" if ids else "Renew the card"
