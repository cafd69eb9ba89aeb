"""Named errors of loading, each with a list of what went wrong and where.

Readers do not raise at the first bad row: they collect problems, so that one pass shows everything
there is to mend. `raise_problems` then raises the error of the earliest stage and lists them all.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple, Self

from tiebreak.candidates.pool import Note

MAX_LISTED = 20


class Problem(NamedTuple):
    """A note and the error that it leads to when it may not be left out."""

    error: "type[CandidateError]"
    note: Note


class CandidateError(ValueError):
    """Candidate files cannot be made into a pool.

    Attributes:
        notes: Everything that is wrong, also what belongs to other errors of this family.
        hints: What to do next, one sentence for each kind of problem.
    """

    kind: ClassVar[str] = "candidate"
    hint: ClassVar[str] = ""

    def __init__(self, notes: Sequence[Note], hints: Sequence[str] | None = None) -> None:
        self.notes = tuple(notes)
        self.hints = (self.hint,) if hints is None else tuple(hints)
        super().__init__(self.notes, self.hints)  # as `args`, so that the error can be pickled

    def __str__(self) -> str:
        listed = [f"  - {note}" for note in self.notes[:MAX_LISTED]]
        if len(self.notes) > MAX_LISTED:
            listed.append(f"  - and {len(self.notes) - MAX_LISTED} more (see `.notes`)")
        count = f"{len(self.notes)} problem{'' if len(self.notes) == 1 else 's'}"
        return "\n".join([f"{count} in the candidate files:", *listed, *filter(None, self.hints)])

    @classmethod
    def problem(cls, where: str, what: str) -> Problem:
        """A problem of this kind."""
        return Problem(cls, Note(cls.kind, where, what))

    @classmethod
    def of(cls, where: str, what: str) -> Self:
        """An error of this kind with a single note."""
        return cls([Note(cls.kind, where, what)])


class MissingPathError(CandidateError):
    """A path that was given does not exist."""

    kind = "missing_path"
    hint = "Check the spelling; paths are relative to the working directory."


class HubPathError(CandidateError):
    """An address on the Hub that is malformed, or at which there is nothing."""

    kind = "hub_path"
    hint = (
        "Write hf://datasets/OWNER/NAME, then @REVISION and /FILE where they are wanted; a private "
        "dataset needs `hf auth login` or HF_TOKEN."
    )


class HubAccessError(CandidateError):
    """A dataset on the Hub that this user may not read."""

    kind = "hub_access"
    hint = (
        "Log in with `hf auth login` or set HF_TOKEN; access to a gated dataset is asked for on "
        "its page."
    )


class HubDownloadError(CandidateError):
    """A dataset on the Hub that could not be downloaded."""

    kind = "hub_download"
    hint = (
        "Check the network, HF_ENDPOINT, HF_HUB_OFFLINE and the space below HF_HOME, then try "
        "again."
    )


class NotPublishedError(CandidateError):
    """A dataset on the Hub that holds rankings, but not the answers that were ranked."""

    kind = "not_published"
    hint = "Its owner can add the answers: `tiebreak publish … --with-candidates`."


class EmptyFolderError(CandidateError):
    """No candidate file where one was looked for."""

    kind = "empty_folder"
    hint = (
        "Give Inspect logs (.eval, .json), lm-eval output folders (run with --log_samples) or "
        "pools written by Tiebreak (.parquet)."
    )


class RenameError(CandidateError):
    """`rename` names a benchmark that no file holds."""

    kind = "rename"
    hint = "Keys of `rename` are benchmark names as listed here."


class UnreadableLogError(CandidateError):
    """A file is truncated, or is no log at all."""

    kind = "unreadable_log"
    hint = "Remove an unreadable file or write it again; mode='intersect' leaves it out."


class LogStatusError(CandidateError):
    """A log whose run did not succeed."""

    kind = "log_status"
    hint = (
        "Finish an unsuccessful run with `inspect eval-retry LOG` and remove the old log; "
        "mode='intersect' leaves it out."
    )


class NotWrittenError(CandidateError):
    """An lm-eval task that scores given continuations: its models wrote nothing."""

    kind = "not_written"
    hint = "Only tasks with `output_type: generate_until` hold written answers to compare."


class FilterError(CandidateError):
    """An lm-eval filter that is not there, or rows of one document that contradict each other."""

    kind = "filter"
    hint = "Choose one of a file's own filters with `filter=`."


class SampleError(CandidateError):
    """A sample that ended with an error or was invalidated."""

    kind = "sample_error"
    hint = (
        "Run failed samples again (`inspect eval-retry LOG`); mode='intersect' drops their items."
    )


class MissingOutputError(CandidateError):
    """A sample without any output."""

    kind = "missing_output"
    hint = "A sample without output is no answer; mode='intersect' drops its item."


class NativeScoreError(CandidateError):
    """A native score that is missing, not finite, or no number."""

    kind = "native_score"
    hint = (
        "Choose another score with `native=`, or score the log again; mode='intersect' keeps such "
        "an answer with an undefined native score."
    )


class DuplicateItemError(CandidateError):
    """One item id several times in one log."""

    kind = "duplicate_item"
    hint = "Item ids must be unique inside a log; mode='intersect' drops the items."


class DuplicateModelError(CandidateError):
    """Two logs of one model on one benchmark."""

    kind = "duplicate_model"
    hint = (
        "Keep one log per model, or, to compare two settings of one model, name them: "
        "`inspect eval … --metadata candidate=NAME`. Of several pools in a dataset on the Hub, "
        "choose one: hf://datasets/OWNER/NAME/candidates/FILE."
    )


class QuestionConflictError(CandidateError):
    """One item id with different questions."""

    kind = "question_conflict"
    hint = (
        "The logs come from different versions of the benchmark or different prompts; "
        "mode='intersect' drops the items."
    )


class HolesError(CandidateError):
    """Items that some models answered and others did not."""

    kind = "hole"
    hint = "Run the missing items, or use mode='intersect' to keep what all models answered."


class DisjointItemsError(CandidateError):
    """No item that all models of a benchmark answered."""

    kind = "disjoint_items"
    hint = (
        "Items match when the text of the question, the choices and the tools agree. Check that "
        "the logs hold the same benchmark, the same subset and the same wording."
    )


class SingleModelError(CandidateError):
    """A benchmark with one model: there is nothing to compare."""

    kind = "single_model"
    hint = (
        "Add logs of other models. Benchmarks are told apart by name: `rename` joins two names of "
        "one benchmark."
    )


# In the order in which loading meets them: the error raised is the earliest kind there is.
STAGES: tuple[type[CandidateError], ...] = (
    MissingPathError,
    HubPathError,
    HubAccessError,
    HubDownloadError,
    NotPublishedError,
    UnreadableLogError,
    LogStatusError,
    NotWrittenError,
    FilterError,
    SampleError,
    MissingOutputError,
    NativeScoreError,
    DuplicateItemError,
    DuplicateModelError,
    QuestionConflictError,
    HolesError,
    DisjointItemsError,
    SingleModelError,
    RenameError,
    EmptyFolderError,
)


def raise_problems(problems: Iterable[Problem], context: Iterable[Note] = ()) -> None:
    """Raise the error of the earliest stage, listing all problems; do nothing when there are none.

    Args:
        problems: What went wrong, in any order.
        context: Notes that help to understand the problems; listed after them.

    Raises:
        CandidateError: The subclass of the earliest problem by `STAGES`.
    """
    ordered = sorted(problems, key=lambda p: (STAGES.index(p.error), p.note.where, p.note.what))
    if ordered:
        kinds = dict.fromkeys(problem.error for problem in ordered)
        notes = [problem.note for problem in ordered]
        raise ordered[0].error([*notes, *context], [kind.hint for kind in kinds])
