"""Publishing a bundle to the Hub: look, make one commit on exactly what was seen, look again.

Git's own rule makes it safe: a commit names its parent, and the Hub refuses it (412) once the
branch has moved on. So the card and the latest leaderboard are always made from what is there,
somebody else's run is never lost, and no lock is needed. Every try begins by looking; what an
answerless commit left behind (a 504, a broken connection) is then simply found to be there.
"""

from collections.abc import Callable

from tiebreak.candidates.hub_fault import fault
from tiebreak.publish.bundle import Bundle
from tiebreak.publish.errors import LOG_IN, PublishError, sentence
from tiebreak.publish.latest import living_files, same_content
from tiebreak.publish.publication import LivingFiles, Outcome, Publication
from tiebreak.publish.remote import one_policy
from tiebreak.publish.retry import RetryPolicy

__all__ = ["Outcome", "publish_bundle"]


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
    living: LivingFiles = living_files,
    same: Callable[[str, bytes, bytes], bool] = same_content,
) -> Outcome:
    """Add a bundle to a dataset on the Hub in one commit; what is there already stays as it is.

    Args:
        bundle: The runs and their files.
        repo_id: "OWNER/NAME". A dataset that does not exist is created, private.
        private: False makes the dataset public, once the commit has landed. True never changes
            the visibility of a dataset that exists.
        pull_request: Propose the commit in a pull request. An open one with the same files is
            found again, not doubled; one that cannot be merged any more has to be closed first.
        license: Licence id for the card, such as "cc-by-4.0".
        token: Token with write access; default: HF_TOKEN or that of `hf auth login`.
        endpoint: Address of the Hub; default: HF_ENDPOINT or https://huggingface.co.
        wait: How often and how long to try.
        living: Makes the files that change with every publication.
        same: Whether two files at one path say the same.

    Returns:
        What was done.

    Raises:
        PublishError: The Hub cannot be reached or refuses, a file that never changes is there with
            another content, or the card that is there cannot be used.
    """
    from huggingface_hub import HfApi, get_token

    _check(repo_id, private=private, pull_request=pull_request)
    token = token or get_token()
    if not token:
        raise PublishError(f"Publishing needs a token of the Hub: {LOG_IN}")
    api = HfApi(endpoint=endpoint, token=token, library_name="tiebreak")
    publication = Publication(
        api, bundle, repo_id, not private, pull_request, license, living, same
    )
    policy = wait or RetryPolicy()

    def attempt() -> Outcome:
        with one_policy(policy.timeout):
            return publication.attempt()

    try:
        return policy.run(attempt)
    except PublishError:
        raise
    except Exception as error:
        found = fault(error)
        if found is None:
            raise
        said = sentence(found, repo_id, api.endpoint, publication.tries)
        raise PublishError(publication.explain(said)) from error


def _check(repo_id: str, *, private: bool, pull_request: bool) -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise PublishError(f"{repo_id!r} is no OWNER/NAME of a dataset: {error}") from error
    if repo_id.count("/") != 1:
        raise PublishError(f"{repo_id!r} is no OWNER/NAME of a dataset: say whose it is.")
    if pull_request and not private:
        raise PublishError(
            "A pull request does not change who may see a dataset: leave out --public or --pr."
        )
