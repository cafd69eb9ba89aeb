"""What can be wrong with the numbers that a ranker is given."""


class RankingError(ValueError):
    """Base of every error of this package that bad input causes."""


class ShapeError(RankingError):
    """An array has another shape than the one that is documented."""


class EmptyProfileError(RankingError):
    """There is no ballot, no candidate, or nothing ranked in any ballot."""


class InfiniteRankError(RankingError):
    """A rank, score or outcome is infinite, or no number where a number is needed."""


class TiedRanksError(RankingError):
    """Candidates share a rank in a ballot that was said to have no ties."""


class RepeatedCandidateError(RankingError):
    """A candidate occurs twice among the names or in one ballot."""


class UnknownCandidateError(RankingError):
    """A ballot names a candidate that is not among the names."""


class NeverRankedError(RankingError):
    """No ballot ranks this candidate, so no consensus can place it."""


class MissingScoreError(RankingError):
    """A score table has holes, and no policy says what to do with them.

    `model` and `benchmarks` are the row and the columns that miss a score, for who knows names;
    None and empty where the error is about another table.
    """

    def __init__(
        self, message: str, *, model: int | None = None, benchmarks: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.model = model
        self.benchmarks = benchmarks


class MissingPackageError(ImportError):
    """An optional package is needed here; the message says how to install it."""


class NeverComparedError(RankingError):
    """No ballot ranks this candidate beside another one, so this method cannot place it."""


class UnknownMethodError(RankingError):
    """There is no method, or no option of a method, of this name."""


class UnprovenOrderError(RankingError):
    """The search ended before an order was proven optimal, where only a proven one is returned."""


class UnknownItemError(RankingError):
    """A match is about an item that is not among the items."""


class NotConnectedError(RankingError):
    """Some models never met (or never lost to, or never beat) the others: no strengths fit."""
