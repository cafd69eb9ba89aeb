"""Tiebreak makes saturated LLM benchmarks informative again.

It reads the answers that models have already given (Inspect logs, lm-eval samples), has an LLM
judge compare them, and returns a ranking with its uncertainty and its bill.

    before judging      load_candidates, audit, diagnose, contamination, estimate_cost,
                        simulate
    all steps           run_study
    ranking logs        leaderboards, star_report, star_stability, compare, stability, peer_report
    beside people       align, calibrate, anchored_boards, labels_needed
    as data frames      leaderboard_df, rankings_df, ballots_df
    many rankings       read_ballots, elect; aggregate, kemeny_young (arrays)
    many benchmarks     read_scores, score_ballots for elect; read_rounds, read_order,
                        contest_report; csd (arrays)
    within a benchmark  item_scores of a pool for tier_report
    any result          show prints it; in a notebook it shows itself
    for others          write_report, publish_dataset, write_back_ranks
    for training        preference_pairs, write_pairs

    pool = tiebreak.load_candidates("logs/")
    boards = tiebreak.leaderboards(["logs/"])
"""

import lazy_loader

# Public names are listed in `__init__.pyi` and loaded on first use, so that `import tiebreak` and
# `inspect list` stay fast.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
