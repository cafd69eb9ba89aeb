from .aggregation import (
    aggregate as aggregate,
)
from .aggregation import (
    aggregate_items as aggregate_items,
)
from .aggregators import (
    AGGREGATORS as AGGREGATORS,
)
from .aggregators import (
    Aggregator as Aggregator,
)
from .agreement import (
    Agreement as Agreement,
)
from .agreement import (
    cohen_kappa as cohen_kappa,
)
from .agreement import (
    kendall_tau as kendall_tau,
)
from .agreement import (
    kendall_tau_many as kendall_tau_many,
)
from .agreement import (
    pearson as pearson,
)
from .agreement import (
    pearson_many as pearson_many,
)
from .agreement import (
    resolution_gain as resolution_gain,
)
from .agreement import (
    spearman as spearman,
)
from .agreement import (
    spearman_many as spearman_many,
)
from .agreement import (
    top1 as top1,
)
from .agreement import (
    top1_many as top1_many,
)
from .consensus import (
    Consensus as Consensus,
)
from .consensus import (
    consensus_by as consensus_by,
)
from .consensus import (
    mean_rank as mean_rank,
)
from .contests.expected_wins import (
    CsdResult as CsdResult,
)
from .contests.expected_wins import (
    csd as csd,
)
from .contests.expected_wins import (
    natural_breaks as natural_breaks,
)
from .contests.rounds import (
    tiers as tiers,
)
from .contests.rounds import (
    weighted_rounds as weighted_rounds,
)
from .contests.rounds import (
    win_rates as win_rates,
)
from .contests.sensitivity import (
    FailureSensitivity as FailureSensitivity,
)
from .contests.sensitivity import (
    ItemIntervals as ItemIntervals,
)
from .contests.sensitivity import (
    Perturbation as Perturbation,
)
from .contests.sensitivity import (
    failure_sensitivity as failure_sensitivity,
)
from .contests.sensitivity import (
    item_intervals as item_intervals,
)
from .contests.sensitivity import (
    perturb as perturb,
)
from .dependence import (
    EffectiveVotes as EffectiveVotes,
)
from .dependence import (
    effective_votes as effective_votes,
)
from .errors import (
    CertificateError as CertificateError,
)
from .errors import (
    MissingPackageError as MissingPackageError,
)
from .errors import (
    MissingScoreError as MissingScoreError,
)
from .errors import (
    NoFitError as NoFitError,
)
from .errors import (
    RankingError as RankingError,
)
from .errors import (
    ReviewGraphError as ReviewGraphError,
)
from .errors import (
    UnprovenOrderError as UnprovenOrderError,
)
from .expander import review_graph as review_graph
from .intervals import (
    Estimate as Estimate,
)
from .intervals import (
    Proportion as Proportion,
)
from .intervals import (
    wilson as wilson,
)
from .kemeny.batch import kemeny_young_batch as kemeny_young_batch
from .kemeny.certificate import (
    Certificate as Certificate,
)
from .kemeny.certificate import (
    KemenyResult as KemenyResult,
)
from .kemeny.certificate import (
    check_certificate as check_certificate,
)
from .kemeny.solve import kemeny_young as kemeny_young
from .massey import least_squares as least_squares
from .pairwise_tests import (
    Separation as Separation,
)
from .pairwise_tests import (
    separation as separation,
)
from .panel import (
    Concordance as Concordance,
)
from .panel import (
    ReviewerAgreement as ReviewerAgreement,
)
from .panel import (
    kendall_w as kendall_w,
)
from .panel import (
    krippendorff_alpha as krippendorff_alpha,
)
from .panel import (
    reviewer_agreement as reviewer_agreement,
)
from .profile import Profile as Profile
from .ranks import (
    competition_ranks as competition_ranks,
)
from .ranks import (
    mean_ranks as mean_ranks,
)
from .ranks import (
    normalized_borda as normalized_borda,
)
from .ranks import (
    spread as spread,
)
from .reviewers import (
    LeaveOneOut as LeaveOneOut,
)
from .reviewers import (
    PresentationBias as PresentationBias,
)
from .reviewers import (
    Views as Views,
)
from .reviewers import (
    fair_gaps as fair_gaps,
)
from .reviewers import (
    leave_one_out as leave_one_out,
)
from .reviewers import (
    peer_views as peer_views,
)
from .reviewers import (
    presentation_bias as presentation_bias,
)
from .settlement import RankingTest as RankingTest
from .stability import (
    ResampledAgreement as ResampledAgreement,
)
from .stability import (
    RunStability as RunStability,
)
from .stability import (
    Stability as Stability,
)
from .stability import (
    mean_statistic as mean_statistic,
)
from .stability import (
    resample_agreement as resample_agreement,
)
from .stability import (
    run_to_run as run_to_run,
)
from .stability import (
    subsample_stability as subsample_stability,
)
from .strength import (
    bradley_terry as bradley_terry,
)
from .strength import (
    elo as elo,
)
from .uncertainty import (
    ItemBootstrap as ItemBootstrap,
)
from .uncertainty import (
    Resampling as Resampling,
)
from .uncertainty import (
    bootstrap_items as bootstrap_items,
)
from .uncertainty import (
    bootstrap_leaderboard as bootstrap_leaderboard,
)
