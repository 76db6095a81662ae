"""What tests use of the package's private modules, by room; no other file of tests imports them.

A private function that moves is imported from elsewhere here, and in no test. A name that ends in
`_module` is a module, in which a test replaces what the module's own functions look up. What needs
the extra `dask` is in `door_dask.py`.
"""

from skdp._ball import (
    _counts as ball_counts_module,
    _plan as ball_plan_module,
    _solver as ball_solver_module,
    _tuned as ball_tuned,
)
from skdp._ball._counts import quantile
from skdp._ball._plan import (
    COARSE_BINS,
    ERROR_EDGES,
    TARGET_EDGES,
    UNIT_BINS,
    bins_about,
    bins_below,
    fine_bins_below,
    plan_ball,
    plan_targets,
)
from skdp._ball._solver import (
    Ball,
    inside,
    learn_ball,
    learn_quantiles,
    learn_sizes,
    learn_targets,
    log_of_quotient,
    outside,
)
from skdp._checks import check_bounds, check_feature_bounds, check_positive
from skdp._estimator import fits_of, require_groups
from skdp._families import means as means_module
from skdp._families.losses import (
    LOSSES,
    DualLoss,
    Huber,
    LogLoss,
    Loss,
    Multinomial,
    SmoothLoss,
    SmoothPinball,
    Tweedie,
    TweedieRate,
)
from skdp._families.means import FEW_FOR_TARGETS
from skdp._families.penalties import Penalty, make_penalty
from skdp._families.replacements import Errors, Sides
from skdp._families.targets import RateUnits, as_targets, clip_targets, encode_labels
from skdp._families.weights import EVEN, Weights, WeightScale, class_scale, weigh
from skdp._progress import progress, showing, showing_nothing
from skdp._release import (
    mechanisms as mechanisms_module,
    plan as plan_module,
    random as random_module,
)
from skdp._release.mechanisms import (
    DiscreteLaplaceMechanism,
    ExponentialChoice,
    GaussianMechanism,
    LaplaceMechanism,
    NoisyMaximum,
    RandomizedResponse,
    _OnGrid,
    as_symmetric,
    as_vector,
)
from skdp._release.plan import (
    CLASSES_READ,
    NORM_KEY,
    QUANTILE_KEY,
    SPLIT_SLACK,
    Budget,
    GroupBudget,
    Plan,
    resolve_delta,
)
from skdp._release.random import SecureStream, SeededStream, make_stream
from skdp._release.release import FixedRelease, Planned, Release, costs_of, named, with_ending
from skdp._release.run import Run, Steps
from skdp._release.sampling import (
    BlockSampler,
    CoordinateSampler,
    DrawnBlocks,
    PartitionSampler,
    PoissonSampler,
    SingleCoordinateSampler,
    SortedPartitionSampler,
)
from skdp._rows import (
    ball_queries as ball_queries_module,
    batches as batches_module,
    blocks as blocks_module,
    bounds as bounds_module,
    certified_rows as certified_rows_module,
    coded_rows as coded_rows_module,
    containers as containers_module,
    fused as fused_module,
    grouped_rows as grouped_rows_module,
    rows_in_ball as rows_in_ball_module,
    slope_queries as slope_queries_module,
    threads as threads_module,
)
from skdp._rows.ball_queries import (
    CountsBetween,
    CountsByColumn,
    CountsBySide,
    CountsOfLengths,
    ExactQuantiles,
    LongestLength,
    SumOfCutRows,
    SumOfSquares,
)
from skdp._rows.batches import CoordinateMean, GatheredRows, squeezed
from skdp._rows.blocks import BlockRows, block_rows, places, rounding_slack
from skdp._rows.bounds import (
    BoundedColumns,
    BoundedRows,
    augmented_norm,
    bound_columns,
    clip_columns,
    clip_rows,
    counted_rows,
    divide_columns,
    norm_in_units,
    null_records,
    row_norms,
    stretch_of,
    summation_slack,
    uncentred,
)
from skdp._rows.categories import InfiniteEntryError, as_category
from skdp._rows.certified_rows import CertifiedRows
from skdp._rows.clipping import clip_contributions
from skdp._rows.coded_rows import CodedRows
from skdp._rows.entries import (
    CLASSES,
    CODE_ENTRY,
    DATE_ENTRY,
    GAP_ENTRY,
    GAP_MARKS,
    NUMBER_ENTRY,
    TEXT_ENTRY,
    UnreadableEntryError,
    as_day,
    as_number,
    as_word,
    class_of,
    is_gap_entry,
    moment_of,
)
from skdp._rows.frames import Frame, Untyped, Words, count_bins, dense, read_frame
from skdp._rows.gaps import find_gaps
from skdp._rows.grouped_rows import GroupedRows, group_rounding_slack, map_by
from skdp._rows.groups import encode_groups, shares_of
from skdp._rows.inference_queries import CountsOfMappedLengths, SharesAndLosses, SumOfCurvatures
from skdp._rows.kinds import (
    BOOLEAN,
    DATE as DATE_KIND,
    NUMERIC,
    UNTYPED,
    WORD,
    WORD_OF_NUMBERS,
    declared_word,
    holds_numbers,
    reader_of,
)
from skdp._rows.labels import label_beside, texts_apart
from skdp._rows.queries import Cells, CountsByCell, Query
from skdp._rows.raw_rows import RawRows
from skdp._rows.rows_in_ball import RowsInUnits, in_units, rows_in_ball, some_bounded_rows
from skdp._rows.slope_queries import SecondMoment, SumOfSlopes, cut_parts, parts_of_groups
from skdp._rows.sources import ColumnOfArray, ColumnOfFrame, Entries, days_of_dates
from skdp._rows.step_tables import as_floats
from skdp._rows.table_queries import CountsByBin, CountsByClass, CountsByWord, DistinctNumbers
from skdp._rows.threads import for_each_block, map_in_order, single_threaded_blas
from skdp._sklearn import StrOptions, in_order_of_rows, quietly, read_list
from skdp.accountant import (
    _calibration as calibration_module,
    _filter as accountant_filter_module,
    _loss_distribution as loss_distribution_module,
)
from skdp.accountant._calibration import gaussian_mu, largest_within, resolve_accountant
from skdp.accountant._divergences import gaussian_delta, gaussian_log_delta, subsampled_delta
from skdp.accountant._events import EVENTS
from skdp.accountant._filter import (
    FIT_SHARE,
    GaussianCost,
    cost_of_report,
    dominating_mu,
    gaussian_budget,
    gaussian_cost,
)
from skdp.accountant._loss_distribution import PLDProfile, smallest_pld_delta
from skdp.accountant._profile import (
    GaussianProfile,
    _build_profile,
    build_profile,
    epsilon_of,
    full_batch_mu,
)
from skdp.accountant._renyi import _INTEGER_ORDERS, RDPProfile
from skdp.accountant._report_card import CARD_KEYS
from skdp.accountant._report_formats import UNRECORDED
from skdp.accountant._report_questions import QUESTIONS
from skdp.accountant._selection_event import any_of, any_of_inverse
from skdp.accountant._selection_profile import LargestProfile, SelectionProfile
from skdp.additive import (
    _look_up as look_up_module,
    _second_fit as second_fit_module,
    _tuned as additive_tuned,
)
from skdp.additive._constant import (
    SumOfConstants,
    WeighedTargets,
    expected_shares,
    release_constants,
)
from skdp.additive._curves import bends, roughness
from skdp.additive._fitted import Fitted
from skdp.additive._look_up import LookUp
from skdp.additive._plan import OF_CURVES, OF_PRODUCTS, plan_additive
from skdp.additive._points import Bins, places as bin_places
from skdp.additive._products import (
    BasisWithProducts,
    BoundedCurve,
    ProductTerm,
    _products_by_row as products_by_column,
    second_view,
)
from skdp.additive._reading import read_rows as read_rows_of_table
from skdp.additive._shapes import Shape, all_noise, monotone, shape_of
from skdp.audit._audit import Fitter, _one_run
from skdp.audit._canaries import World, default_canaries, given_canaries
from skdp.audit._result import (
    chance_of_guesses,
    clopper_pearson,
    epsilon_from_guesses,
    epsilon_from_rates,
)
from skdp.calibration import (
    _conformal_base as conformal_module,
    _solver as calibration_solver_module,
)
from skdp.calibration._plan import CalibrationPlan, noise_of_counts
from skdp.calibration._plan_conformal import (
    choose_design,
    ends_of_bins,
    n_needed,
    numbers_of_bins,
    plan_conformal,
)
from skdp.calibration._sigmoid import (
    BinnedScores,
    CountsAndPlaces,
    ScoredRows,
    fit_sigmoid,
    place_scores,
    typical_values,
)
from skdp.calibration._solver import critical_value, crossing, find_quantile
from skdp.extend import _run as own_run_module
from skdp.inspection import _duality as duality_module
from skdp.ledger import (
    _filter as ledger_filter_module,
    _records as records_module,
    _schedule as schedule_module,
    _store as store_module,
)
from skdp.ledger.__main__ import main
from skdp.ledger._account import ALREADY_CHARGED, LEDGER_CONSTRAINT, Account, resolve_account
from skdp.linear_model import (
    _fit as fit_module,
    _row_bounds as row_bounds_module,
)
from skdp.linear_model._memory import MemoryRows
from skdp.linear_model._plan import Problem, beside
from skdp.linear_model._row_bounds import RowBounds
from skdp.linear_model.dpcd import _method as dpcd_method_module, _solver as dpcd_solver_module
from skdp.linear_model.dpcd._method import CoordinateSteps
from skdp.linear_model.dpcd._plan import DPCDProblem, plan_dpcd
from skdp.linear_model.dpcd._queries import BallColumns, ColumnMoments
from skdp.linear_model.dpcd._solver import SUM_BLOCK, _Descent, feature_moments, solve_dpcd
from skdp.linear_model.dpcd.greedy._plan import auto_steps
from skdp.linear_model.dpscd import (
    _method as dpscd_method_module,
    _plan as dpscd_plan_module,
    _solver as dpscd_solver_module,
)
from skdp.linear_model.dpscd._plan import (
    DPSCDProblem,
    dual_share,
    intercept_share,
    plan_dpscd,
    plan_dpscd_primal,
    plan_dpscd_sequential,
    proximal_batch_size,
    proximal_strength,
)
from skdp.linear_model.dpscd._solver import solve_dpscd, solve_dpscd_primal, solve_dpscd_sequential
from skdp.linear_model.dpsgd import _method as dpsgd_method_module, _solver as dpsgd_solver_module
from skdp.linear_model.dpsgd._method import DPSGD
from skdp.linear_model.dpsgd._plan import (
    DPSGDPlan,
    DPSGDProblem,
    StepSizes,
    auto_disjoint_size,
    full_step_noise,
    mean_noise,
    plan_dpsgd,
    plan_dpsgd_laplace,
    plan_dpsgd_stream,
    sort_by_budget,
)
from skdp.linear_model.dpsgd._solver import solve_dpsgd
from skdp.linear_model.walr import _release as walr_release_module
from skdp.linear_model.walr._noise import adapted_coordinates
from skdp.linear_model.walr._queries import LabelledRows, SumOfRows, SumsByLabel
from skdp.linear_model.walr._release import prepared_rows
from skdp.linear_model.walr._solver import BLOCK, PublicRows, consistent_means
from skdp.linear_model.whitened import (
    _method as whitened_method_module,
    _solver as whitened_solver_module,
    _tuned as whitened_tuned,
)
from skdp.linear_model.whitened._base import BaseWhitened
from skdp.linear_model.whitened._calibration_solver import averaged, calibrated, mean_risk
from skdp.linear_model.whitened._inference import MODELS, shorter, solve_inference
from skdp.linear_model.whitened._method import Whitened
from skdp.linear_model.whitened._moment import as_training_has_it, as_users_have_it, check_moment
from skdp.linear_model.whitened._plan import MATRIX, WhitenedProblem, plan_inference, plan_whitened
from skdp.linear_model.whitened._solver import (
    WhitenedSteps,
    Whitening,
    _noise_power,
    choose_steps,
    noise_covariance,
    shrink,
    solve_whitened,
    whiten,
)
from skdp.linear_model.whitened._standard_errors import (
    BROKEN,
    DRIFT,
    HIDDEN,
    RARE,
    THIN,
    UNBOUNDED,
    UNSEEN,
    Releases,
    Taken,
    _covariance_of_hessian,
    estimate,
    follow,
    map_moment,
    normal_curvature,
)
from skdp.linear_model.whitened._summary import _ends
from skdp.linear_model.whitened._tuned import RULES, RULES_FROM_START, RULES_IN_BALL
from skdp.linear_model.whitened._ways_solver import (
    CautiousSteps,
    CurvatureSteps,
    logistic_curvature,
)
from skdp.metrics import (
    _release as metrics_release_module,
    _statistics as statistics_module,
    _thresholds as thresholds_module,
)
from skdp.metrics._plan import (
    HistogramPlan,
    ScoreBudget,
    count_noise,
    plan_histogram,
    resolve_rows_counted,
)
from skdp.metrics._scorings import SCORES, row_scores
from skdp.metrics._solver import Axis, release_histogram
from skdp.metrics._statistics import Shares
from skdp.model_selection import (
    _search as model_selection_search_module,
    _trials as model_selection_trials_module,
)
from skdp.model_selection._plan import SCORE_PARTS, SearchBudget, _excess_of_largest, plan_selection
from skdp.model_selection._trials import Records, run_repeated
from skdp.pipeline._chain import BoundsPassingPipeline, PassedBounds
from skdp.pipeline._plan import _FIT_ERASURE
from skdp.plotting._axes import date_ticks
from skdp.plotting._effects import log_ratio_ticks, ratio_text
from skdp.preprocessing import _solver as preprocessing_solver_module
from skdp.preprocessing._imputer import default_fills
from skdp.preprocessing._plan import (
    COUNTS,
    DISTRIBUTIONS,
    MOMENTS,
    geometric_edges,
    hiding_threshold,
    linear_edges,
    logarithmic_edges,
    plan_counts,
    plan_encoder,
    plan_quantiles,
    plan_scaler,
    root_weights,
)
from skdp.preprocessing._solver import (
    Balances,
    CountedColumns,
    CountedEntries,
    CountsBelow,
    CountsByCategory,
    SumsAndGaps,
    SumsOfMoments,
    find_quantiles,
    release_counts,
    scale_columns,
)
from skdp.preprocessing._tuned import N_THRESHOLDS
from skdp.preprocessing.table._bins import (
    coarse_ends,
    find_narrow,
    heavy_ends,
    middles,
    narrow_ends,
    numbers_at,
    numbers_in,
    outermost_edges,
    public_ends,
    replace_bins,
    show_counts,
    split_bins,
)
from skdp.preprocessing.table._given import read_specs, specs_before_fit
from skdp.preprocessing.table._kinds import Tally
from skdp.preprocessing.table._knots import Histogram, find_shape
from skdp.preprocessing.table._lost import is_unread
from skdp.preprocessing.table._places import count_up_to
from skdp.preprocessing.table._plan import WORDS, plan_vectorizer
from skdp.preprocessing.table._plan_kinds import KINDS
from skdp.preprocessing.table._search import ColumnSearch
from skdp.preprocessing.table._terms import Basis, HatsTerm, LineTerm, PairTerm, WordsTerm
from skdp.statistics import _describe as describe_module
from skdp.statistics._columns import NumberColumn
from skdp.statistics._plan import plan_description
from skdp.statistics._solver import MomentsOfNumbers
from skdp.utils._replay import spied_releases
