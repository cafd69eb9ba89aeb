"""Tiebreak makes saturated LLM benchmarks informative again.

It reads the answers that models have already given (Inspect logs, lm-eval samples), has an LLM
judge compare them, and returns a ranking with its uncertainty and its bill.

    before judging      load_candidates, audit, diagnose, estimate_cost, simulate
    ranking logs        leaderboards, compare, stability, peer_report, align
    as data frames      leaderboard_df, rankings_df, ballots_df
    many rankings       read_ballots, elect; aggregate, kemeny_young (arrays)
    many benchmarks     read_scores, read_rounds, contest_report; csd (arrays)
    any result          show prints it; in a notebook it shows itself
    for others          write_report, publish_dataset, write_back_ranks

    pool = tiebreak.load_candidates("logs/")
    boards = tiebreak.leaderboards(["logs/"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiebreak.analysis.alignment.align import Alignment, align
    from tiebreak.analysis.comparison import Comparison, compare
    from tiebreak.analysis.consensus import Election, elect
    from tiebreak.analysis.contests import ContestReport, contest_report
    from tiebreak.analysis.diagnosis import Diagnosis, diagnose
    from tiebreak.analysis.frames import ballots_df, leaderboard_df, rankings_df
    from tiebreak.analysis.leaderboard import Leaderboard, leaderboards
    from tiebreak.analysis.peers.review import PeerReport, peer_report
    from tiebreak.analysis.saturation import saturation
    from tiebreak.analysis.stability import StabilityReport, stability
    from tiebreak.candidates import (
        CandidateError,
        CandidatePool,
        audit,
        load_candidates,
        write_parquet,
    )
    from tiebreak.estimate.cost import estimate_cost
    from tiebreak.lab.simulate import simulate
    from tiebreak.publish import publish_dataset
    from tiebreak.rankers import (
        Profile,
        RankingError,
        Resampling,
        aggregate,
        check_certificate,
        csd,
        kemeny_young,
    )
    from tiebreak.ranking_logs import RankingLogError
    from tiebreak.report.page.build import write_report
    from tiebreak.report.sheets import show
    from tiebreak.tables import (
        BallotFile,
        HumanRanking,
        ScoreTable,
        TableError,
        read_ballots,
        read_human_ranking,
        read_rounds,
        read_scores,
    )
    from tiebreak.write_back import write_back_ranks

__version__ = "0.1.0"

_HOMES = {
    "analysis.alignment.align": "Alignment align",
    "analysis.comparison": "Comparison compare",
    "analysis.consensus": "Election elect",
    "analysis.contests": "ContestReport contest_report",
    "analysis.diagnosis": "Diagnosis diagnose",
    "analysis.frames": "ballots_df leaderboard_df rankings_df",
    "analysis.leaderboard": "Leaderboard leaderboards",
    "analysis.peers.review": "PeerReport peer_report",
    "analysis.saturation": "saturation",
    "analysis.stability": "StabilityReport stability",
    "candidates": "CandidateError CandidatePool audit load_candidates write_parquet",
    "estimate.cost": "estimate_cost",
    "lab.simulate": "simulate",
    "publish": "publish_dataset",
    "rankers": "Profile RankingError Resampling aggregate check_certificate csd kemeny_young",
    "ranking_logs": "RankingLogError",
    "report.page.build": "write_report",
    "report.sheets": "show",
    "tables": (
        "BallotFile HumanRanking ScoreTable TableError read_ballots read_human_ranking "
        "read_rounds read_scores"
    ),
    "write_back": "write_back_ranks",
}

__all__ = [
    "Alignment",
    "BallotFile",
    "CandidateError",
    "CandidatePool",
    "Comparison",
    "ContestReport",
    "Diagnosis",
    "Election",
    "HumanRanking",
    "Leaderboard",
    "PeerReport",
    "Profile",
    "RankingError",
    "RankingLogError",
    "Resampling",
    "ScoreTable",
    "StabilityReport",
    "TableError",
    "__version__",
    "aggregate",
    "align",
    "audit",
    "ballots_df",
    "check_certificate",
    "compare",
    "contest_report",
    "csd",
    "diagnose",
    "elect",
    "estimate_cost",
    "kemeny_young",
    "leaderboard_df",
    "leaderboards",
    "load_candidates",
    "peer_report",
    "publish_dataset",
    "rankings_df",
    "read_ballots",
    "read_human_ranking",
    "read_rounds",
    "read_scores",
    "saturation",
    "show",
    "simulate",
    "stability",
    "write_back_ranks",
    "write_parquet",
    "write_report",
]


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that `import tiebreak` and `inspect list` stay quick.
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"tiebreak.{home}"), name)
    raise AttributeError(f"module 'tiebreak' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
