"""Small faults planted in the source, each of which some test must notice.

    python tests/privacy/mutants.py                 # every mutant, against the tests named for it
    python tests/privacy/mutants.py --only clip     # those whose name contains a word
    python tests/privacy/mutants.py --whole         # against all tests, for hours

Each mutant is applied to a copy of the package, and tests are run there until the first failure.
The script ends with status 1 if one survives. `tests/privacy/test_mutants.py` keeps the list in
step with the source.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "skdp",
    "tests",
    "benchmarks",
    "examples",
    "doc",
    "pyproject.toml",
    "README.rst",
    "CONTRIBUTING.rst",
)

REPLAY = "tests/privacy/test_replay.py"
RESPONSE = "tests/privacy/test_randomized_response.py"

SAMPLING = "tests/test_sampling.py"
MECHANISMS = "tests/test_mechanisms.py"
CALIBRATION = "tests/accountant/test_calibration.py"
REPORT = "tests/accountant/test_report.py"
REPORT_JSON = "tests/accountant/test_report_json.py"
REPORT_MARKDOWN = "tests/accountant/test_report_markdown.py"
PERSISTENCE = "tests/utils/test_persistence.py"
ONNX = "tests/onnx/test_onnx.py"
PRECISION = "tests/accountant/test_precision.py"
PURE = "tests/accountant/test_pure.py"
ERASURE = "tests/accountant/test_erasure.py"
FILTER = "tests/accountant/test_filter.py"
SETTINGS = "tests/test_settings.py"
SELECTION = "tests/accountant/test_selection.py"
SEARCH = "tests/model_selection/test_search.py"
METADATA = "tests/model_selection/test_metadata.py"
PURE_SEARCH = "tests/model_selection/test_pure.py"
SECRETS = "tests/model_selection/test_secrets.py"
BOUNDS = "tests/test_bounds.py"
RANDOM = "tests/test_random.py"
DUAL = "tests/solvers/test_dpscd.py"
GRADIENT = "tests/solvers/test_dpsgd.py"
COORDINATE = "tests/solvers/test_dpcd.py"
PLAN = "tests/plans/test_dpscd.py"
PLAN_GRADIENT = "tests/plans/test_dpsgd.py"
PLAN_COORDINATE = "tests/plans/test_dpcd.py"
LABEL = "tests/linear_model/test_walr.py"
AGGREGATE = "tests/linear_model/test_label_aggregate.py"
HIDDEN = "tests/statistical/test_hidden_dual.py"
CHECKS = "tests/linear_model/test_dpsgd.py"
PLAN_WHITENED = "tests/plans/test_whitened.py"
PLAN_INFERENCE = "tests/plans/test_inference.py"
SOLVER_INFERENCE = "tests/solvers/test_inference.py"
LINEAR_INFERENCE = "tests/linear_model/test_inference.py"
ROW_SUMS = "tests/solvers/test_row_sums.py"
SPARSE = "tests/linear_model/test_sparse.py"
REPLAY_SPARSE = "tests/privacy/test_replay_sparse.py"
SPARSE_STEPS = "tests/preprocessing/test_bounded.py"
LEDGER = "tests/ledger/test_ledger.py"
ACCOUNT = "tests/ledger/test_account.py"
RACES = "tests/ledger/test_races.py"
ESCAPES = "tests/ledger/test_escapes.py"
LEDGER_FAULTS = "tests/ledger/test_faults.py"
LEDGER_STREAMS = "tests/ledger/test_streams.py"
SOLVER_WHITENED = "tests/solvers/test_whitened.py"
COUNTS = "tests/test_discrete_laplace.py"
PLAN_HISTOGRAM = "tests/plans/test_histogram.py"
SOLVER_HISTOGRAM = "tests/solvers/test_histogram.py"
SCORES_REPLAYED = "tests/metrics/test_replay.py"
ONE_VS_REST = "tests/metrics/test_one_vs_rest.py"
SCORES = "tests/metrics/test_private_scores.py"
PLAN_DISTRIBUTION = "tests/plans/test_distribution.py"
SOLVER_DISTRIBUTION = "tests/solvers/test_distribution.py"
PRIVATE_STEPS = "tests/preprocessing/test_private.py"
CALIBRATED = "tests/calibration/test_calibrated.py"
PIPELINE = "tests/pipeline/test_pipeline.py"
PIPELINE_REPLAYED = "tests/pipeline/test_replay.py"
LEAKS = "tests/pipeline/test_leaks.py"
NOT_FINITE = "tests/privacy/test_assume_finite.py"
TOTAL = "tests/inspection/test_total.py"
FILLS = "tests/privacy/test_fills_and_categories.py"
DISCOVERY = "tests/plans/test_discovery.py"
IMPUTER = "tests/preprocessing/test_imputer.py"
ENCODER = "tests/preprocessing/test_encoder.py"
PEOPLE = "tests/privacy/test_people.py"
GROUP_SUMS = "tests/solvers/test_group_sums.py"
GROUPS = "tests/linear_model/test_groups.py"
GROUP_SCORES = "tests/metrics/test_groups.py"
WEIGHTS = "tests/test_weights.py"
SEALS = "tests/dask/test_seal.py"
PARTS = "tests/dask/test_parts.py"
PARALLEL = "tests/solvers/test_parallel.py"


class Mutant(NamedTuple):
    """A fault: in a file, one text in place of another that occurs there once, and the tests."""

    name: str
    path: str
    old: str
    new: str
    tests: tuple


MUTANTS = (
    Mutant(
        "rows are clipped before entries of a place are added up",
        "_sparse.py",
        "if not found.has_canonical_format:",
        "if False:",
        (REPLAY_SPARSE,),
    ),
    Mutant(
        "what sparse rows say of themselves is believed",
        "_sparse.py",
        "        found = kind((X.data, X.indices, X.indptr), shape=X.shape)\n",
        "        found = X\n",
        (SPARSE,),
    ),
    Mutant(
        "the caller's entries are put in order in place",
        "_sparse.py",
        "        found = found.copy()\n",
        "",
        (SPARSE,),
    ),
    Mutant(
        "entries of a place that add up to infinity are rows",
        "_sparse.py",
        "if not np.isfinite(found.data).all():",
        "if False:",
        (SPARSE,),
    ),
    Mutant(
        "indices that point anywhere",
        "_sparse.py",
        "found.check_format(full_check=True)",
        "found.check_format(full_check=False)",
        (SPARSE,),
    ),
    Mutant(
        "entries of 0 make sparse rows longer",
        "_sparse.py",
        "            squares *= squares\n",
        "            squares[squares == 0.0] = 1.0\n            squares *= squares\n",
        (REPLAY_SPARSE, SPARSE),
    ),
    Mutant(
        "sparse rows are taken for shorter than they are",
        "_sparse.py",
        "norms[start : start + _BLOCK] = np.sqrt(sums)",
        "norms[start : start + _BLOCK] = 0.9 * np.sqrt(sums)",
        (REPLAY_SPARSE,),
    ),
    Mutant(
        "sparse values by column aren't clipped",
        "_sparse.py",
        "np.clip(data, low[X.indices], high[X.indices], out=data)",
        "np.clip(data, -np.inf, np.inf, out=data)",
        (SPARSE,),
    ),
    Mutant(
        "sparse rows by column keep their length",
        "_sparse.py",
        "data *= np.repeat(scale, np.diff(X.indptr))",
        "pass",
        (SPARSE,),
    ),
    Mutant(
        "null records are where sparse columns have no entry",
        "_sparse.py",
        "        if self._any_null:\n",
        "        if False:\n",
        (REPLAY_SPARSE,),
    ),
    Mutant(
        "sparse columns are centred where they have entries only",
        "_sparse.py",
        "elsewhere = (self._elsewhere - shift) / unit",
        "elsewhere = self._elsewhere / unit",
        (SPARSE,),
    ),
    Mutant(
        "a map that only stretches leaves lengths as they are",
        "_solvers/_row_sums.py",
        "self._lengths * np.abs(A.diagonal()).max()",
        "self._lengths * 1.0",
        (ROW_SUMS, REPLAY_SPARSE),
    ),
    Mutant(
        "moments of sparse rows that aren't clipped",
        "_solvers/_blocks.py",
        "data = x.data * np.repeat(factors, np.diff(x.indptr))",
        "data = x.data",
        (ROW_SUMS, REPLAY_SPARSE),
    ),
    Mutant(
        "a sparse row of a large batch isn't its own",
        "_solvers/_gathered.py",
        "if indices.size <= _FEW_ROWS else self._X[indices]",
        "if indices.size <= _FEW_ROWS else self._X[np.sort(indices)]",
        (SPARSE,),
    ),
    Mutant(
        "sparse columns that 0 is mapped away from",
        "preprocessing/_bounded.py",
        "if not mapped.keeps_zero:",
        "if False:",
        (SPARSE_STEPS,),
    ),
    Mutant(
        "rows whose squares overflow are longer than the bound",
        "preprocessing/_bounded.py",
        "scale[far] = bound / row_norms(X)[far]",
        "scale[far] = bound",
        (SPARSE_STEPS,),
    ),
    Mutant(
        "a step of a pipeline charges beside the pipeline",
        "pipeline/_budget.py",
        "            ledger=COVERED,\n            random_state",
        "            random_state",
        (PIPELINE,),
    ),
    Mutant(
        "a pipeline is charged to nobody",
        "pipeline/_pipeline.py",
        "return PipelineBudget(*promised, account=self._account())",
        "return PipelineBudget(*promised)",
        (PIPELINE,),
    ),
    Mutant(
        "steps of a pipeline share the noise of a seed",
        "pipeline/_budget.py",
        "random_state=stream and stream.as_random_state(),",
        "random_state=stream and 0,",
        (PIPELINE,),
    ),
    Mutant(
        "a step of a pipeline keeps a seed of its own",
        "pipeline/_budget.py",
        "            random_state=stream and stream.as_random_state(),\n",
        "",
        (PIPELINE_REPLAYED,),
    ),
    Mutant(
        "each step of a pipeline spends everything",
        "_plans/_pipeline.py",
        "cost = GaussianCost(math.sqrt(learner.share) * mu, erasure)",
        "cost = GaussianCost(mu, erasure)",
        (PIPELINE,),
    ),
    Mutant(
        "shares are of mu and not of its square",
        "_plans/_pipeline.py",
        "GaussianCost(math.sqrt(learner.share) * mu",
        "GaussianCost(learner.share * mu",
        (PIPELINE,),
    ),
    Mutant(
        "erasures of a pipeline are forgotten",
        "_plans/_pipeline.py",
        "erasure=joint_erasure(erasures)).mu",
        "erasure=0.0).mu",
        (PIPELINE,),
    ),
    Mutant(
        "a pipeline's step may exceed its part",
        "_plans/_pipeline.py",
        "        if not self._cost_of(events, adjacency).is_within(self.cost):",
        "        if False:",
        (PIPELINE,),
    ),
    Mutant(
        "a step's adjacency is its own",
        "pipeline/_budget.py",
        "            adjacency=plan.budget.adjacency,\n            # All",
        "            # All",
        (PIPELINE,),
    ),
    Mutant(
        "Poisson batches keep the design that was planned",
        "_plans/_pipeline.py",
        "        return _fill(self.name, releases, self.cost, self.delta, adjacency)",
        "        return self.epsilon",
        (PIPELINE,),
    ),
    Mutant(
        "a Poisson step after others is reported as itself",
        "_plans/_pipeline.py",
        "        return events if _is_closed(events, adjacency) else self.events",
        "        return events",
        (PIPELINE,),
    ),
    Mutant(
        "what is published of a pipeline holds seeds",
        "pipeline/_budget.py",
        "leaf.estimator.set_params(random_state=None, ledger=ledger,",
        "leaf.estimator.set_params(ledger=ledger,",
        (PIPELINE,),
    ),
    Mutant(
        "a remainder of columns isn't looked at",
        "pipeline/_tree.py",
        'return [*transformer.transformers, ("remainder", transformer.remainder, _the_rest)]',
        "return transformer.transformers",
        (LEAKS,),
    ),
    Mutant(
        "an encoder may find categories",
        "pipeline/_leaks.py",
        '    if isinstance(step.categories, str):\n        return "it keeps the categories',
        '    if False:\n        return "it keeps the categories',
        (LEAKS,),
    ),
    Mutant(
        "an imputer may drop empty columns",
        "pipeline/_leaks.py",
        "    if not step.keep_empty_features:",
        "    if False:",
        (LEAKS,),
    ),
    Mutant(
        "a function may look at all rows",
        "pipeline/_leaks.py",
        "is_known = step.func is None or _is_by_entry(step.func)",
        "is_known = True",
        (LEAKS,),
    ),
    Mutant(
        "subclasses of safe steps pass",
        "pipeline/_leaks.py",
        "        if kind.__name__ in _BY_ROW:",
        "        if kind.__name__ in _BY_ROW or kind.__mro__[1].__name__ in _BY_ROW:",
        (LEAKS,),
    ),
    Mutant(
        "a function may choose columns",
        "pipeline/_tree.py",
        "        if callable(columns) and not _is_public_choice(columns):",
        "        if False:",
        (LEAKS,),
    ),
    Mutant(
        "a pipeline may keep steps in a memory",
        "pipeline/_tree.py",
        '    if getattr(joined, "memory", None) is not None:',
        "    if False:",
        (LEAKS,),
    ),
    Mutant(
        "columns are sparse by the number of zeros",
        "pipeline/_budget.py",
        "    fix_density(forest(steps))\n",
        "",
        (LEAKS,),
    ),
    Mutant(
        "integers without a gap stay integers",
        "pipeline/_pipeline.py",
        "        X = as_floats(X)\n",
        "        as_floats(X)\n",
        (LEAKS,),
    ),
    Mutant(
        "nullable integers stay integers",
        "pipeline/_numbers.py",
        "    return dtype.kind in _WHOLE or",
        "    return isinstance(dtype, np.dtype) and dtype.kind in _WHOLE or",
        (LEAKS,),
    ),
    Mutant(
        "categories of integers stay integers",
        "pipeline/_numbers.py",
        '        return categories.dtype.kind in f"{_WHOLE}f"\n',
        "        return False\n",
        (LEAKS,),
    ),
    Mutant(
        "lists of integers are told from those with a gap",
        "pipeline/_numbers.py",
        "    if all(issubclass(kind, (Real, np.bool_)) for kind in kinds):",
        "    if not gaps.any() and all(issubclass(kind, (Real, np.bool_)) for kind in kinds):",
        (LEAKS,),
    ),
    Mutant(
        "predictions take integers as they are",
        "pipeline/_numbers.py",
        "        return inherited(self)(as_floats(X), *args, **params)",
        "        return inherited(self)(X, *args, **params)",
        (LEAKS,),
    ),
    Mutant(
        "two steps of one name count once",
        "pipeline/_tree.py",
        "    _check_paths(found)\n",
        "",
        (PIPELINE,),
    ),
    Mutant(
        "a pipeline's releases without a part are forgotten",
        "_plans/_pipeline.py",
        "        if without:\n",
        "        if False:\n",
        (PIPELINE,),
    ),
    Mutant(
        "subclasses of private steps pass",
        "pipeline/_leaks.py",
        '    if not type(step).__module__.startswith("skdp."):',
        "    if False:",
        (LEAKS,),
    ),
    Mutant(
        "a function that says it is another passes",
        "pipeline/_leaks.py",
        "any(function is known for known in _BY_ENTRY)",
        "function in _BY_ENTRY",
        (LEAKS,),
    ),
    Mutant(
        "a total knows no memory of the pipeline itself",
        "inspection/_total.py",
        '    if is_outermost and (found := why_container_is_refused(tree("", pipeline))):',
        '    if False and (found := why_container_is_refused(tree("", pipeline))):',
        (TOTAL,),
    ),
    Mutant(
        "resamplers pass",
        "pipeline/_leaks.py",
        '    if hasattr(step, "fit_resample"):',
        "    if False:",
        (LEAKS,),
    ),
    Mutant(
        "what allow lets through isn't told",
        "pipeline/_pipeline.py",
        "            uncovered=uncovered,\n",
        "",
        (LEAKS,),
    ),
    Mutant(
        "a safe step's error tells of a row",
        "pipeline/_chain.py",
        "        return quietly(fit, X, y)",
        "        return fit(X, y)",
        (LEAKS,),
    ),
    Mutant(
        "a safe step's warning tells of rows",
        "pipeline/_chain.py",
        '        warnings.simplefilter("ignore")\n',
        "",
        (LEAKS,),
    ),
    Mutant(
        "what an earlier fit found is kept as if given",
        "pipeline/_budget.py",
        "        forget(leaf.estimator)\n",
        "        pass\n",
        (PIPELINE,),
    ),
    Mutant(
        "a search takes private pipelines",
        "model_selection/_candidates.py",
        "    if isinstance(model, RecordPrivateEstimator) and isinstance(model, Pipeline):",
        "    if False:",
        (PIPELINE,),
    ),
    Mutant(
        "rows of a container are longer than it promises",
        "pipeline/_chain.py",
        "else math.hypot(*norms)",
        "else max(norms)",
        (PIPELINE,),
    ),
    Mutant(
        "weights that multiply after the clip",
        "_clipping.py",
        """    if weights is not None:
        contributions *= weights if contributions.ndim == 1 else weights[:, np.newaxis]
    if np.count_nonzero(row_norm) < row_norm.size:
        contributions[row_norm == 0.0] = 0.0
    if isinf(bound):
        return contributions
""",
        """    if weights is not None:
        clip_contributions(contributions, row_norm, bound)
        contributions *= weights if contributions.ndim == 1 else weights[:, np.newaxis]
        return contributions
    if np.count_nonzero(row_norm) < row_norm.size:
        contributions[row_norm == 0.0] = 0.0
    if isinf(bound):
        return contributions
""",
        (REPLAY,),
    ),
    Mutant(
        "weights of a coordinate's slopes that multiply after the clip",
        "_solvers/_dpcd.py",
        "        clip_entries(buffer, self._bound)\n",
        """        clip_entries(buffer, self._bound)
        if self._weights is not None:
            buffer *= self._weights
""",
        (COORDINATE, REPLAY),
    ),
    Mutant(
        "a divisor that is the sum of labels' weights",
        "_weights.py",
        "            of_labels = of_classes[codes.astype(int)]\n",
        """            of_labels = of_classes[codes.astype(int)]
            of_labels = of_labels / of_labels.mean()
""",
        (REPLAY,),
    ),
    Mutant(
        "a moment of weights without a bound",
        "_solvers/_row_sums.py",
        "            weights = np.minimum(weights, 1.0)\n",
        "            pass\n",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "mean squares of weights without a bound",
        "_solvers/_dpcd.py",
        "    if weights is None or not math.isinf(mechanism.contribution_bound):\n",
        "    if weights is None:\n",
        (COORDINATE, REPLAY),
    ),
    Mutant(
        "noise for the longest row without its weight",
        "linear_model/_label_release.py",
        "best_design(multiplied, plans",
        "best_design(public, plans",
        (REPLAY,),
    ),
    Mutant(
        "a record of weight 0 that is there",
        "_weights.py",
        "rows._replace(norm=np.where(self.is_zero, 0.0, rows.norm))",
        "rows",
        (WEIGHTS,),
    ),
    Mutant(
        "weights of rows that aren't told",
        "linear_model/_base.py",
        "() if public_weight is None else (WEIGHTS_STATED,)",
        "()",
        (WEIGHTS,),
    ),
    Mutant(
        "half the noise on counts",
        "_mechanisms.py",
        "math.ceil(self.noise_multiplier * _SCALE_PARTS)",
        "math.ceil(0.5 * self.noise_multiplier * _SCALE_PARTS)",
        (COUNTS,),
    ),
    Mutant(
        "a scale of counts' noise that is rounded down",
        "_mechanisms.py",
        "math.ceil(self.noise_multiplier * _SCALE_PARTS)",
        "max(1, math.floor(self.noise_multiplier * _SCALE_PARTS))",
        (COUNTS,),
    ),
    Mutant(
        "zero twice as likely as it should be",
        "_mechanisms.py",
        "done = (size > 0) | ((size == 0) & ~is_negative)",
        "done = size >= 0",
        (COUNTS,),
    ),
    Mutant(
        "remainders of noise that are all kept",
        "_mechanisms.py",
        "    kept = _coins(remainder, parts, stream)\n",
        "    kept = np.ones(size, dtype=bool)\n",
        (COUNTS,),
    ),
    Mutant(
        "one noise for all counts",
        "_mechanisms.py",
        "return counts + noise.reshape(counts.shape)",
        "return counts + np.full_like(noise, noise[0]).reshape(counts.shape)",
        (COUNTS,),
    ),
    Mutant(
        "words beyond the end are kept",
        "_random.py",
        "drawn >= np.uint64(end))).size:",
        "drawn > np.uint64(end))).size:",
        (RANDOM,),
    ),
    Mutant(
        "two counts that move are accounted as one",
        "_plans/_histogram.py",
        "math.sqrt(2.0) if adjacency ==",
        "1.0 if adjacency ==",
        (PLAN_HISTOGRAM,),
    ),
    Mutant(
        "categories of single records are published",
        "_solvers/_preprocessing_counts.py",
        "np.flatnonzero(part > threshold)",
        "np.flatnonzero(part > 0)",
        (FILLS,),
    ),
    Mutant(
        "categories are kept by their exact counts",
        "_solvers/_preprocessing_counts.py",
        "released = mechanism.release(np.concatenate(counts), noise)",
        "released = mechanism.release(np.concatenate(counts), noise) * 0 + np.concatenate(counts)",
        (FILLS,),
    ),
    Mutant(
        "one noise for all columns of categories",
        "_solvers/_preprocessing_counts.py",
        "released = mechanism.release(np.concatenate(counts), noise)",
        "released = np.concatenate(counts) + mechanism.release(np.zeros(1), noise)",
        (FILLS,),
    ),
    Mutant(
        "columns of categories are counted as one",
        "_plans/_discovery.py",
        "contribution_bound=math.sqrt(n_moved)",
        "contribution_bound=1.0",
        (DISCOVERY,),
    ),
    Mutant(
        "a record that comes moves no count",
        "_plans/_discovery.py",
        "n_moved = (2 if is_replaced else 1) * n_columns",
        "n_moved = n_columns",
        (FILLS,),
    ),
    Mutant(
        "a distance of counts that the accountant doubles",
        "_plans/_discovery.py",
        "GaussianEvent(noise, pairwise=is_replaced)",
        "GaussianEvent(noise)",
        (DISCOVERY,),
    ),
    Mutant(
        "a threshold for one column",
        "_plans/_discovery.py",
        "-math.expm1(math.log1p(-erasure) / n_columns)",
        "erasure",
        (DISCOVERY,),
    ),
    Mutant(
        "a threshold from a count of 0",
        "_plans/_discovery.py",
        "return 1.0 + mechanism.grid - mechanism",
        "return mechanism.grid - mechanism",
        (DISCOVERY,),
    ),
    Mutant(
        "categories of single records that cost no delta",
        "_plans/_discovery.py",
        "        events += (ErasureEvent(erasure),)\n",
        "",
        (DISCOVERY,),
    ),
    Mutant(
        "delta that is spent twice",
        "_plans/_discovery.py",
        "(budget.delta - erasure) / (1.0 - erasure)",
        "budget.delta",
        (DISCOVERY,),
    ),
    Mutant(
        "a least count in place of the threshold",
        "_plans/_discovery.py",
        "threshold = max(hiding_threshold(mechanism, erasure, n_discovered), threshold)",
        "hiding_threshold(mechanism, erasure, n_discovered)",
        (DISCOVERY,),
    ),
    Mutant(
        "a delta of which nothing is left to hide categories by",
        "_plans/_discovery.py",
        "_LEAST_DELTA = 1e-300",
        "_LEAST_DELTA = 0.0",
        (DISCOVERY,),
    ),
    Mutant(
        "categories that are hidden only where their share of delta is a usual one",
        "_plans/_discovery.py",
        "    if is_hidden:\n",
        "    if erasure > 1e-100:\n",
        (DISCOVERY,),
    ),
    Mutant(
        "an exact number of gaps",
        "_solvers/_preprocessing_fills.py",
        "np.maximum(n_rows - gaps, 0.0)",
        "n_rows - sums[1]",
        (FILLS,),
    ),
    Mutant(
        "entries beyond their range",
        "_solvers/_preprocessing_fills.py",
        "np.clip(shares, -1.0, 1.0)",
        "shares",
        (FILLS,),
    ),
    Mutant(
        "an exact balance",
        "_solvers/_preprocessing_fills.py",
        "        balance = mechanism.release(balance, noise)\n",
        "        mechanism.release(balance, noise)\n",
        (FILLS,),
    ),
    Mutant(
        "columns that are filled are counted as one",
        "_plans/_imputer.py",
        "math.sqrt(n_columns) if budget",
        "1.0 if budget",
        (FILLS,),
    ),
    Mutant(
        "a search for medians that is accounted as one step",
        "_plans/_imputer.py",
        "noise = budget.calibrate(n_steps=n_steps)",
        "noise = budget.calibrate()",
        (IMPUTER,),
    ),
    Mutant(
        "an imputer and an encoder share their noise",
        "_plans/_keys.py",
        "ENCODER_KEY = 24",
        "ENCODER_KEY = 23",
        (FILLS,),
    ),
    Mutant(
        "null records are imputed from",
        "preprocessing/_imputer.py",
        "records = present_records(X)",
        "records = X",
        (FILLS,),
    ),
    Mutant(
        "null records have categories",
        "preprocessing/_encoder.py",
        "records = present_records(X)",
        "records = X",
        (FILLS,),
    ),
    Mutant(
        "gaps are counted among categories",
        "preprocessing/_fills.py",
        "value for value in column if value == value",
        "value for value in column",
        (IMPUTER,),
    ),
    Mutant(
        "the longest string shows",
        "preprocessing/_columns.py",
        "np.array(shared, dtype=object)",
        "np.array(shared, dtype=str)",
        (ENCODER,),
    ),
    Mutant(
        "which of two zeros came first",
        "preprocessing/_columns.py",
        "return float(value) + 0.0",
        "return float(value)",
        (ENCODER,),
    ),
    Mutant(
        "which of two equal strings came first",
        "preprocessing/_columns.py",
        "sys.intern(value) if isinstance(value, str)",
        "value if isinstance(value, str)",
        (ENCODER,),
    ),
    Mutant(
        "an entry is quoted",
        "preprocessing/_columns.py",
        "raise TypeError(NOT_CATEGORIES)",
        "raise TypeError(NOT_CATEGORIES + str(values))",
        (ENCODER,),
    ),
    Mutant(
        "output beyond what is promised",
        "preprocessing/_imputer.py",
        "np.clip(np.where(gaps, fills, X), low, high)",
        "np.where(gaps, fills, X)",
        (IMPUTER,),
    ),
    Mutant(
        "fills of the type that a gap makes of X",
        "preprocessing/_imputer.py",
        "self.statistics_ = as_array(fills)",
        "self.statistics_ = as_array(fills).astype(X.dtype)",
        (IMPUTER,),
    ),
    Mutant(
        "strategies of imputers that share their noise",
        "_plans/_imputer.py",
        "return IMPUTER_KEY, _STRATEGIES.index(self.strategy)",
        "return (IMPUTER_KEY,)",
        (IMPUTER,),
    ),
    Mutant(
        "gaps that are read by what was set after the fit",
        "preprocessing/_imputer.py",
        "find_gaps(X, self._missing_values)",
        "find_gaps(X, self.missing_values)",
        (IMPUTER,),
    ),
    Mutant(
        "pure noise of counts that is accounted by its distance alone",
        "_plans/_histogram.py",
        "DiscreteLaplaceMechanism(budget.calibrate_pure(n_steps))",
        "DiscreteLaplaceMechanism(n_steps / budget.epsilon)",
        (PLAN_HISTOGRAM,),
    ),
    Mutant(
        "scores with a fit's noise",
        "_plans/_histogram.py",
        "stream_key: ClassVar = (HISTOGRAM_KEY,)",
        "stream_key: ClassVar = ()",
        (SCORES,),
    ),
    Mutant(
        "a record in two cells",
        "_bounds.py",
        "return np.bincount(cells, minlength=n_cells)",
        "return np.bincount(np.r_[cells, cells[:1]], minlength=n_cells)",
        (SOLVER_HISTOGRAM, SCORES_REPLAYED),
    ),
    Mutant(
        "coins that depend on where a record lies",
        "_solvers/_histogram.py",
        "np.ceil(position - coins.uniform(position.size))",
        "np.ceil(position - np.sort(coins.uniform(position.size))[np.argsort(position)])",
        (SOLVER_HISTOGRAM, SCORES_REPLAYED),
    ),
    Mutant(
        "bins from the data's own range",
        "metrics/_scorings.py",
        "clip_scores(binary_scores(estimator, X), 0.0, 1.0)",
        "clip_scores(found := binary_scores(estimator, X), found.min(), found.max())",
        (SCORES_REPLAYED,),
    ),
    Mutant(
        "shares of the true number of records",
        "metrics/_release.py",
        "Released(release_histogram(axes, **streams), n_rows,",
        "Released(release_histogram(axes, **streams) + axes[0].position.mean(), n_rows,",
        (SCORES_REPLAYED,),
    ),
    Mutant(
        "scores that count several rows of a group",
        "metrics/_release.py",
        "if encode_groups(self.groups, n_rows)[1] < n_rows:",
        "if encode_groups(self.groups, n_rows)[1] < 1:",
        ("tests/metrics/test_groups.py",),
    ),
    Mutant(
        "a classifier that spends all before its calibration",
        "_plans/_calibrated.py",
        "/ math.sqrt(1.0 - share)",
        "/ 1.0",
        (CALIBRATED,),
    ),
    Mutant(
        "a calibration whose excess nobody takes back",
        "_plans/_calibrated.py",
        "        if found > 1.0:\n",
        "        if found > 1.05:\n",
        (CALIBRATED,),
    ),
    Mutant(
        "a calibration that isn't reported",
        "_plans/_calibrated.py",
        "events=(*classifier.events, *super().events)",
        "events=classifier.events",
        (CALIBRATED,),
    ),
    Mutant(
        "counts with a classifier's noise",
        "_plans/_calibrated.py",
        "stream_key: ClassVar = (CALIBRATION_KEY,)",
        "stream_key: ClassVar = ()",
        (CALIBRATED,),
    ),
    Mutant(
        "a classifier with the seed of its calibration",
        "calibration/_calibrated.py",
        "random_state=fit.as_random_state()",
        "random_state=self.random_state",
        (CALIBRATED,),
    ),
    Mutant(
        "calibration by exact counts",
        "calibration/_calibrated.py",
        "fit_sigmoid(*counts, middles, plan.mechanism.noise_std)",
        "fit_sigmoid(*np.histogram2d(axes[0].position, axes[1].position, [2, n_bins])[0], "
        "middles, plan.mechanism.noise_std)",
        (CALIBRATED,),
    ),
    Mutant(
        "a calibration that believes noise",
        "calibration/_sigmoid.py",
        "variance += noise_std**2",
        "variance += 0.0 * noise_std**2",
        (CALIBRATED,),
    ),
    Mutant(
        "intervals without noise",
        "metrics/_statistics.py",
        "return self.noise_variance * ((gradient - gradient.mean()) ** 2).sum()",
        "return 0.0",
        (SCORES,),
    ),
    Mutant(
        "intervals without the sample",
        "metrics/_statistics.py",
        "return self.of_sample(gradient) + self.of_noise(gradient)",
        "return self.of_noise(gradient)",
        (SCORES,),
    ),
    Mutant(
        "squares of rounded targets taken for those of targets",
        "metrics/_statistics.py",
        "(shares.values * target**2).sum() - 0.25 - mean**2",
        "(shares.values * target**2).sum() - mean**2",
        (SCORES,),
    ),
    Mutant(
        "half the noise",
        "_mechanisms.py",
        "return self.noise_multiplier * self.sensitivity if",
        "return 0.5 * self.noise_multiplier * self.sensitivity if",
        (MECHANISMS, REPLAY),
    ),
    Mutant(
        "rounding left out of the sensitivity",
        "_mechanisms.py",
        "return exact + self.grid * math.sqrt(self.size)",
        "return exact",
        (MECHANISMS, REPLAY),
    ),
    Mutant(
        "rounding of one entry only in the sensitivity",
        "_mechanisms.py",
        "self.grid * math.sqrt(self.size)",
        "self.grid",
        (MECHANISMS, REPLAY),
    ),
    Mutant(
        "slack of summation left out",
        "_mechanisms.py",
        "self.contribution_bound * (1.0 + self.rounding_slack)",
        "self.contribution_bound",
        (MECHANISMS,),
    ),
    Mutant(
        "noise that isn't rounded",
        "_mechanisms.py",
        "        np.rint(released, out=released)\n",
        "",
        (MECHANISMS,),
    ),
    Mutant(
        "value that isn't rounded",
        "_mechanisms.py",
        "released += np.rint(steps, out=steps)",
        "released += steps",
        (MECHANISMS,),
    ),
    Mutant(
        "spherical noise of one dimension less",
        "_mechanisms.py",
        "stream.gamma(noise.size)",
        "stream.gamma(max(1, noise.size - 1))",
        (MECHANISMS,),
    ),
    Mutant(
        "the smallest noise of a batch and not the largest",
        "_mechanisms.py",
        "float(noise_multipliers.max())",
        "float(noise_multipliers.min())",
        (MECHANISMS, CHECKS),
    ),
    Mutant(
        "grid too fine for exact sums",
        "_mechanisms.py",
        "_EXACT_STEPS = 2.0**40",
        "_EXACT_STEPS = 2.0**60",
        (MECHANISMS,),
    ),
    Mutant(
        "normals handed out twice",
        "_random.py",
        "        self._used = start + size\n",
        "        self._used = start + size // 2\n",
        (RANDOM,),
    ),
    Mutant(
        "a forked process goes on with its parent's block",
        "_random.py",
        "self._used + size > self._normals.size or self._pid != os.getpid()",
        "self._used + size > self._normals.size",
        (RANDOM,),
    ),
    Mutant(
        "coarse uniforms near zero",
        "_random.py",
        "        if sparse.size:\n",
        "        if False:\n",
        (RANDOM,),
    ),
    Mutant(
        "one stream for coins and noise",
        "_random.py",
        "return [SeededStream(child) for child in self._seed_sequence.spawn(n_streams)]",
        "return [SeededStream(self._seed_sequence) for _ in range(n_streams)]",
        (RANDOM,),
    ),
    Mutant(
        "sampling rate doubled",
        "_sampling.py",
        "    log_tail = np.log1p(-rate)\n",
        "    log_tail = np.log1p(-min(2.0 * rate, 0.999))\n",
        (SAMPLING,),
    ),
    Mutant(
        "the rate that is run isn't the rate that is reported",
        "_sampling.py",
        'return {"sampling_rate": self.rate, "n_steps": self.n_steps}',
        'return {"sampling_rate": 0.5 * self.rate, "n_steps": self.n_steps}',
        (REPLAY, PLAN, PLAN_GRADIENT, HIDDEN),
    ),
    Mutant(
        "one step less in the account",
        "_sampling.py",
        'return {"sampling_rate": self.rate, "n_steps": self.n_steps}',
        'return {"sampling_rate": self.rate, "n_steps": self.n_steps - 1}',
        (REPLAY, CHECKS),
    ),
    Mutant(
        "shuffled epochs in place of coins",
        "_sampling.py",
        "            heads = _heads(stream, self.rate, n_steps * self.n_rows)\n",
        "            size = max(1, round(self.rate * self.n_rows))\n"
        "            heads = np.sort(np.concatenate([\n"
        "                s * self.n_rows + np.argsort(stream.uniform(self.n_rows))[:size]\n"
        "                for s in range(n_steps)\n"
        "            ]))\n",
        (SAMPLING,),
    ),
    Mutant(
        "mean by the true batch size",
        "_sampling.py",
        '        """Return what makes a batch\'s sum a mean: the expected size, the true one being '
        'secret."""\n        return self.expected_size\n',
        "        return max(1, batch.size)\n",
        (REPLAY, GRADIENT),
    ),
    Mutant(
        "batches of a partition overlap",
        "_sampling.py",
        "                yield order[first:last]\n",
        "                yield order[max(0, first - 1) : last]\n",
        (SAMPLING,),
    ),
    Mutant(
        "batches by budget overlap",
        "_sampling.py",
        "                yield order[ends[part] - self.sizes[part] : ends[part]]\n",
        "                yield order[max(0, ends[part] - self.sizes[part] - 1) : ends[part]]\n",
        (SAMPLING, REPLAY),
    ),
    Mutant(
        "batches by budget of records in the order of the data",
        "_sampling.py",
        '            order = order[np.argsort(self.keys[order], kind="stable")]\n',
        '            order = np.argsort(self.keys, kind="stable")\n',
        (SAMPLING,),
    ),
    Mutant(
        "rows beyond the bound keep their length",
        "_bounds.py",
        "            scale[over] = data_norm / norm[over]\n",
        "            scale[over] = 1.0\n",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "intercept column left out of the norm",
        "_bounds.py",
        "        norm = np.hypot(norm, bias)\n",
        "        norm = norm + 0.0\n",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "contributions that aren't clipped",
        "_clipping.py",
        "    contributions *= factor if contributions.ndim == 1 else factor[:, np.newaxis]\n",
        "",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "outputs clipped one by one",
        "_clipping.py",
        '        factor = np.sqrt(np.einsum("ij,ij->i", contributions, contributions))\n',
        "        factor = np.abs(contributions).max(axis=1)\n",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "a null record that contributes",
        "_clipping.py",
        "        contributions[row_norm == 0.0] = 0.0\n",
        "        pass\n",
        (REPLAY, BOUNDS),
    ),
    Mutant(
        "contributions that overflowed stay",
        "_clipping.py",
        "        contributions[~np.isfinite(contributions)] = 0.0\n",
        "        pass\n",
        (BOUNDS,),
    ),
    Mutant(
        "clipping factors that sums leave out",
        "_solvers/_gathered.py",
        "            factors = factors * self._scale\n",
        "            pass\n",
        (DUAL, REPLAY),
    ),
    Mutant(
        "entries clipped at twice the bound",
        "_clipping.py",
        "    far = bound if contributions.ndim == 1 else bound * _FAR\n",
        "    far = 2.0 * bound if contributions.ndim == 1 else bound * _FAR\n",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "feature bounds that don't clip",
        "_bounds.py",
        "            np.clip(features[block], low, high, out=features[block])\n",
        "            pass\n",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "targets that aren't clipped",
        "_bounds.py",
        "        y = np.clip(y, low, high)\n",
        "        y = y + 0.0\n",
        (BOUNDS, REPLAY),
    ),
    Mutant(
        "noisy dual accounted as the exact one",
        "_plans/_dpscd.py",
        "bound_per_clip=math.sqrt(2.0) if noisy_dual else 1.0",
        "bound_per_clip=1.0",
        (REPLAY, PLAN),
    ),
    Mutant(
        "n for n + 1 in the pairwise bound",
        "_plans/_dpscd.py",
        "        bound_per_clip=2.0 * math.sqrt(batch_size * (batch_size + 1)),\n"
        "        size=problem.n_columns + batch_size,\n",
        "        bound_per_clip=math.sqrt(batch_size * (batch_size + 1)),\n"
        "        size=problem.n_columns + batch_size,\n",
        (REPLAY, PLAN),
    ),
    Mutant(
        "primal updates that don't add up in the bound",
        "_plans/_dpscd.py",
        "sqrt(batch_size * (batch_size + 1)),\n        size=problem.n_rows",
        "sqrt(2.0 * batch_size),\n        size=problem.n_rows",
        (REPLAY,),
    ),
    Mutant(
        "adjacency left out of the calibration",
        "_plans/_base.py",
        "            adjacency=self.adjacency,\n            accountant=self.accountant,\n",
        "            accountant=self.accountant,\n",
        (PLAN, "tests/linear_model/test_dpscd.py"),
    ),
    Mutant(
        "noise that begins without the start of a plan",
        "linear_model/_dpsgd_base.py",
        "        stream = plan.start(self.random_state)\n",
        "        from skdp._random import SecureStream\n\n        stream = SecureStream()\n",
        ("tests/test_architecture.py",),
    ),
    Mutant(
        "half the steps of DP-SGD in the calibration",
        "_plans/_dpsgd.py",
        "sampling_rate=sampler.rate, n_steps=n_steps)",
        "sampling_rate=sampler.rate, n_steps=max(1, n_steps // 2))",
        (PLAN_GRADIENT, CHECKS),
    ),
    Mutant(
        "the release of mean squares is free",
        "_plans/_dpcd.py",
        "multiplier = budget.calibrate(n_steps=n_steps) * math.sqrt(rest)",
        "multiplier = budget.calibrate(n_steps=n_steps)",
        (PLAN_COORDINATE,),
    ),
    Mutant(
        "steps of the intercept's coordinate left out of the account",
        "_plans/_dpcd.py",
        "budget.calibrate(n_steps=n_steps)",
        "budget.calibrate(n_steps=n_passes * problem.n_features)",
        (REPLAY,),
    ),
    Mutant(
        "a stream that reports its last epsilon",
        "_plans/_dpsgd.py",
        "max(epsilon, before.epsilon)",
        "epsilon",
        (REPLAY,),
    ),
    Mutant(
        "a stream that reports its first epsilon",
        "_plans/_dpsgd.py",
        "max(epsilon, before.epsilon)",
        "before.epsilon",
        (REPLAY,),
    ),
    Mutant(
        "a stream that reports the noise of its last call",
        "_plans/_dpsgd.py",
        "        least = min(least, event.noise_multiplier)\n",
        "",
        (REPLAY,),
    ),
    Mutant(
        "budgets that passes don't share",
        "_plans/_dpsgd.py",
        "calibrate_pure(max_iter)",
        "calibrate_pure(1)",
        (REPLAY,),
    ),
    Mutant(
        "personal budgets that passes don't share",
        "_plans/_dpsgd.py",
        "calibrate_pure(max_iter, sample_epsilon)",
        "calibrate_pure(1, sample_epsilon)",
        (REPLAY,),
    ),
    Mutant(
        "mean squares of one column in the sensitivity",
        "_plans/_dpcd.py",
        "contribution_bound=_distance_of_moments(problem, budget) if private",
        "contribution_bound=1.0 if private",
        (REPLAY, PLAN_COORDINATE),
    ),
    Mutant(
        "means left out of the sensitivity of what is bought",
        "_plans/_dpcd.py",
        "    return math.hypot(squares, ",
        "    return math.hypot(squares, 0.0 * ",
        (PLAN_COORDINATE,),
    ),
    Mutant(
        "two records' means as far apart as a record's and a null record's",
        "_plans/_dpcd.py",
        "(2.0 if both else 1.0))",
        "1.0)",
        (PLAN_COORDINATE,),
    ),
    Mutant(
        "a norm that bounds without 0 in them don't keep",
        "_bounds.py",
        "shortens = (low <= 0.0).all() and (high >= 0.0).all()",
        "shortens = True",
        ("tests/test_bounds.py",),
    ),
    Mutant(
        "the intercept's own steps left out of the account",
        "_plans/_dpcd.py",
        "n_steps = n_passes * problem.n_columns + n_alone",
        "n_steps = n_passes * problem.n_columns",
        (PLAN_COORDINATE, REPLAY),
    ),
    Mutant(
        "a flip of several classes moves one sum",
        "_plans/_walr.py",
        "longest * (math.sqrt(2.0) if several else 1.0)",
        "longest",
        (LABEL,),
    ),
    Mutant(
        "responses have a smaller probability than is accounted",
        "_plans/_walr.py",
        "return RandomizedResponse(self.flip_probability,",
        "return RandomizedResponse(0.5 * self.flip_probability,",
        (RESPONSE,),
    ),
    Mutant(
        "flips are rounded down",
        "accountant/_pure.py",
        "math.ceil(exact / _COIN) * _COIN",
        "math.floor(exact / _COIN - 1.0) * _COIN",
        (RESPONSE,),
    ),
    Mutant(
        "flips aren't moved up until they are enough",
        "accountant/_pure.py",
        '    while RandomizedResponseEvent(flip, n_classes).epsilon("replace_label") > epsilon:\n',
        "    while False:\n",
        (RESPONSE,),
    ),
    Mutant(
        "flips of one class too many",
        "_plans/_walr.py",
        "calibrate_response(budget.epsilon, n_classes=n_classes)",
        "calibrate_response(budget.epsilon, n_classes=n_classes + 1)",
        (RESPONSE,),
    ),
    Mutant(
        "the last class is never drawn",
        "_mechanisms.py",
        "shift[shift >= self.n_classes] = 0",
        "shift[shift >= max(2, self.n_classes - 1)] = 0",
        (RESPONSE,),
    ),
    Mutant(
        "a word more keeps the label",
        "_mechanisms.py",
        "stream.words(value.size) // np.uint64(words)",
        "(stream.words(value.size) | np.uint64(1)) // np.uint64(words)",
        (RESPONSE,),
    ),
    Mutant(
        "sums of labels as they were",
        "_solvers/_walr_noise.py",
        "codes = self.plan.mechanism().release(codes, stream)",
        "self.plan.mechanism().release(codes, stream)",
        (RESPONSE,),
    ),
    Mutant(
        "a group of labels has the coin of one",
        "accountant/_events.py",
        "return replace(self, n_steps=self.n_steps * group_size)",
        "return replace(self, n_steps=self.n_steps)",
        (PURE,),
    ),
    Mutant(
        "responses protect rows",
        "accountant/_events.py",
        '        if adjacency != "replace_label":\n',
        '        if adjacency == "":\n',
        (PURE,),
    ),
    Mutant(
        "flips aren't compared with epsilon",
        "linear_model/_response_aggregate.py",
        'if not event.epsilon("replace_label") <= self.epsilon * (1.0 + 1e-9):',
        "if False:",
        (AGGREGATE,),
    ),
    Mutant(
        "unlike aggregates add up",
        "linear_model/_label_aggregate.py",
        "if self.mechanism != other.mechanism:",
        "if False:",
        (LABEL,),
    ),
    Mutant(
        "of flips in parts not the smallest",
        "linear_model/_label_aggregate.py",
        "{name: min(of[name]) for name in self._smallest}",
        "{name: max(of[name]) for name in self._smallest}",
        (LABEL,),
    ),
    Mutant(
        "rows aren't compared with an aggregate's noise",
        "linear_model/_label_release.py",
        "            aggregate._check_rows(public.multiplied())\n",
        "            pass\n",
        (AGGREGATE,),
    ),
    Mutant(
        "rows are compared with the noise of all parts",
        "linear_model/_label_aggregate.py",
        "for part in self.parts or (self,)",
        "for part in (self,)",
        (AGGREGATE,),
    ),
    Mutant(
        "half the noise is enough for three classes",
        "linear_model/_label_aggregate.py",
        "math.sqrt(2.0 if self.classes.size > 2 else 1.0)",
        "1.0",
        (AGGREGATE,),
    ),
    Mutant(
        "noise isn't compared with multiplier and sensitivity",
        "linear_model/_label_aggregate.py",
        "if not LENIENT * largest >=",
        "if not math.inf >=",
        (AGGREGATE,),
    ),
    Mutant(
        "noise isn't compared with the mean row",
        "linear_model/_label_aggregate.py",
        "self._moves(mean_length(self.noise_cov, mean))",
        "0.0",
        (AGGREGATE,),
    ),
    Mutant(
        "the mean row and not the longest",
        "_solvers/_walr_noise.py",
        "float(public.mapped_norms(transform).max())",
        "float(public.mapped_norms(transform).mean())",
        (REPLAY,),
    ),
    Mutant(
        "the longest mapped row of the first block",
        "_solvers/_walr_noise.py",
        "public.mapped_norms(transform).max()",
        "public.mapped_norms(transform)[:2048].max()",
        (REPLAY,),
    ),
    Mutant(
        "the longest row of the first block",
        "_solvers/_walr.py",
        "self.norms.max()",
        "self.norms[:2048].max()",
        (REPLAY,),
    ),
    Mutant(
        "an intercept's entry of gathered rows that is twice as long",
        "_bounds.py",
        "        out[:, -1] = self.bias\n",
        "        out[:, -1] = 2.0 * self.bias\n",
        (REPLAY,),
    ),
    Mutant(
        "an intercept's column of length 1 at most",
        "_bounds.py",
        "np.append(reach, bias)",
        "np.append(reach, min(bias, 1.0))",
        (REPLAY,),
    ),
    Mutant(
        "a dual step from what wasn't released",
        "_solvers/_dpscd.py",
        "                shared += mechanism.release(increment, noise)\n",
        "                mechanism.release(increment, noise)\n"
        "                shared += increment\n",
        (REPLAY, DUAL),
    ),
    Mutant(
        "a centre that follows what wasn't released",
        "_solvers/_dpscd.py",
        "            centre += sampler.rate * (theta - centre)\n",
        "            centre += sampler.rate * (theta + increment * per_theta - centre)\n",
        (REPLAY, DUAL),
    ),
    Mutant(
        "an automatic clip that isn't the mechanism's",
        "_plans/_dpscd.py",
        "contribution_bound=bound_per_clip * clip,",
        "contribution_bound=bound_per_clip * min(clip, largest_clip),",
        (REPLAY, "tests/plans/test_proximal.py"),
    ),
    Mutant(
        "sequential updates clipped by what they add to v alone",
        "_solvers/_dpscd.py",
        "    reach = joint_reach(rows.norm)\n",
        "    reach = rows.norm\n",
        (REPLAY,),
    ),
    Mutant(
        "updates of the sequential form without its dual variable's release",
        "_solvers/_dpscd.py",
        "            dual[batch] = a + per_weight(zetas, counted[batch])\n",
        "            dual[batch] = a\n",
        (DUAL, "tests/linear_model/test_dpscd.py"),
    ),
    Mutant(
        "the budgets of other records than those of the batch",
        "_solvers/_dpsgd.py",
        "noise_multipliers[batch]",
        "noise_multipliers[: batch.size]",
        (REPLAY,),
    ),
    Mutant(
        "gradients that aren't clipped",
        "_solvers/_dpsgd.py",
        "        clip_contributions(slopes, norm, bound, counted)\n",
        "",
        (REPLAY, GRADIENT),
    ),
    Mutant(
        "momentum that forgets the last move",
        "_solvers/_dpsgd.py",
        "                last_move = move\n",
        "",
        (GRADIENT,),
    ),
    Mutant(
        "a clip that doesn't know the number of columns",
        "_plans/_dpsgd_rules.py",
        "problem.caution * math.sqrt(problem.n_columns) * noise",
        "problem.caution * noise",
        (PLAN_GRADIENT,),
    ),
    Mutant(
        "a reach for each coordinate",
        "_plans/_dpsgd_rules.py",
        "problem.reach / math.sqrt(min(problem.n_columns, _MANY_COLUMNS))",
        "problem.reach",
        (PLAN_GRADIENT,),
    ),
    Mutant(
        "a reach that many columns share",
        "_plans/_dpsgd_rules.py",
        "min(problem.n_columns, _MANY_COLUMNS)",
        "problem.n_columns",
        (PLAN_GRADIENT,),
    ),
    Mutant(
        "steps that are noisier than they are worth",
        "_plans/_dpsgd_rules.py",
        "        entry = min(entry, _WORTH * math.sqrt(n_steps) / noise)\n",
        "",
        (PLAN_GRADIENT,),
    ),
    Mutant(
        "steps that are too long to be stable",
        "_plans/_dpsgd_rules.py",
        "min(wanted, longest / (1.0 - momentum))), momentum)",
        "wanted), momentum)",
        (PLAN_GRADIENT,),
    ),
    Mutant(
        "a clip of the wrong noise",
        "_plans/_dpsgd.py",
        "auto_slope(problem, noise / math.sqrt(n_steps))",
        "auto_slope(problem, noise)",
        (PLAN_GRADIENT,),
    ),
    Mutant(
        "the gradient and not its release",
        "_solvers/_dpsgd.py",
        "                released = mechanism.release(total, noise)\n",
        "                mechanism.release(total, noise)\n                released = total\n",
        (REPLAY, GRADIENT),
    ),
    Mutant(
        "coordinates that aren't clipped",
        "_solvers/_dpcd.py",
        "        clip_entries(buffer, self._bound)\n",
        "",
        (COORDINATE, REPLAY),
    ),
    Mutant(
        "mean squares without noise",
        "_solvers/_dpcd.py",
        "        released = mechanism.release(total, noise) / X.shape[0]\n",
        "        mechanism.release(total, noise)\n        released = total / X.shape[0]\n",
        (COORDINATE, REPLAY),
    ),
    Mutant(
        "replacing never doubles",
        "accountant/_events.py",
        'factor = 2.0 if adjacency == "replace_one" and not self.pairwise else 1.0\n'
        "        return factor",
        "factor = 1.0\n        return factor",
        (CALIBRATION, REPORT),
    ),
    Mutant(
        "pairwise bounds doubled",
        "accountant/_events.py",
        'factor = 2.0 if adjacency == "replace_one" and not self.pairwise else 1.0\n',
        'factor = 2.0 if adjacency == "replace_one" else 1.0\n',
        (REPORT, PLAN, CHECKS, "tests/linear_model/test_dpscd.py"),
    ),
    Mutant(
        "T for sqrt(T)",
        "accountant/_events.py",
        "return factor * math.sqrt(self.n_steps) / self.noise_multiplier",
        "return factor / self.noise_multiplier",
        (CALIBRATION, REPORT),
    ),
    Mutant(
        "pure epsilons of several passes don't add up",
        "accountant/_events.py",
        "return pure_factor(adjacency) * self.n_steps / self.noise_multiplier",
        "return pure_factor(adjacency) / self.noise_multiplier",
        (PURE,),
    ),
    Mutant(
        "groups of any size cost as one record",
        "accountant/_events.py",
        "self, noise_multiplier=self.noise_multiplier / group_size, sampling_rate=rate\n",
        "self, noise_multiplier=self.noise_multiplier, sampling_rate=rate\n",
        (REPORT,),
    ),
    Mutant(
        "one direction of add and remove",
        "accountant/_loss_distribution.py",
        '("replace",) if adjacency == "replace_one" else ("remove", "add")',
        '("replace",) if adjacency == "replace_one" else ("add",)',
        (CALIBRATION,),
    ),
    Mutant(
        "replacing accounted as removing",
        "accountant/_loss_distribution.py",
        'directions = ("replace",) if adjacency == "replace_one" else ("remove", "add")',
        'directions = ("remove", "add")',
        (CALIBRATION,),
    ),
    Mutant(
        "calibration that stops outside",
        "accountant/_calibration.py",
        "    while _get_epsilon(noise, delta, *design) > epsilon:\n",
        "    noise *= 0.98\n    while False:\n",
        (CALIBRATION,),
    ),
    Mutant(
        "composition that forgets deltas",
        "accountant/_compose.py",
        "    delta = math.fsum(report.delta for report in reports)\n",
        "    delta = max(report.delta for report in reports)\n",
        (REPORT,),
    ),
    Mutant(
        "several seeded fits composed",
        "accountant/_compose.py",
        "if sum(report.reproducible for report in reports) > 1:",
        "if sum(report.reproducible for report in reports) > 1000:",
        (REPORT,),
    ),
    Mutant(
        "an epsilon that is believed",
        "accountant/_report.py",
        "if self.epsilon * (1 + _TOLERANCE) < epsilon:",
        "if self.epsilon < 0:",
        (REPORT, REPORT_JSON),
    ),
    Mutant(
        "an epsilon that is believed by 1 %",
        "accountant/_report.py",
        '        object.__setattr__(self, "epsilon", epsilon)\n',
        "",
        (REPORT, REPORT_JSON),
    ),
    Mutant(
        "an edited epsilon that bounds an attack",
        "accountant/_report.py",
        "        epsilon = self._certified_epsilon()\n        if math.isfinite(epsilon):\n",
        "        epsilon = self.epsilon\n        if math.isfinite(epsilon):\n",
        (REPORT,),
    ),
    Mutant(
        "an epsilon that holds at a larger delta only",
        "accountant/_profile.py",
        "(sum(event.n_steps for event in events)):\n        return found\n",
        "(sum(event.n_steps for event in events)):\n        delta = smallest_pld_delta(1)\n",
        (REPORT, REPORT_JSON),
    ),
    Mutant(
        "a unit that is believed",
        "accountant/_report.py",
        "if self.unit not in units:",
        "if not self.unit:",
        (REPORT,),
    ),
    Mutant(
        "composition of unchecked reports",
        "accountant/_compose.py",
        "    reports = tuple(dataclasses.replace(report) for report in reports)\n",
        "",
        (REPORT,),
    ),
    Mutant(
        "a seed that isn't a condition",
        "accountant/_report.py",
        "is_seeded = self.reproducible and math.isfinite(self.epsilon)",
        "is_seeded = False",
        (REPORT,),
    ),
    Mutant(
        "a Markdown report that keeps quiet about the seed",
        "accountant/_report.py",
        '            yield "Seed", _SEED_WARNING\n',
        "            pass\n",
        (REPORT_MARKDOWN,),
    ),
    Mutant(
        "a Markdown report whose words are markup",
        "accountant/_report_markdown.py",
        "_MARKUP.sub(",
        "re.compile('$^').sub(",
        (REPORT_MARKDOWN,),
    ),
    Mutant(
        "a Markdown report whose addresses are links",
        "accountant/_report_markdown.py",
        '.replace("@", _AT)',
        "",
        (REPORT_MARKDOWN,),
    ),
    Mutant(
        "a file of a report with words of its own",
        "accountant/_report.py",
        "        vars(self).update(state)\n        self._check_words()\n",
        "        vars(self).update(state)\n",
        (REPORT, PERSISTENCE),
    ),
    Mutant(
        "a stranger's ledger that is trusted",
        "utils/persistence.py",
        "_INSIDE = (\n",
        '_INSIDE = (\n    "skdp.ledger._ledger.PrivacyLedger",\n',
        (PERSISTENCE,),
    ),
    Mutant(
        "a seed in the name of a graph",
        "onnx/_predictors.py",
        '"output_names": [operator.outputs[place]]}',
        '"output_names": [operator.outputs[place]]}\n'
        '    seed = scope.get_unique_variable_name(f"s{operator.raw_operator.random_state}")\n'
        "    container.add_initializer(seed, 1, [1], [0.0])",
        (ONNX,),
    ),
    Mutant(
        "integers in float32",
        "onnx/_graph.py",
        "wide = (DoubleTensorType, Int64TensorType)",
        "wide = DoubleTensorType",
        (ONNX,),
    ),
    Mutant(
        "a classifier converted for one input",
        "onnx/_predictors.py",
        "input_count_range=[1, None]",
        "input_count_range=1",
        (ONNX,),
    ),
    Mutant(
        "closed forms that cancel",
        "accountant/_divergences.py",
        "_SMALL_MU = 1e-3\n",
        "_SMALL_MU = 0.0\n",
        (PRECISION,),
    ),
    Mutant(
        "closed forms rounded to nearest",
        "accountant/_divergences.py",
        "return found * (1 - 1e-11)",
        "return found",
        (PRECISION,),
    ),
    Mutant(
        "filter: only the largest of several erasures counts",
        "accountant/_events.py",
        "if len(probabilities) < 2 or max(probabilities) == 1:",
        "if True:",
        (
            FILTER,
            ERASURE,
        ),
    ),
    Mutant(
        "filter: mu of several fits doesn't add up",
        "accountant/_filter.py",
        "GaussianCost(math.hypot(self.mu, other.mu), erasure)",
        "GaussianCost(max(self.mu, other.mu), erasure)",
        (FILTER,),
    ),
    Mutant(
        "filter: one direction of a profile",
        "accountant/_loss_distribution.py",
        "float(epsilon)) for direction in self._directions)",
        "float(epsilon)) for direction in self._directions[-1:])",
        (FILTER,),
    ),
    Mutant(
        "filter: an erasure that isn't spent",
        "accountant/_filter.py",
        "GaussianCost(dominating_mu(profile, erasure), erasure)",
        "GaussianCost(dominating_mu(profile, erasure))",
        (FILTER,),
    ),
    Mutant(
        "filter: lines looked at where they start, not where they meet",
        "accountant/_filter.py",
        "powers = deltas[1:] - np.diff(deltas) / -np.expm1(-np.diff(epsilons))",
        "powers = deltas[1:]",
        (FILTER,),
    ),
    Mutant(
        "filter: no corner of a line with its mirror image",
        "accountant/_filter.py",
        "diagonal = np.max(np.log1p(-deltas) - np.logaddexp(0.0, epsilons))",
        "diagonal = -math.log(2.0)",
        (FILTER,),
    ),
    Mutant(
        "filter: a gap between lines passed over",
        "accountant/_filter.py",
        "while met and level >= met[-1]:",
        "while met and level < met[-1]:",
        (FILTER,),
    ),
    Mutant(
        "filter: pure steps cost as one",
        "accountant/_filter.py",
        "return event.n_steps * mu**2",
        "return mu**2",
        (FILTER,),
    ),
    Mutant(
        "filter: a pair's distance for a record that goes and one that comes",
        "accountant/_filter.py",
        "events = there_and_back(events)",
        "events = tuple(events)",
        (FILTER,),
    ),
    Mutant(
        "filter: a pair's distance inside a search for a record that goes and one that comes",
        "accountant/_selection_event.py",
        "replace(event, alternatives=tuple(map(there_and_back, event.alternatives)))",
        "(event.scaled_to_group(2) if event.pairwise else event)",
        (FILTER,),
    ),
    Mutant(
        "private selection: erasures that cost nothing",
        "accountant/_selection_event.py",
        "INSIDE = (GaussianEvent, LaplaceEvent, NoisyMaxEvent)",
        "from skdp.accountant._events import EVENTS\n\nINSIDE = (NoisyMaxEvent, *EVENTS)",
        (SELECTION,),
    ),
    Mutant(
        "filter: an erasure beside the whole delta",
        "accountant/_filter.py",
        "rest = (delta - erasure) / (1 - erasure) * (1 - 2 * _ROUNDING)",
        "rest = delta",
        (FILTER,),
    ),
    Mutant(
        "filter: a budget of which one number is kept",
        "accountant/_filter.py",
        "self.mu <= budget.mu * slack and self.erasure",
        "self.mu <= budget.mu * slack or self.erasure",
        (FILTER,),
    ),
    Mutant(
        "filter: stated epsilons that are believed",
        "accountant/_filter.py",
        "events = checked_releases(report.events)",
        "events = report.events",
        (FILTER,),
    ),
    Mutant(
        "erasures that a profile forgets",
        "accountant/_profile.py",
        "    if erasure > 0:\n",
        "    if erasure > 1:\n",
        (ERASURE,),
    ),
    Mutant(
        "erasures of groups as of one record",
        "accountant/_events.py",
        "return self if group_size == 1 else ErasureEvent(1.0)",
        "return self",
        (ERASURE,),
    ),
    Mutant(
        "the same noise for every class",
        "_mechanisms.py",
        "        released = self._draw(value.shape, stream)\n",
        "        released = self._draw(value.shape, stream)\n"
        "        if released.ndim == 2:\n"
        "            released[:] = released[0]\n",
        (MECHANISMS, REPLAY, CHECKS),
    ),
    Mutant(
        "no clipping after the first call",
        "linear_model/_dpsgd_base.py",
        "self._solve(plan, rows, targets, stream, weights, **resumed",
        "self._solve(replace(plan, clipping_norm=1e300) if before.n_calls else plan, rows, "
        "targets, stream, weights, **resumed",
        (REPLAY,),
    ),
    Mutant(
        "off-diagonal entries of a whitening moment as if their noise had variance 1/4",
        "_mechanisms.py",
        "    vector[off_diagonal] *= math.sqrt(2.0)\n",
        "    vector[off_diagonal] *= 2.0\n",
        (MECHANISMS, REPLAY),
    ),
    Mutant(
        "half of the noise of a whitening moment off its diagonal",
        "_mechanisms.py",
        "    entries[off_diagonal] /= math.sqrt(2.0)\n",
        "    entries[off_diagonal] /= 2.0\n",
        (MECHANISMS,),
    ),
    Mutant(
        "a matrix of standard errors whose traces nothing bounds",
        "_solvers/_inference_sums.py",
        "np.minimum(weights, bound / np.maximum(lengths, _SHORTEST) ** 2, out=weights)",
        "pass",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "a bound of the matrix that holds for the mean weight alone",
        "_solvers/_inference_sums.py",
        "np.minimum(weights, bound / np.maximum(lengths, _SHORTEST) ** 2, out=weights)",
        "np.minimum(weights, 0.25, out=weights)",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "null rows with a weight in standard errors",
        "_solvers/_inference_sums.py",
        "(self._lengths[block] == 0.0) | ~np.isfinite(weights)",
        "~np.isfinite(weights)",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "shares of a row above 1",
        "_solvers/_inference_sums.py",
        "total[0] += np.fmin(shares, 1.0).sum()",
        "total[0] += 2.0 * np.fmin(shares, 1.0).sum()",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "targets without bounds that are taken to be in [-1, 1]",
        "linear_model/_whitened.py",
        "        return self.target_bounds is not None\n",
        "        return True\n",
        (LINEAR_INFERENCE,),
    ),
    Mutant(
        "intervals of targets without bounds",
        "_solvers/_errors.py",
        "plan.budget.is_private and not plan.problem.bounded_targets",
        "False",
        (SOLVER_INFERENCE, LINEAR_INFERENCE),
    ),
    Mutant(
        "a longest slope of targets without bounds",
        "_solvers/_inference.py",
        "model.steepest * longest if problem.bounded_targets else math.inf",
        "model.steepest * longest",
        (SOLVER_INFERENCE,),
    ),
    Mutant(
        "a clip above the longest slope",
        "_solvers/_inference.py",
        "min(model.next_clip(clip, first_share, jitter, noise, n_rows / columns), largest)",
        "model.next_clip(clip, first_share, jitter, noise, n_rows / columns)",
        (SOLVER_INFERENCE,),
    ),
    Mutant(
        "few rows that lose no more along a direction than others",
        "_solvers/_errors.py",
        "(out @ axes) * (np.sqrt(along) / lengths)",
        "(out @ axes) / length",
        (SOLVER_INFERENCE,),
    ),
    Mutant(
        "few rows that lose no more than is counted",
        "_solvers/_errors.py",
        "np.where(_are_rare(along, r), worst, 1.0)",
        "1.0",
        (SOLVER_INFERENCE,),
    ),
    Mutant(
        "a logistic loss without a bend",
        "_solvers/_inference_models.py",
        "    bend: float = 0.5\n",
        "    bend: float = 0.0\n",
        (SOLVER_INFERENCE,),
    ),
    Mutant(
        "scalars of standard errors that aren't accounted",
        "_plans/_inference.py",
        "        return moment, settling, scale, kept, means, matrix\n",
        "        return moment, settling, kept, matrix\n",
        (PLAN_INFERENCE, REPLAY),
    ),
    Mutant(
        "two numbers of standard errors as near as one",
        "_plans/_inference.py",
        "self._pair_mechanism(math.sqrt(2.0), 2, _MEANS_SHARE)",
        "self._pair_mechanism(1.0, 2, _MEANS_SHARE)",
        (PLAN_INFERENCE,),
    ),
    Mutant(
        "what clipping took of a row without a bound",
        "_solvers/_inference_sums.py",
        "np.fmin(np.maximum(lost, 0.0), 1.0)",
        "np.maximum(lost, 0.0)",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "null rows of which clipping took something",
        "_solvers/_inference_sums.py",
        "1.0)[lengths > 0.0].sum()",
        "1.0).sum()",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "a pair's matrices of standard errors as near as a record's",
        "_plans/_inference.py",
        'bound * math.sqrt(2.0) if self.budget.adjacency == "replace_one" else bound',
        "bound",
        (PLAN_INFERENCE, REPLAY),
    ),
    Mutant(
        "a record's matrix of standard errors claimed to be a pair's",
        "_plans/_inference.py",
        "GaussianEvent(multiplier, pairwise=moment.pairwise)",
        "GaussianEvent(multiplier, pairwise=True)",
        (PLAN_INFERENCE, REPLAY),
    ),
    Mutant(
        "standard errors that are paid by nobody",
        "_plans/_inference.py",
        "_SCALE_SHARE - _MEANS_SHARE - _MATRIX_SHARE\n",
        "0.0\n",
        (PLAN_INFERENCE, REPLAY),
    ),
    Mutant(
        "standard errors of the exact matrix",
        "_solvers/_inference.py",
        "    released = matrix_mechanism.release(\n"
        "        sums.matrix(u[:, np.newaxis], bound, matrix_mechanism), stream\n"
        "    )\n",
        "    released = sums.matrix(u[:, np.newaxis], bound, matrix_mechanism)\n"
        "    matrix_mechanism.release(released, stream)\n",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "shares of rows without their noise",
        "_solvers/_inference.py",
        "        total = mechanism.release(sums.means(u[:, np.newaxis], mechanism), stream)\n",
        "        total = sums.means(u[:, np.newaxis], mechanism)\n"
        "        mechanism.release(total, stream)\n",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "the second clip with the bound of the first",
        "_solvers/_inference.py",
        "noise, n_rows / columns), largest)\n        sums.bound_slopes(white.A, clip)\n",
        "noise, n_rows / columns), largest)\n",
        (SOLVER_INFERENCE,),
    ),
    Mutant(
        "whitening by the exact moment",
        "_solvers/_whitened.py",
        "        released = "
        "plan.moment_mechanism.release(sums.moment(plan.moment_mechanism), stream)\n",
        "        released = sums.moment(plan.moment_mechanism)\n"
        "        plan.moment_mechanism.release(released, stream)\n",
        (SOLVER_WHITENED, REPLAY),
    ),
    Mutant(
        "the clip of whitened rows from the exact moment",
        "_solvers/_whitened.py",
        "    steps = choose_steps(white, plan, rules)\n    sums",
        "    exact = moment\n"
        "    if moment is not None:\n"
        "        exact = sums.moment(plan.moment_mechanism)\n"
        "        exact = as_symmetric(exact, problem.n_columns) / problem.n_rows\n"
        "    steps = choose_steps(whiten(exact, plan), plan, rules)\n"
        "    sums",
        (SOLVER_WHITENED, REPLAY),
    ),
    Mutant(
        "whitened steps by what wasn't released",
        "_solvers/_whitened.py",
        "        released = mechanism.release(sums.slopes(w, mechanism), stream)\n",
        "        released = sums.slopes(w, mechanism)\n"
        "        mechanism.release(released, stream)\n",
        (REPLAY,),
    ),
    Mutant(
        "lengths of whitened rows by another map",
        "_solvers/_row_sums.py",
        "self._sum(self._set_lengths, (), float, A)",
        "self._sum(self._set_lengths, (), float, np.diag(np.diag(A)))",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "whitened rows that aren't clipped",
        "_solvers/_row_sums.py",
        "        clip_contributions(slopes, self._lengths[block], self._bound, weights)\n",
        "",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "null rows that count in the intercept's entry of a whitening moment",
        "_solvers/_row_sums.py",
        "            counted = counted * ~self._is_null[block]\n",
        "            pass\n",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "null rows that count in a whitening moment",
        "_solvers/_row_sums.py",
        "            x = self._blocks.scaled(x, ~self._is_null[block])\n",
        "            pass\n",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "null rows that count in whitened steps",
        "_solvers/_row_sums.py",
        "            self._lengths[self._is_null] = 0.0\n",
        "            pass\n",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "rows of any length in a whitening moment",
        "_solvers/_row_sums.py",
        "            x = self._blocks.scaled(x, scale)\n",
        "            pass\n",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "whitened sums of groups that aren't rounded",
        "_solvers/_row_sums.py",
        "            return mechanism.rounded(self._A @ total)\n",
        "            return self._A @ total\n",
        (ROW_SUMS,),
    ),
    Mutant(
        "the intercept outside the bound of a whitening moment",
        "linear_model/_whitened.py",
        "row_norm=augmented_norm(data_norm, self.fit_intercept)",
        "row_norm=data_norm",
        (REPLAY,),
    ),
    Mutant(
        "shares of a whitening budget that add up to more than it",
        "_plans/_whitened.py",
        "SPLIT_SLACK * noise / math.sqrt(1.0 - moment_budget)",
        "SPLIT_SLACK * noise",
        (PLAN_WHITENED, REPLAY),
    ),
    Mutant(
        "a pair's whitening moments as near as a record's",
        "_plans/_whitened.py",
        "            distance *= math.sqrt(2.0)\n",
        "            pass\n",
        (PLAN_WHITENED, REPLAY),
    ),
    Mutant(
        "a record's whitening moment claimed to be a pair's",
        "_plans/_whitened.py",
        'pairwise = self.budget.adjacency == "replace_one"',
        "pairwise = True",
        (PLAN_WHITENED, REPLAY),
    ),
    Mutant(
        "whitened steps with the noise of one",
        "_plans/_whitened.py",
        "noise_multiplier=self.steps_multiplier * math.sqrt(n_steps),",
        "noise_multiplier=self.steps_multiplier,",
        (PLAN_WHITENED, REPLAY),
    ),
    Mutant(
        "whitened steps reported as one",
        "_plans/_whitened.py",
        "events=self._events(n_steps), **facts",
        "events=self._events(1), **facts",
        (PLAN_WHITENED, REPLAY),
    ),
    Mutant(
        "whitening that stretches rounding errors without a word",
        "_plans/_whitened.py",
        "problem.rounding_slack * stretch",
        "problem.rounding_slack",
        (PLAN_WHITENED,),
    ),
    Mutant(
        "alpha left out of the whitened curvature",
        "_solvers/_whitening.py",
        "    scale = signal + hidden + penalty\n",
        "    scale = signal + hidden\n",
        (SOLVER_WHITENED,),
    ),
    Mutant(
        "a whitening map that isn't symmetric",
        "_solvers/_whitening.py",
        "    A = 0.5 * (A + A.T)\n",
        "",
        ("tests/solvers/test_whitening.py",),
    ),
    Mutant(
        "private selection: odds of going on off",
        "accountant/_repetition.py",
        "return (1 - self.stopping_rate) / self.stopping_rate",
        "return 1 - self.stopping_rate",
        (SELECTION,),
    ),
    Mutant(
        "private selection: eta in place of eta + 1",
        "accountant/_selection.py",
        "return (self._repetitions.eta + 1) * high",
        "return self._repetitions.eta * high",
        (SELECTION,),
    ),
    Mutant(
        "private selection: no shift, as if a trial were published",
        "accountant/_selection.py",
        "max(epsilon - self.shift, 0.0)",
        "max(epsilon, 0.0)",
        (SELECTION,),
    ),
    Mutant(
        "private selection: a number of trials that isn't paid for",
        "accountant/_repetition.py",
        "min(grown / law.log_range * (1 + _ROUNDING), 1.0)",
        "probability",
        (SELECTION,),
    ),
    Mutant(
        "private selection: the cheapest candidate's profile",
        "accountant/_selection.py",
        "return max(profile.delta(epsilon) for",
        "return min(profile.delta(epsilon) for",
        (SELECTION,),
    ),
    Mutant(
        "private selection: the cheapest candidate's epsilon",
        "accountant/_selection.py",
        "return max(profile.epsilon(delta) for",
        "return min(profile.epsilon(delta) for",
        (SELECTION,),
    ),
    Mutant(
        "private selection: a negative epsilon's bound not mirrored",
        "accountant/_selection.py",
        "1 - there * (1 - self.delta(-epsilon)) + _ROUNDING",
        "self.delta(-epsilon)",
        (SELECTION,),
    ),
    Mutant(
        "private selection: corners that aren't mirrored",
        "accountant/_selection.py",
        "np.exp(-grid[near]) * deltas[near]",
        "deltas[near] * 0.0",
        (SELECTION,),
    ),
    Mutant(
        "private selection: a chord that is left too early",
        "accountant/_selection.py",
        'side="right"), 1',
        'side="right") + 1, 1',
        (SELECTION,),
    ),
    Mutant(
        "private selection: longer searches than the law",
        "accountant/_repetition.py",
        "(n_trials + eta) / (n_trials + 1)",
        "(n_trials + 1 + eta) / (n_trials + 1)",
        (SELECTION,),
    ),
    Mutant(
        "private selection: members of a group in one part only",
        "accountant/_selection_event.py",
        "(together,) if group_size > 1",
        "tuple((e,) for e in together) if group_size > 1",
        (SELECTION,),
    ),
    Mutant(
        "private selection: searches composed as one",
        "accountant/_loss_distribution.py",
        "return pmf if n_steps == 1 else pmf.self_compose(n_steps)",
        "return pmf",
        (SELECTION,),
    ),
    Mutant(
        "private selection: half of a noisy maximum's epsilon",
        "accountant/_selection_event.py",
        "return pure_factor(adjacency) * self.n_steps / self.noise_multiplier",
        "return 0.5 * pure_factor(adjacency) * self.n_steps / self.noise_multiplier",
        (SELECTION,),
    ),
    Mutant(
        "private selection: a choice that composes with nothing",
        "accountant/_selection_event.py",
        "return cls((tuple(fits), (choice,)),",
        "return cls((tuple(fits),),",
        (SELECTION,),
    ),
    Mutant(
        "a ledger charged after there is randomness",
        "_plans/_base.py",
        "            self.budget.account.charge(report, random_state, self.stream_key)\n"
        "        return make_stream(random_state, key=self.stream_key)\n",
        "            stream = make_stream(random_state, key=self.stream_key)\n"
        "            self.budget.account.charge(report, random_state, self.stream_key)\n"
        "            return stream\n"
        "        return make_stream(random_state, key=self.stream_key)\n",
        (ACCOUNT,),
    ),
    Mutant(
        "a plan that forgets its ledger",
        "_plans/_base.py",
        "            self.budget.account.charge(report, random_state, self.stream_key)\n",
        "",
        (ACCOUNT,),
    ),
    Mutant(
        "a stream's later calls that tell a ledger of no seed",
        "ledger/_ledger.py",
        "            if hashed is not None:\n",
        "            if hashed is not None and not (states and states[0]):\n",
        (ESCAPES,),
    ),
    Mutant(
        "an unknown seed that no other is equal to",
        "ledger/_records.py",
        "    if any(_store.select(file, kept, dataset, UNKNOWN_SEED)) or (\n",
        "    if (\n",
        (ESCAPES,),
    ),
    Mutant(
        "a calibrated classifier that nobody charges ever after",
        "calibration/_calibrated.py",
        "set_params(random_state=None, ledger=self.ledger)",
        "set_params(random_state=None)",
        (ESCAPES,),
    ),
    Mutant(
        "workers that don't know of their caller's ledger",
        "_estimator.py",
        'return {**state, "ledger": named_ledger(state["ledger"])}',
        "return state",
        (ESCAPES,),
    ),
    Mutant(
        "pickles for workers of Dask that are taken for files",
        "_estimator.py",
        '_FILING = ("joblib.numpy_pickle", ',
        '_FILING = ("cloudpickle.", "joblib.numpy_pickle", ',
        (ESCAPES,),
    ),
    Mutant(
        "files that name the ledger of the environment",
        "_estimator.py",
        'if is_filed or "ledger" not in state:',
        'if "ledger" not in state:',
        (ESCAPES, PERSISTENCE),
    ),
    Mutant(
        "a ledger under two names, whose locks don't meet",
        "ledger/_store.py",
        "found.st_nlink > 1",
        "False",
        (ESCAPES,),
    ),
    Mutant(
        "a ledger whose folder isn't synchronised",
        "ledger/_store.py",
        "PRAGMA synchronous = EXTRA",
        "PRAGMA synchronous = FULL",
        (LEDGER_FAULTS,),
    ),
    Mutant(
        "all parameters in a ledger's file",
        "ledger/_account.py",
        "    return None\n\n\ndef _describe_seed",
        "    return None if value is None else repr(value)\n\n\ndef _describe_seed",
        (ACCOUNT,),
    ),
    Mutant(
        "a ledger read before the lock is taken",
        "ledger/_store.py",
        '"BEGIN IMMEDIATE" if write else "BEGIN"',
        '"BEGIN"',
        (RACES,),
    ),
    Mutant(
        "a ledger's charge that isn't committed",
        "ledger/_store.py",
        '        yield connection\n        connection.execute("COMMIT")\n    if',
        "        yield connection\n    if",
        (LEDGER,),
    ),
    Mutant(
        "a ledger's file that may go while it is charged",
        "ledger/_store.py",
        "    if _identity(path) != before:\n",
        "    if False:\n",
        (LEDGER_FAULTS,),
    ),
    Mutant(
        "a ledger that sums up to an epsilon and not to two numbers",
        "ledger/_rules.py",
        "return all(total.followed_by(cost, times).cost.is_within(limits) for total in totals)",
        "spent = [total.followed_by(cost, times).cost for total in totals]\n"
        "    return all(one.epsilon(1e-5) <= limits.epsilon(1e-5) for one in spent)",
        (LEDGER,),
    ),
    Mutant(
        "a ledger whose last fit may be as large as its first",
        "ledger/_rules.py",
        "if alone <= terms.epsilon and not any(total.n_charges for total in totals):",
        "if alone <= terms.epsilon:",
        (LEDGER,),
    ),
    Mutant(
        "a ledger's fit of another adjacency at its own epsilon",
        "ledger/_rules.py",
        " if report.adjacency == terms.adjacency else math.inf",
        "",
        (LEDGER,),
    ),
    Mutant(
        "parts of a ledger that don't count what is charged to all",
        "ledger/_rules.py",
        "        return [whole + sums.get(part, Total())]\n",
        "        return [sums.get(part, Total())]\n",
        (LEDGER,),
    ),
    Mutant(
        "charges to all of a ledger that look at no part",
        "ledger/_rules.py",
        "return [whole, *(whole + total for name, total in sums.items() if name)]",
        "return [whole]",
        (LEDGER,),
    ),
    Mutant(
        "erasures that a ledger doesn't keep",
        "ledger/_rules.py",
        "rest = (self.delta - self.erasure) / (1 - self.erasure) * (1 - _ROUNDING)",
        "rest = self.delta * (1 - _ROUNDING)",
        (LEDGER,),
    ),
    Mutant(
        "a ledger's report that claims more than its budget",
        "ledger/_rules.py",
        "events = (LaplaceEvent(scale), ErasureEvent(self.delta))",
        "events = self.limits.events()",
        (LEDGER,),
    ),
    Mutant(
        "a ledger that takes a seed twice",
        "ledger/_records.py",
        "    if any(_store.select(file, kept, dataset, hashed)):\n",
        "    if False:\n",
        (LEDGER, ACCOUNT),
    ),
    Mutant(
        "a ledger that takes seeds unasked",
        "ledger/_records.py",
        "    if not terms.allow_seeds:\n",
        "    if False:\n",
        (LEDGER, ACCOUNT),
    ),
    Mutant(
        "the seed in a ledger's parameters",
        "ledger/_account.py",
        '_LEFT_OUT = {"random_state", ',
        "_LEFT_OUT = {",
        (ACCOUNT,),
    ),
    Mutant(
        "a search's model tells how many trials there were",
        "model_selection/_trials.py",
        "    return max((one for one in best if one is not None), key=lambda one: one.rank)",
        "    best = max((one for one in best if one is not None), key=lambda one: one.rank)\n"
        "    last_step(best.model).n_trials_ = n_trials\n"
        "    return best",
        (SECRETS,),
    ),
    Mutant(
        "an error of a search tells how many trials there were",
        "model_selection/_trials.py",
        "    return max((one for one in best if one is not None), key=lambda one: one.rank)",
        "    return check_outcome(\n        max((one for one in best if one is not None), "
        "key=lambda one: one.rank)\n    )",
        (SECRETS,),
    ),
    Mutant(
        "a trial's score without noise",
        "model_selection/_trials.py",
        "        epsilon=plan.fit_epsilon,\n        delta=plan.fit_delta,\n        adjacency",
        "        epsilon=math.inf,\n        delta=plan.fit_delta,\n        adjacency",
        (SECRETS,),
    ),
    Mutant(
        "a search's split that reads labels",
        "model_selection/_trials.py",
        "np.argsort(stream.uniform(len(y)))",
        "np.argsort(stream.uniform(len(y)) + (y == y[0]))",
        (SEARCH,),
    ),
    Mutant(
        "a search's trials share their noise",
        "model_selection/_trials.py",
        "last.set_params(random_state=stream.as_random_state())",
        "last.set_params(random_state=0)",
        (SECRETS,),
    ),
    Mutant(
        "a search's fits are charged",
        "model_selection/_candidates.py",
        "ledger=COVERED, random_state",
        "ledger=None, random_state",
        (SEARCH,),
    ),
    Mutant(
        "a search's scores are charged",
        "model_selection/_trials.py",
        "        ledger=COVERED,\n    ).value",
        "        ledger=None,\n    ).value",
        (SEARCH,),
    ),
    Mutant(
        "each trial of a search has the whole budget",
        "_plans/_selection.py",
        "promised = _calibrated(budget, law, alternatives)",
        "promised = budget.epsilon, budget.delta",
        (SEARCH,),
    ),
    Mutant(
        "each fit of a composed search has the whole budget",
        "_plans/_selection.py",
        "promised = _calibrated(budget, once, lambda *spent: (joined(*spent), (choice,)))",
        "promised = budget.epsilon, budget.delta",
        (SEARCH,),
    ),
    Mutant(
        "a search's fits are left out of its event",
        "_plans/_selection.py",
        "            *fits(epsilon, delta),\n",
        "",
        (SECRETS,),
    ),
    Mutant(
        "a task for each trial",
        "model_selection/_trials.py",
        "parts = [items[first::n_workers] for first in range(n_workers)]",
        "parts = [[item] for item in items]",
        (SECRETS,),
    ),
    Mutant(
        "trials warn",
        "model_selection/_trials.py",
        'warnings.catch_warnings(action="ignore")',
        "warnings.catch_warnings()",
        (SECRETS,),
    ),
    Mutant(
        "pipelines of a search print",
        "model_selection/_candidates.py",
        '_TELLING = ("verbose", "memory")',
        '_TELLING = ("memory",)',
        (SETTINGS,),
    ),
    Mutant(
        "a search publishes a seed",
        "model_selection/_trials.py",
        "    last.set_params(random_state=None)\n    return model",
        "    return model",
        (SEARCH,),
    ),
    Mutant(
        "a fit that fails ends a search",
        "model_selection/_trials.py",
        "    except Exception:\n        return Outcome",
        "    except KeyError:\n        return Outcome",
        (SECRETS,),
    ),
    Mutant(
        "a score that only the first candidate has",
        "model_selection/_search.py",
        "for model in candidates.models:\n            check_scoring",
        "for model in candidates.models[:1]:\n            check_scoring",
        (SEARCH,),
    ),
    Mutant(
        "a chosen model's copies are charged to nobody",
        "model_selection/_search.py",
        "        model.set_params(ledger=self.ledger)\n",
        "",
        (SEARCH,),
    ),
    Mutant(
        "steps of a search may leak",
        "model_selection/_candidates.py",
        "    for step, (reason, _) in whatever_leaks(steps):",
        "    for step, (reason, _) in whatever_leaks([]):",
        (SEARCH,),
    ),
    Mutant(
        "a noisy maximum with half of the noise",
        "_mechanisms.py",
        "math.ceil(self.noise_multiplier * self.contribution_bound)",
        "math.ceil(0.5 * self.noise_multiplier * self.contribution_bound)",
        (SECRETS,),
    ),
    Mutant(
        "a search hands on what its plan doesn't know",
        "model_selection/_search.py",
        "        refuse_metadata(self, params)\n",
        "",
        (METADATA,),
    ),
    Mutant(
        "a choice with half of the noise that is accounted",
        "_plans/_selection.py",
        "NoisyMaximum(self.choice.noise_multiplier, SCORE_PARTS)",
        "NoisyMaximum(0.5 * self.choice.noise_multiplier, SCORE_PARTS)",
        (SECRETS,),
    ),
    Mutant(
        "a pure trial's law costs what it doesn't",
        "accountant/_selection.py",
        "return (inner + self.shift) * (1 + _ROUNDING)",
        "return inner * (1 + _ROUNDING)",
        (PURE_SEARCH, SELECTION),
    ),
    Mutant(
        "errors of several targets add up",
        "metrics/_scorings.py",
        "return _mean(width * error.mean(axis=1), width, options)",
        "return _mean(width * error.sum(axis=1), width, options)",
        (SCORES,),
    ),
    Mutant(
        "counts of several classes have the budget each",
        "_plans/_histogram.py",
        "DiscreteLaplaceMechanism(budget.calibrate_pure(n_steps))",
        "DiscreteLaplaceMechanism(budget.calibrate_pure())",
        (ONE_VS_REST,),
    ),
    Mutant(
        "counts of several classes are charged as one",
        "metrics/_scorings.py",
        'return classes.size if scoring == "roc_auc_ovr" and np.size(classes) > 2 else 1',
        "return 1",
        (ONE_VS_REST,),
    ),
    Mutant(
        "a score of the wrong kind",
        "metrics/_score.py",
        "    check_kind(estimator, scoring)\n",
        "",
        (SCORES,),
    ),
    Mutant(
        "a row counts twice in a noisy maximum",
        "model_selection/_trials.py",
        "np.rint(SCORE_PARTS * rows)",
        "np.rint(2 * SCORE_PARTS * rows)",
        (SECRETS,),
    ),
    Mutant(
        "a distribution function of one column for the price of all",
        "_plans/_distribution.py",
        "contribution_bound=math.sqrt(n_columns) * distance",
        "contribution_bound=distance",
        (PLAN_DISTRIBUTION,),
    ),
    Mutant(
        "two records as far apart as one and none",
        "_plans/_distribution.py",
        "distance = _root_distance() if pairwise else _root_norm()",
        "distance = _root_norm()",
        (PLAN_DISTRIBUTION,),
    ),
    Mutant(
        "moments of one column for the price of all",
        "_plans/_distribution.py",
        "contribution_bound=math.sqrt(n_columns),",
        "contribution_bound=1.0,",
        (PLAN_DISTRIBUTION,),
    ),
    Mutant(
        "ranges that spend what moments spend too",
        "_plans/_distribution.py",
        "SPLIT_SLACK * budget.calibrate() / math.sqrt(1.0 - _LOCATION_SHARE)",
        "SPLIT_SLACK * budget.calibrate()",
        (PLAN_DISTRIBUTION,),
    ),
    Mutant(
        "a pair of moments whose distance is taken for known",
        "_plans/_distribution.py",
        "releases=(event, GaussianEvent(noise)),",
        "releases=(event, GaussianEvent(noise, pairwise=True)),",
        (PLAN_DISTRIBUTION,),
    ),
    Mutant(
        "mean squares that aren't free",
        "_solvers/_distribution.py",
        "np.stack([t, 1.0 - t**2])",
        "np.stack([t, t**2])",
        (SOLVER_DISTRIBUTION,),
    ),
    Mutant(
        "moments of records that weren't clipped",
        "_solvers/_distribution.py",
        "        block = np.clip(x[start : start + _BLOCK], middle - half, middle + half)\n"
        "        # Under `assume_finite` nobody looked for NaN, of which a record may have but one "
        "bound.\n"
        "        t = np.nan_to_num(np.clip((block - middle) / half, -1.0, 1.0))\n",
        "        t = (x[start : start + _BLOCK] - middle) / half\n",
        (SOLVER_DISTRIBUTION,),
    ),
    Mutant(
        "moments that are cut off to be whole",
        "_solvers/_distribution.py",
        "np.rint(np.stack([t, 1.0 - t**2]) / CONTRIBUTION_STEP)",
        "np.stack([t, 1.0 - t**2]) / CONTRIBUTION_STEP",
        (SOLVER_DISTRIBUTION,),
    ),
    Mutant(
        "null records that have a cell",
        "_solvers/_distribution.py",
        "np.searchsorted(np.sort(present_records(x)), edges[1:-1])",
        "np.searchsorted(np.sort(x), edges[1:-1])",
        (SOLVER_DISTRIBUTION,),
    ),
    Mutant(
        "tails that noise alone makes",
        "_plans/_distribution.py",
        "return min(_SEEN * spread, _MOST_HIDDEN)",
        "return 0.0",
        (PLAN_DISTRIBUTION, SOLVER_DISTRIBUTION),
    ),
    Mutant(
        "ranges of the records themselves",
        "_solvers/_distribution.py",
        "    middle = 0.5 * low + 0.5 * high\n",
        "    low, high = X.min(axis=0), X.max(axis=0)\n    middle = 0.5 * low + 0.5 * high\n",
        (REPLAY,),
    ),
    Mutant(
        "NaN that counts for more than a record",
        "_solvers/_distribution.py",
        "np.nan_to_num(np.clip((block - middle) / half, -1.0, 1.0))",
        "np.clip((block - middle) / half, -1.0, 1.0)",
        (SOLVER_DISTRIBUTION, NOT_FINITE),
    ),
    Mutant(
        "lengths of rows that are published",
        "preprocessing/_norm_clipper.py",
        "self.norm_bound_ = max(float(found[1][0]), float(plan.bounds[0][0]))",
        "self.norm_bound_ = float(norms.max())",
        (REPLAY,),
    ),
    Mutant(
        "one stream for two classes of steps",
        "_plans/_keys.py",
        "QUANTILE_KEY = 21",
        "QUANTILE_KEY = 20",
        (PRIVATE_STEPS,),
    ),
    Mutant(
        "a scaler that doesn't clip",
        "preprocessing/_scaler.py",
        "np.clip(standard, *self.feature_bounds_)",
        "standard",
        (PRIVATE_STEPS,),
    ),
    Mutant(
        "rows of people that are clipped one by one",
        "_solvers/_group_sums.py",
        "        super().__init__(rows, targets, loss, n_jobs)\n",
        "        super().__init__(rows, targets, loss, n_jobs)\n"
        "        codes = np.arange(codes.size)\n",
        (
            GROUP_SUMS,
            PEOPLE,
        ),
    ),
    Mutant(
        "people's moments that aren't cut",
        "_solvers/_group_sums.py",
        "np.minimum(_TRACE_PARTS / traces, 1.0)",
        "np.ones(traces.size)",
        (
            GROUP_SUMS,
            PEOPLE,
        ),
    ),
    Mutant(
        "people's moments cut by the mean of their rows",
        "_solvers/_group_sums.py",
        "np.minimum(_TRACE_PARTS / traces, 1.0)",
        "np.minimum(_TRACE_PARTS * np.diff(self._ends) / traces, 1.0)",
        (
            GROUP_SUMS,
            PEOPLE,
        ),
    ),
    Mutant(
        "rows of people's moments that are rounded away from 0",
        "_solvers/_group_sums.py",
        "                np.trunc(z, out=z)\n",
        "                np.copysign(np.ceil(np.abs(z)), z, out=z)\n",
        (
            GROUP_SUMS,
            PEOPLE,
        ),
    ),
    Mutant(
        "people's steps that aren't cut",
        "_solvers/_group_sums.py",
        "        parts *= (self._bound / np.maximum(lengths, self._bound))[:, np.newaxis]\n",
        "",
        (
            GROUP_SUMS,
            PEOPLE,
        ),
    ),
    Mutant(
        "people's steps cut before they are mapped",
        "_solvers/_group_sums.py",
        "products_by_row(parts, parts)",
        'np.einsum("gkp,gkp->g", gradients, gradients)',
        (
            GROUP_SUMS,
            PEOPLE,
        ),
    ),
    Mutant(
        "people's steps that aren't on the grid",
        "_solvers/_group_sums.py",
        "mechanism.rounded(self._cut(self._gradients(first, last, weights)))",
        "self._cut(self._gradients(first, last, weights))",
        (GROUP_SUMS,),
    ),
    Mutant(
        "people's predictions that hang on who comes with them",
        "_solvers/_group_sums.py",
        "np.column_stack([products_by_row(z, w[np.newaxis]) for w in weights])",
        "z @ weights.T",
        (GROUP_SUMS,),
    ),
    Mutant(
        "people's predictions of many columns that hang on who comes with them",
        "_bounds.py",
        "_NORM_BLOCK, _PIECE = 1024, 4096",
        "_NORM_BLOCK, _PIECE = 1024, 10**9",
        (GROUP_SUMS,),
    ),
    Mutant(
        "norms of rows that hang on who comes with them",
        "_bounds.py",
        "np.ascontiguousarray(X[start : start + _NORM_BLOCK], dtype=np.float64)",
        "X[start : start + _NORM_BLOCK].astype(np.float64, copy=False)",
        (BOUNDS,),
    ),
    Mutant(
        "people's predictions of many outputs that hang on who comes with them",
        "_solvers/_group_sums.py",
        "np.column_stack([products_by_row(z, w[np.newaxis]) for w in weights])",
        'np.einsum("ij,kj->ik", z, weights)',
        (GROUP_SUMS,),
    ),
    Mutant(
        "a map of people's steps that hangs on who comes with them",
        "_solvers/_group_sums.py",
        'np.einsum("jk,ji->ki", A, columns).T',
        "(A @ columns).T",
        (GROUP_SUMS,),
    ),
    Mutant(
        "people's moments whose rounding is forgotten",
        "_solvers/_group_sums.py",
        "(per_group + 2.0 * n_groups)",
        "per_group",
        (GROUP_SUMS,),
    ),
    Mutant(
        "ids of which a part is missing are people",
        "linear_model/_groups.py",
        "    if isinstance(key, (tuple, frozenset)):",
        "    if False:",
        (GROUPS,),
    ),
    Mutant(
        "words that may be missing are sorted as words",
        "linear_model/_groups.py",
        'in "OVT" else',
        'in "OV" else',
        (GROUPS,),
    ),
    Mutant(
        "people's sums divided by the number of rows",
        "linear_model/_groups.py",
        "    return codes, int(codes.max()) + 1\n",
        "    return codes, n_rows\n",
        (
            GROUPS,
            PEOPLE,
        ),
    ),
    Mutant(
        "people whose ids are missing",
        "linear_model/_groups.py",
        " in known or any(map(_is_missing, known)):",
        " in known:",
        (GROUPS,),
    ),
    Mutant(
        "people reported as rows",
        "_plans/_base.py",
        '    unit: ClassVar = "one group"\n',
        '    unit: ClassVar = "one row"\n',
        (GROUPS,),
    ),
    Mutant(
        "rows in parts that aren't compared with those read before",
        "dask/_parts.py",
        "    X = kept.seal.watched(_as_floats(X), kept.size, kept.digests)\n",
        "    X = _as_floats(X)\n",
        (PARTS,),
    ),
    Mutant(
        "blocks of rows that aren't compared with those read before",
        "dask/_seal.py",
        "        if self._seal.of(rows) != self._digests[place : place + _DIGEST_BYTES]:\n",
        "        if False:\n",
        (SEALS, PARTS),
    ),
    Mutant(
        "blocks of rows compared with any block",
        "dask/_seal.py",
        "        if self._seal.of(rows) != self._digests[place : place + _DIGEST_BYTES]:\n",
        "        if self._seal.of(rows) not in self._digests:\n",
        (SEALS,),
    ),
    Mutant(
        "sparse rows that are used whatever they are compared with",
        "dask/_seal.py",
        "        if self.of(X) != digests:\n",
        "        if False:\n",
        (SEALS,),
    ),
    Mutant(
        "rows that are compared, and read again to be added up",
        "dask/_seal.py",
        "        rows = np.array(self._X[block])\n",
        "        rows = self._X[block]\n",
        (PARTS,),
    ),
    Mutant(
        "sparse rows that are compared, and read again to be added up",
        "dask/_parts.py",
        "        return canonical(X.tocsr().astype(dtype, copy=True))\n",
        "        return canonical(X.tocsr().astype(dtype, copy=False))\n",
        (PARTS,),
    ),
    Mutant(
        "rows that are bounded, and read again for their digest",
        "dask/_seal.py",
        "        yield start, np.array(X[start : start + size])\n",
        "        yield start, X[start : start + size]\n",
        (PARTS,),
    ),
    Mutant(
        "targets that are bounded, and can be written to",
        "dask/_parts.py",
        "        targets = reader.targets(np.array(y))\n",
        "        targets = reader.targets(y)\n",
        (PARTS,),
    ),
    Mutant(
        "null records counted in each block",
        "dask/_parts.py",
        "[row - start for row in null_rows if 0 <= row - start < n_rows]",
        "null_rows[:1]",
        (PARTS,),
    ),
    Mutant(
        "rows of a block that isn't clipped counted as clipped",
        "dask/_parts.py",
        "    if all(rows.scale is None for rows in bounded):\n",
        "    if any(rows.scale is None for rows in bounded):\n",
        (PARTS,),
    ),
    Mutant(
        "parts added up in another order with threads",
        "_solvers/_parallel.py",
        "            if len(waiting) > n_threads:\n                yield waiting.popleft()",
        "            if len(waiting) > n_threads:\n                yield waiting.pop()",
        (PARALLEL,),
    ),
    Mutant(
        "threads that scikit-learn's configuration doesn't reach",
        "utils/_sklearn.py",
        "        with config_context(**config):\n            return function(*args)\n",
        "        return function(*args)\n",
        (PARTS,),
    ),
    Mutant(
        "parts read again that aren't compared with those read at first",
        "dask/_sums.py",
        "    if _verdict(kept) != digest:\n",
        "    if False:\n",
        (PARTS,),
    ),
    Mutant(
        "digests that don't see the upper bits of words",
        "dask/_seal.py",
        "for seen in (part, part.view(part.dtype.newbyteorder())):",
        "for seen in (part,):",
        (SEALS,),
    ),
    Mutant(
        "digests that don't see the last rows",
        "dask/_seal.py",
        "    for part in (words[:whole].reshape(-1, _WORDS), words[np.newaxis, whole:]):\n",
        "    for part in (words[:whole].reshape(-1, _WORDS),):\n",
        (SEALS,),
    ),
    Mutant(
        "digests that don't see the last bytes",
        "dask/_seal.py",
        "    found.update(content[n_bytes:])\n",
        "",
        (SEALS,),
    ),
    Mutant(
        "partitions whose columns lie in another order",
        "dask/_parts.py",
        " or self.names != _names(X):",
        ":",
        (PARTS,),
    ),
    Mutant(
        "null records counted in each part",
        "dask/_sums.py",
        "(null[parts == part] - starts[part]).tolist()",
        "null.tolist()[:1]",
        (PARTS,),
    ),
    Mutant(
        "errors of partitions in the context of ours",
        "dask/_clients.py",
        "        kind, message = RuntimeError, failed.format(type(error).__name__)\n",
        "        raise RuntimeError(failed.format(type(error).__name__)) from None\n",
        (PARTS,),
    ),
    Mutant(
        "seeds and ledgers that workers get with a transformer",
        "dask/_map.py",
        "    return map_rows(without_secrets(transformer).transform, X)\n",
        "    return map_rows(transformer.transform, X)\n",
        (PARTS,),
    ),
    Mutant(
        "a checkpoint from which all copies go on for one charge",
        "ledger/_records.py",
        "UPDATE stream SET name = ? WHERE name = ?",
        "INSERT INTO stream SELECT ?, charge FROM stream WHERE name = ?",
        (LEDGER_STREAMS,),
    ),
    Mutant(
        "a stream's charge that covers calls of any epsilon",
        "ledger/_records.py",
        "if paid is None or not cost.is_within(GaussianCost(**paid)):",
        "if paid is None:",
        (LEDGER_STREAMS,),
    ),
    Mutant(
        "a stream that paid in one part and goes on in all",
        "ledger/_records.py",
        "    WHERE name = ? AND dataset = ? AND part = ?",
        "    WHERE name = ? AND dataset = ? AND ? IS NOT NULL",
        (LEDGER_STREAMS,),
    ),
    Mutant(
        "a ledger that keeps the log of an older version",
        "ledger/_store.py",
        "    if not _read_version(connection, path):\n        return\n    end",
        "    return\n    end",
        (LEDGER_FAULTS,),
    ),
    Mutant(
        "a charge to a ledger's log that somebody has open",
        "ledger/_store.py",
        "            if not write:\n                return\n",
        "            return\n",
        (LEDGER_FAULTS,),
    ),
    Mutant(
        "an empty SKDP_LEDGER that means none",
        "ledger/_account.py",
        "ledger = os.environ.get(_VARIABLE)\n",
        "ledger = os.environ.get(_VARIABLE) or None\n",
        (ACCOUNT,),
    ),
    Mutant(
        "whatever is frozen passes",
        "pipeline/_leaks.py",
        "    kind = type(step)\n",
        "    if is_frozen:\n        return None\n    kind = type(step)\n",
        (LEAKS,),
    ),
    Mutant(
        "frozen encoders keep types",
        "pipeline/_leaks.py",
        "            return found or (_TYPES if",
        "            return found or (None if",
        (LEAKS,),
    ),
    Mutant(
        "a frozen pipeline has permissions of its own",
        "pipeline/_leaks.py",
        '    if getattr(step, "allow", ()):',
        "    if False:",
        (LEAKS,),
    ),
    Mutant(
        "frozen columns keep what functions chose",
        "pipeline/_tree.py",
        '    for *_, columns in getattr(joined, "transformers", ()):',
        '    for *_, columns in getattr(joined, "transformers_", ()):',
        (LEAKS,),
    ),
    Mutant(
        "frozen columns keep their density",
        "pipeline/_tree.py",
        "    harmless = (0,) if container.is_frozen else (0, _USUAL_THRESHOLD)",
        "    harmless = (0, _USUAL_THRESHOLD)",
        (LEAKS,),
    ),
    Mutant(
        "what a frozen step spent isn't told",
        "pipeline/_tree.py",
        "        if leaf.is_frozen and isinstance(report, PrivacyReport):",
        "        if False:",
        (LEAKS,),
    ),
    Mutant(
        "frozen steps get a part of the budget",
        "pipeline/_tree.py",
        "isinstance(leaf.estimator, RecordPrivateEstimator) and not leaf.is_frozen",
        "isinstance(leaf.estimator, RecordPrivateEstimator)",
        (LEAKS,),
    ),
    Mutant(
        "columns of objects that hold numbers stay objects",
        "pipeline/_numbers.py",
        "    if column.dtype != object:",
        "    if True:",
        (LEAKS,),
    ),
    Mutant(
        "arrays of objects that hold numbers stay objects",
        "pipeline/_numbers.py",
        "isinstance(X, np.ndarray) and X.dtype.kind in _VALUES",
        "False",
        (LEAKS,),
    ),
    Mutant(
        "columns of a search are sparse by the number of zeros",
        "model_selection/_candidates.py",
        "        fix_density(_steps_before_last(model))\n",
        "",
        (SEARCH,),
    ),
    Mutant(
        "steps of a search may fail by a row",
        "model_selection/_candidates.py",
        'if type(leaf.estimator).__module__.partition(".")[0] not in _NEVER_FAIL:',
        "if False:",
        (SEARCH,),
    ),
    Mutant(
        "steps of a search may be frozen",
        "model_selection/_candidates.py",
        "        if leaf.is_frozen:\n",
        "        if False:\n",
        (SEARCH,),
    ),
    Mutant(
        "a search takes pipelines of any class",
        "model_selection/_candidates.py",
        "    return model.steps[-1][1] if type(model) is Pipeline else model",
        "    return model.steps[-1][1] if isinstance(model, Pipeline) else model",
        (SEARCH,),
    ),
    Mutant(
        "rows that aren't finite are certified",
        "_bounds.py",
        '    check_finite_input(X[~np.isfinite(norm)], "X")\n',
        "",
        (NOT_FINITE,),
    ),
    Mutant(
        "rows with NaN alone aren't finite",
        "_checks.py",
        "    if not np.isfinite(entries).all():\n",
        "    if np.isnan(entries).any():\n",
        (NOT_FINITE,),
    ),
    Mutant(
        "a search believes that its rows are finite",
        "model_selection/_search.py",
        "with config_context(assume_finite=False):",
        "with config_context():",
        (NOT_FINITE,),
    ),
    Mutant(
        "a part of a group is as protected as the group",
        "_plans/_base.py",
        "        PART_OF_GROUP,\n",
        "",
        (PEOPLE,),
    ),
    Mutant(
        "a part of a group's score is as protected as the group's",
        "_plans/_histogram.py",
        "(PART_OF_GROUP, *ScoreBudget.not_covered)",
        "ScoreBudget.not_covered",
        (GROUP_SCORES,),
    ),
    Mutant(
        "sums over rows that take all threads",
        "_solvers/_row_sums.py",
        "_MOST_THREADS = 2\n",
        "_MOST_THREADS = 64\n",
        (ROW_SUMS, GROUP_SUMS),
    ),
    Mutant(
        "traces of people that are rounded to the nearest part",
        "_solvers/_group_sums.py",
        "np.ceil(self._rows.norm**2 * share)",
        "np.rint(self._rows.norm**2 * share)",
        (GROUP_SUMS,),
    ),
    Mutant(
        "infinite parts of people that are kept",
        "_solvers/_group_sums.py",
        "lost = ~np.isfinite(lengths)",
        "lost = np.isnan(lengths)",
        (GROUP_SUMS,),
    ),
    Mutant(
        "sums of people's moments in a block that are rounded",
        "_solvers/_group_sums.py",
        "_EXACT_BITS, _INTEGER_BITS = 53, 62",
        "_EXACT_BITS, _INTEGER_BITS = 55, 62",
        (GROUP_SUMS,),
    ),
    Mutant(
        "sums of all people's moments that overflow",
        "_solvers/_group_sums.py",
        "_EXACT_BITS, _INTEGER_BITS = 53, 62",
        "_EXACT_BITS, _INTEGER_BITS = 53, 64",
        (GROUP_SUMS,),
    ),
    Mutant(
        "digests of parts without their targets",
        "dask/_parts.py",
        'b"".join([*digests, of_targets])',
        'b"".join(digests)',
        (PARTS,),
    ),
    Mutant(
        "losses of a search as small as rounding are told apart",
        "accountant/_selection.py",
        "    powers, first = np.unique(np.exp(epsilons), return_index=True)\n",
        "    powers, first = np.exp(epsilons), np.arange(epsilons.size)\n",
        (SELECTION,),
    ),
    Mutant(
        "searches that reveal all are composed",
        "accountant/_profile.py",
        "    if any(profile.reveals_all for profile, _ in profiles):\n",
        "    if False:\n",
        (SELECTION,),
    ),
    Mutant(
        "what a pipeline would overwrite is lost",
        "pipeline/_budget.py",
        '        refuse_settings(leaf.estimator, pipeline, f"step {leaf.path!r}", how=_DIVIDED)\n',
        "",
        (SETTINGS,),
    ),
    Mutant(
        "what a search would overwrite is lost",
        "model_selection/_candidates.py",
        "            refuse_settings(leaf.estimator, search, repr(leaf.path))\n",
        "            pass\n",
        (SETTINGS,),
    ),
    Mutant(
        "what a calibration would overwrite is lost",
        "calibration/_calibrated.py",
        '        refuse_settings(self.estimator, self, "estimator")\n',
        "",
        (SETTINGS,),
    ),
    Mutant(
        "a search looks at no step but the last",
        "model_selection/_candidates.py",
        'private_leaves([tree("estimator", model)])',
        'private_leaves([tree("estimator", last_step(model))])',
        (SETTINGS,),
    ),
    Mutant(
        "an inner ledger is taken for the outer one",
        "_estimator.py",
        "        return is_same_ledger(inner, outer)\n",
        "        return True\n",
        (SETTINGS,),
    ),
    Mutant(
        "generators count as agreed",
        "_estimator.py",
        "all(isinstance(value, str | Real) for value in (inner, outer)) and inner == outer",
        'inner == outer or name == "random_state"',
        (SETTINGS,),
    ),
    Mutant(
        "steps of a pipeline keep what they were lent",
        "pipeline/_budget.py",
        ", **given.get(leaf.path, {})",
        "",
        (SETTINGS,),
    ),
    Mutant(
        "steps of an earlier fit stay with its ledger",
        "pipeline/_budget.py",
        "                leaf.estimator.set_params(ledger=ledger)\n",
        "                pass\n",
        (SETTINGS,),
    ),
    Mutant(
        "errors of a composed search that tell of records",
        "model_selection/_trials.py",
        "    except Exception:\n        return 0, None",
        "    except ValueError:\n        return 0, None",
        (SECRETS,),
    ),
    Mutant(
        "a trial's errors other than of values escape",
        "model_selection/_trials.py",
        "    except Exception:\n        return Outcome",
        "    except ValueError:\n        return Outcome",
        (SECRETS,),
    ),
    Mutant(
        "a refusal names Gaussian noise that wouldn't fit either",
        "ledger/_rules.py",
        "        if not _take(gaussian, totals, limits):\n",
        "        if False:\n",
        (LEDGER,),
    ),
    Mutant(
        "a refusal names a delta that isn't enough",
        "ledger/_rules.py",
        "least = erasure / ERASURE_SHARE *",
        "least = erasure *",
        (LEDGER,),
    ),
    Mutant(
        "a refusal of sampled batches names too small a delta",
        "ledger/_rules.py",
        "_least_delta(error.least / FIT_SHARE)",
        "_least_delta(error.least)",
        (LEDGER,),
    ),
    Mutant(
        "a refusal names a delta where none is enough",
        "ledger/_rules.py",
        "    if not erasure:\n",
        "    if False:\n",
        (LEDGER,),
    ),
)


def apply(mutant, folder):
    """Plant a fault in the copy of the package in a folder."""
    path = folder / "skdp" / mutant.path
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name!r}: its text occurs {text.count(mutant.old)} times.")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")


def is_noticed(mutant, *, whole):
    """Tell whether a test fails in a copy of the project with a fault."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in COPIED:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / name)
        apply(mutant, folder)
        tests = [] if whole else list(mutant.tests)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    # 1 means failed tests; anything else, that they didn't run.
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{mutant.name!r}: the tests didn't run.\n{done.stdout[-2000:]}")
    return done.returncode == 1


def main(arguments=None):
    """Run the mutants and return the number of survivors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="a word in the names of mutants")
    parser.add_argument("--whole", action="store_true", help="run all tests for each")
    options = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if options.only in mutant.name]
    survivors = []
    for mutant in chosen:
        start = time.perf_counter()
        noticed = is_noticed(mutant, whole=options.whole)
        seconds = time.perf_counter() - start
        print(
            f"{'noticed ' if noticed else 'SURVIVED'} {seconds:6.1f} s  {mutant.name}", flush=True
        )
        if not noticed:
            survivors.append(mutant.name)
    print(f"{len(chosen)} mutants, survivors: {survivors}")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
