"""Exact Kemeny–Young: the order with the fewest pairwise disagreements, and the proof of it."""

from tiebreak.rankers.kemeny.batch import KemenyBatch, kemeny_young_batch
from tiebreak.rankers.kemeny.certificate import (
    CertificateError,
    TooManySetsError,
    check_certificate,
)
from tiebreak.rankers.kemeny.result import Certificate, KemenyResult
from tiebreak.rankers.kemeny.solve import kemeny_young

__all__ = [
    "Certificate",
    "CertificateError",
    "KemenyBatch",
    "KemenyResult",
    "TooManySetsError",
    "check_certificate",
    "kemeny_young",
    "kemeny_young_batch",
]
