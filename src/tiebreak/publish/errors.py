"""Why a ranking cannot be published. Every message says what to do next."""

NEVER_CHANGES = (
    "what is published never changes: the log has been changed since then (scored again, for "
    "example), or --level, --draws or --seed are others"
)


class PublishError(ValueError):
    """A ranking cannot be published."""


class SecretFoundError(PublishError):
    """A file that was to leave holds a secret; the message names the file, never the secret."""


class CandidatesNotFoundError(PublishError):
    """The answers that were judged cannot be found."""


class OtherCandidatesError(PublishError):
    """The answers that were found are not those that were judged."""


class RunConflictError(PublishError):
    """Another run, or another version of this one, is published under the same name."""


class CardError(PublishError):
    """The dataset card that is there cannot be read, or what goes into it is not usable."""


class NothingToPublishError(PublishError):
    """No log holds anything that could be published."""


class FolderInTheWayError(PublishError):
    """A folder that was to be written holds something else."""


class UnfinishedRunError(PublishError):
    """A log is still being written, or its run was killed."""


class DamagedDatasetError(PublishError):
    """A file of the dataset that is needed cannot be read."""
