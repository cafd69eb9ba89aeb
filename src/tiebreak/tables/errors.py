"""What can be wrong with a file of ballots, scores or rounds.

Every message says which file and, where it helps, which line, and what to do next.
"""


class TableError(ValueError):
    """Base of every error that a file of ballots, scores or rounds causes."""


class MissingFileError(TableError):
    """A path that was given does not exist."""


class UnreadableFileError(TableError):
    """A file cannot be opened, is damaged, or is not text in UTF-8."""


class UnknownFormatError(TableError):
    """A file is of no kind that is read here."""


class EmptyTableError(TableError):
    """A file without rows, without columns, or without any number."""


class HeaderError(TableError):
    """A column without a name, named twice, missing, or unknown."""


class CellError(TableError):
    """A row with too many or too few cells, or a cell that is no number where one is needed."""


class RepeatedRowError(TableError):
    """A row says once more what another row says: the same model, or the same ballot."""


class NoBallotError(TableError):
    """A folder or log that holds no ranking."""


class PrefLibError(TableError):
    """A PrefLib file that breaks the format or contradicts itself."""


class TooManyBallotsError(TableError):
    """More ballots than this reads into memory."""


class UnrankedCandidateError(TableError):
    """A candidate is named and no ballot ranks it."""


class NoResultError(TableError):
    """Among the files given there is no result of a finished run."""


class MetricError(TableError):
    """No result has the metric or the filter that was asked for."""


class RenameError(TableError):
    """`rename` names a benchmark that no file holds."""


class UnknownModelError(TableError):
    """A model is named that the score table does not have."""


class RoundsError(TableError):
    """A file of rounds that does not have the documented form."""


class UnknownBenchmarkError(RoundsError):
    """A round names a benchmark that the score table does not have."""


class RepeatedBenchmarkError(RoundsError):
    """A benchmark is in two rounds, or twice in one."""
