"""Publishing a bundle to the Hub: look, make one commit on exactly the revision seen, look again.

Git's own rule makes it safe: a commit names its parent, and the Hub refuses it (412) once the
branch has moved on. So the card and the latest leaderboard are always computed from the current
files, another publisher's run is never lost, and no lock is needed. Every try begins with a look,
so a commit whose answer was lost (a 504, a broken connection) is simply found to be there.

`tenacity` does the waiting: exponential back-off with full jitter, so that publishers that collided
once do not collide again. Only waiting times are random, never the published content.
"""

import hashlib
import logging
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tiebreak.candidates.hub import Fault, fault
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.errors import BAD_ADDRESS, LOG_IN, PublishError, sentence
from tiebreak.publish.latest import Dataset, missing_files
from tiebreak.publish.secrets import environment_secrets, without_secrets
from tiebreak.text import count, listed

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from tenacity import RetryCallState


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits for retries of a publication.

    Attributes:
        tries: maximum number of tries, including the first.
        calls: maximum number of tries if no connection can be made: a machine without network
            should fail quickly.
        total: seconds after which no further try begins. A `Retry-After` beyond them ends the
            publication at once: a program should not sleep for an hour.
        first: upper bound of the first wait in seconds; it doubles with every try.
        longest: upper bound of every wait in seconds, except for `Retry-After`.
        timeout: seconds after which a silent connection counts as broken.
        sleep: does the waiting; a test passes its own.
        notify: receives one sentence about the reason and length of each wait.
    """

    tries: int = 12
    calls: int = 5
    total: float = 600.0
    first: float = 1.0
    longest: float = 30.0
    timeout: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    notify: Callable[[str], None] | None = None

    def run(self, attempt: Callable[[], T]) -> T:
        """Call `attempt` until it returns, fails permanently, or a limit is reached.

        Raises:
            Exception: the error of the last try.
        """
        from tenacity import Retrying, retry_if_exception

        def once() -> T:
            with _one_policy(self.timeout):  # in every try: the client may have a new session
                return attempt()

        retrying = Retrying(
            stop=self._is_over,
            wait=self._wait,
            retry=retry_if_exception(_is_passing),
            sleep=self.sleep,
            before_sleep=self._report,
            reraise=True,
        )
        return retrying(once)

    def _is_over(self, state: "RetryCallState") -> bool:
        from tenacity import stop_after_attempt, stop_before_delay

        return stop_after_attempt(self._tries(state))(state) or stop_before_delay(self.total)(state)

    def _tries(self, state: "RetryCallState") -> int:
        return self.calls if _fault(state).kind == "unreachable" else self.tries

    def _wait(self, state: "RetryCallState") -> float:
        """Full jitter, but at least the time that the Hub asks for."""
        from tenacity import wait_random_exponential

        jitter = wait_random_exponential(multiplier=self.first, max=self.longest)(state)
        asked = _fault(state).retry_after
        # The Hub asks all clients for the same wait; the added jitter spreads them out.
        return jitter if asked is None else asked + min(jitter, self.first)

    def _report(self, state: "RetryCallState") -> None:
        if self.notify is not None:
            trouble = _fault(state)
            answer = f"answered {trouble.status}"
            if not trouble.status:
                answer = f"is not there ({trouble.message})"
            answer += " (somebody else was faster)" if trouble.kind == "changed" else ""
            self.notify(
                f"The Hub {answer}; try {state.attempt_number + 1} of {self._tries(state)} "
                f"in {state.upcoming_sleep:.0f} s."
            )


def _fault(state: "RetryCallState") -> Fault:
    error = state.outcome and state.outcome.exception()
    trouble = fault(error) if error else None
    assert trouble is not None, "only after a fault of the Hub is there another try"
    return trouble


def _is_passing(error: BaseException) -> bool:
    trouble = fault(error)
    return trouble is not None and trouble.passing


@contextmanager
def _one_policy(timeout: float) -> Iterator[None]:
    """Disable the retries of the Hub's client, and set its time limit, for the duration of a try.

    In some of its calls the client sleeps as long as any `Retry-After` says, in others it does not
    retry, and it has no time limit at all. Here every error response is raised at once, a silent
    connection breaks after `timeout` seconds, and `RetryPolicy` alone decides what happens then.
    """
    from huggingface_hub import utils
    from huggingface_hub.utils import logging as hub_logging

    def raise_at_once(response: Any) -> None:
        if response.status_code in (408, 429) or response.status_code >= 500:
            utils.hf_raise_for_status(response)  # type: ignore[attr-defined]

    session = utils.get_session()  # type: ignore[attr-defined]
    verbosity = hub_logging.get_verbosity()
    hooks, before = session.event_hooks["response"], session.timeout
    hooks.append(raise_at_once)
    session.timeout = timeout
    hub_logging.set_verbosity(logging.ERROR)  # hides its messages about waiting
    try:
        yield
    finally:
        hooks.remove(raise_at_once)
        session.timeout = before
        hub_logging.set_verbosity(verbosity)


MAIN: Final = "main"
# Number of runs in the title of a commit; its description lists all.
_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a publication.

    Attributes:
        url: address of the dataset, or of the pull request.
        commit: hash of the commit; None if everything was there already.
        pull_request: number of the pull request, if requested.
        published: ids of the runs that this publication added.
        already: ids of the runs that were there before.
        tries: number of tries.
        private: whether the dataset is private now.
        made_public: whether this publication made it public.
    """

    url: str
    commit: str | None
    pull_request: int | None
    published: tuple[str, ...]
    already: tuple[str, ...]
    tries: int
    private: bool
    made_public: bool = False


@dataclass(frozen=True, eq=False)
class Snapshot(Dataset):
    """Content of a dataset at commit `head`.

    Attributes:
        api: the Hub's client, with its endpoint and token.
        name: "OWNER/NAME".
        head: hash of the commit.
        private: whether the dataset is private.
        known: hash by path: SHA-256 of the content for files in large-file storage (64 digits), the
            hash of Git's blob (SHA-1, 40 digits) for all others.
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
        """Read a file directly into memory, without adding it to the download cache."""
        from huggingface_hub import hf_hub_url, utils

        if path not in self._contents:
            where = {"repo_type": "dataset", "revision": self.head, "endpoint": self.api.endpoint}
            headers = utils.build_hf_headers(token=self.api.token)  # type: ignore[attr-defined]
            session = utils.get_session()  # type: ignore[attr-defined]
            response = session.get(hf_hub_url(self.name, path, **where), headers=headers)
            utils.hf_raise_for_status(response)  # type: ignore[attr-defined]
            self._contents[path] = response.content
        return self._contents[path]

    def holds(self, path: str, content: bytes) -> bool:
        """Whether the file at `path` exists with exactly these bytes."""
        known = self.known.get(path)
        return known is not None and known == _hash(content, len(known))


def _hash(content: bytes, digits: int) -> str:
    if digits == 64:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def look(api: "HfApi", repo_id: str, revision: str = MAIN) -> Snapshot:
    """Look at a dataset: its head and all its files at exactly that commit."""
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


def publish_bundle(
    bundle: Bundle,
    repo_id: str,
    *,
    private: bool = True,
    pull_request: bool = False,
    license: str | None = None,
    token: str | None = None,
    endpoint: str | None = None,
    wait: RetryPolicy | None = None,
) -> Outcome:
    """Add a bundle to a dataset on the Hub in one commit; existing files are left unchanged.

    The arguments are those of `publish_dataset`.

    Raises:
        PublishError: the Hub is unreachable or refuses, an immutable file exists with other
            content, or the existing card cannot be used.
    """
    from huggingface_hub import HfApi

    _check(repo_id, private=private, pull_request=pull_request)
    token = _token(token)
    api = HfApi(endpoint=endpoint, token=token, library_name="tiebreak")
    publication = _Publication(api, bundle, repo_id, not private, pull_request, license)
    try:
        return (wait or RetryPolicy()).run(publication.attempt)
    except Exception as error:
        failed = publication.explained(error)
    given = {"the token": token, "the Hub's address": api.endpoint}
    raise without_secrets(failed, [*bundle.secrets, *environment_secrets(given)])


def _token(given: str | None) -> str:
    from huggingface_hub import get_token

    token = (given or get_token() or "").strip()
    if not token:
        raise PublishError(f"Publishing needs a token of the Hub: {LOG_IN}")
    if not re.fullmatch("[!-~]+", token):  # the client would quote it in its error
        raise PublishError(
            "The token of the Hub has a character that no token has, such as a space or a line "
            f"end: {LOG_IN}"
        )
    return token


def _check(repo_id: str, *, private: bool, pull_request: bool) -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise PublishError(f"{repo_id!r} is not OWNER/NAME of a dataset: {error}") from error
    if repo_id.count("/") != 1:
        raise PublishError(f"{repo_id!r} is not OWNER/NAME of a dataset: say whose it is.")
    if pull_request and not private:
        raise PublishError(
            "A pull request does not change who may see a dataset: leave out --public or --pr."
        )


@dataclass
class _Publication:
    """The request of a publication, and its progress so far; `attempt` is one try.

    `sent` are the runs of a commit that has landed or whose answer was lost; `landed` is its hash.
    """

    api: "HfApi"
    bundle: Bundle
    repo_id: str
    public: bool
    pull_request: bool
    license: str | None
    tries: int = 0
    sent: list[str] | None = None
    landed: str | None = None
    published: set[str] = field(default_factory=set)
    was_private: bool = False

    @property
    def endpoint(self) -> str:
        """The Hub's address without user and password."""
        return re.sub(r"//\S*@", "//", self.api.endpoint)

    def explained(self, error: Exception) -> Exception:
        """A PublishError that explains a failure of the Hub or network; other errors unchanged."""
        if isinstance(error, PublishError):
            return error
        if type(error).__name__ == "InvalidURL":  # its message can contain parts of a password
            return PublishError(BAD_ADDRESS)
        trouble = fault(error)
        if trouble is None:
            return error
        done = ""
        if self.landed and self.public:
            done = "The runs are published, but the dataset is still private. "
        explained = PublishError(done + sentence(trouble, self.repo_id, self.endpoint, self.tries))
        explained.__cause__ = error
        return explained

    def attempt(self) -> Outcome:
        """Look at the dataset, and add all missing files in one commit."""
        self.tries += 1
        seen = self._read_head()
        self.was_private |= seen.private
        changes = missing_files(self.bundle, seen, license=self.license, repo_id=self.repo_id)
        number = None
        if changes:
            number = self._open_pull_request(changes) if self.pull_request else None
            number = number or self._commit(seen, changes)
        elif self.sent is not None and self.landed is None:
            # The answer was lost, but the files are there, so the commit has landed.
            for commit in self.api.list_repo_commits(self.repo_id, repo_type="dataset"):
                if commit.title == _title(self.sent):
                    self._is_committed(commit.commit_id, self.sent)
                    break
        return self._outcome(seen, number)

    def _read_head(self) -> Snapshot:
        """The dataset at its head; a missing one is created, private at first."""
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

        try:
            return look(self.api, self.repo_id)
        except RepositoryNotFoundError as error:
            if self.pull_request or isinstance(error, GatedRepoError):
                raise
            self.api.create_repo(self.repo_id, repo_type="dataset", private=True, exist_ok=True)
            return look(self.api, self.repo_id)

    def _commit(self, seen: Snapshot, changes: Mapping[str, bytes]) -> int | None:
        """Commit all changes on the revision seen; return the pull request's number, if any."""
        from huggingface_hub import CommitOperationAdd

        runs = self._runs_in(changes)
        before, self.sent = self.sent, runs
        # New operations for every try, because the client marks uploaded ones. Buffers are sent by
        # plain HTTP; bytes would go through Xet, whose errors do not tell whether to retry.
        files = [
            CommitOperationAdd(path, BytesIO(content)) for path, content in sorted(changes.items())
        ]
        target: dict[str, Any] = {
            "repo_type": "dataset",
            "revision": MAIN,
            "create_pr": self.pull_request,
        }
        try:
            # A separate call, because only here can the dataset's .gitignore, which would exclude
            # files, be overridden.
            self.api.preupload_lfs_files(
                self.repo_id, files, gitignore_content="# Nothing\n", free_memory=False, **target
            )
            done = self.api.create_commit(
                self.repo_id,
                files,
                commit_message=_title(runs),
                commit_description="\n".join(f"- {run}" for run in runs),
                parent_commit=seen.head,
                **target,
            )
        except Exception as error:
            trouble = fault(error)
            if trouble is not None and trouble.status is not None and trouble.kind != "down":
                self.sent = before  # the Hub said that it did not commit
            if isinstance(error, ValueError) and trouble is None:
                raise PublishError(
                    f"The Hub does not take these files ({' '.join(str(error).split())}): mend "
                    "what it names, then publish again."
                ) from error
            raise
        self._is_committed(done.oid, runs)
        number: int | None = done.pr_num
        return number

    def _runs_in(self, changes: Collection[str]) -> list[str]:
        runs = self.bundle.runs.items()
        return [run_id for run_id, files in runs if not files.keys().isdisjoint(changes)]

    def _is_committed(self, commit: str, runs: list[str]) -> None:
        self.landed = commit
        self.published |= set(runs)

    def _open_pull_request(self, changes: Mapping[str, bytes]) -> int | None:
        """Number of an open pull request that already contains these changes, else None."""
        title = _title(self._runs_in(changes))
        for request in self.api.get_repo_discussions(
            self.repo_id,
            repo_type="dataset",
            discussion_type="pull_request",
            discussion_status="open",
        ):
            if request.title == title:
                proposed = look(self.api, self.repo_id, f"refs/pr/{request.num}")
                if all(proposed.holds(p, changes[p]) for p in changes.keys() & self.bundle.files):
                    if self.sent is not None:
                        self._is_committed(proposed.head, self.sent)
                    return request.num
        return None

    def _outcome(self, seen: Snapshot, number: int | None) -> Outcome:
        if self.public and seen.private:
            self.api.update_repo_settings(self.repo_id, private=False, repo_type="dataset")
        url = f"{self.endpoint}/datasets/{self.repo_id}"
        return Outcome(
            url=url if number is None else f"{url}/discussions/{number}",
            commit=self.landed,
            pull_request=number,
            published=tuple(run for run in self.bundle.runs if run in self.published),
            already=tuple(run for run in self.bundle.runs if run not in self.published),
            tries=self.tries,
            private=seen.private and not self.public,
            made_public=self.public and self.was_private,
        )


def _title(runs: list[str]) -> str:
    """Title of the commit, by which a commit or pull request is found again."""
    if not runs:
        return "Renew the card"
    return f"Add {count(len(runs), 'run')}: {listed(runs, most=_LISTED)}"
