from .analysis.alignment import (
    Alignment as Alignment,
)
from .analysis.alignment import (
    align as align,
)
from .analysis.anchored import (
    AnchoredBoard as AnchoredBoard,
)
from .analysis.anchored import (
    anchored_boards as anchored_boards,
)
from .analysis.anchored import (
    labels_needed as labels_needed,
)
from .analysis.calibration import (
    Calibration as Calibration,
)
from .analysis.calibration import (
    calibrate as calibrate,
)
from .analysis.comparison import (
    Comparison as Comparison,
)
from .analysis.comparison import (
    compare as compare,
)
from .analysis.consensus import (
    Election as Election,
)
from .analysis.consensus import (
    elect as elect,
)
from .analysis.contests import (
    ContestReport as ContestReport,
)
from .analysis.contests import (
    contest_report as contest_report,
)
from .analysis.contests import (
    tier_report as tier_report,
)
from .analysis.contests import (
    with_csd as with_csd,
)
from .analysis.contests import (
    with_kemeny as with_kemeny,
)
from .analysis.diagnosis import (
    Diagnosis as Diagnosis,
)
from .analysis.diagnosis import (
    diagnose as diagnose,
)
from .analysis.diagnosis import (
    saturation as saturation,
)
from .analysis.frames import (
    ballots_df as ballots_df,
)
from .analysis.frames import (
    leaderboard_df as leaderboard_df,
)
from .analysis.frames import (
    rankings_df as rankings_df,
)
from .analysis.leaderboard import (
    Leaderboard as Leaderboard,
)
from .analysis.leaderboard import (
    leaderboards as leaderboards,
)
from .analysis.pair import (
    PairComparison as PairComparison,
)
from .analysis.pair import (
    compare_pair as compare_pair,
)
from .analysis.peers.review import (
    PeerReport as PeerReport,
)
from .analysis.peers.review import (
    peer_report as peer_report,
)
from .analysis.preference_pairs import (
    preference_pairs as preference_pairs,
)
from .analysis.stability import (
    StabilityReport as StabilityReport,
)
from .analysis.stability import (
    stability as stability,
)
from .analysis.stars import (
    StarReport as StarReport,
)
from .analysis.stars import (
    star_report as star_report,
)
from .analysis.votes import (
    VoteBoard as VoteBoard,
)
from .analysis.votes import (
    vote_board as vote_board,
)
from .candidates import (
    CandidateError as CandidateError,
)
from .candidates import (
    CandidatePool as CandidatePool,
)
from .candidates import (
    audit as audit,
)
from .candidates import (
    load_candidates as load_candidates,
)
from .candidates import (
    write_parquet as write_parquet,
)
from .demo.lab.simulate import (
    simulate as simulate,
)
from .fair.analysis.contamination import (
    Contamination as Contamination,
)
from .fair.analysis.contamination import (
    contamination as contamination,
)
from .fair.analysis.star_stability import (
    StarStability as StarStability,
)
from .fair.analysis.star_stability import (
    star_stability as star_stability,
)
from .publish.dataset import (
    publish_dataset as publish_dataset,
)
from .publish.preference_pairs import (
    write_pairs as write_pairs,
)
from .publish.write_back import (
    write_back_ranks as write_back_ranks,
)
from .rankers import (
    Profile as Profile,
)
from .rankers import (
    RankingError as RankingError,
)
from .rankers import (
    Resampling as Resampling,
)
from .rankers import (
    aggregate as aggregate,
)
from .rankers import (
    check_certificate as check_certificate,
)
from .rankers import (
    csd as csd,
)
from .rankers import (
    kemeny_young as kemeny_young,
)
from .ranking_logs import (
    RankingLogError as RankingLogError,
)
from .report.page.build import (
    write_report as write_report,
)
from .report.sheets import (
    show as show,
)
from .study import (
    StudyError as StudyError,
)
from .study.estimate.cost import (
    estimate_cost as estimate_cost,
)
from .study.run import (
    StudyResult as StudyResult,
)
from .study.run import (
    run_study as run_study,
)
from .tables import (
    BallotFile as BallotFile,
)
from .tables import (
    HumanRanking as HumanRanking,
)
from .tables import (
    ScoreTable as ScoreTable,
)
from .tables import (
    TableError as TableError,
)
from .tables import (
    read_ballots as read_ballots,
)
from .tables import (
    read_human_ranking as read_human_ranking,
)
from .tables import (
    read_order as read_order,
)
from .tables import (
    read_rounds as read_rounds,
)
from .tables import (
    read_scores as read_scores,
)
from .tables import (
    score_ballots as score_ballots,
)
from .tables.pool_scores import (
    item_scores as item_scores,
)

__version__: str
