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
PRECISION = "tests/accountant/test_precision.py"
PURE = "tests/accountant/test_pure.py"
ERASURE = "tests/accountant/test_erasure.py"
FILTER = "tests/accountant/test_filter.py"
SELECTION = "tests/accountant/test_selection.py"
SEARCH = "tests/model_selection/test_search.py"
SECRETS = "tests/model_selection/test_secrets.py"
BOUNDS = "tests/test_bounds.py"
RANDOM = "tests/test_random.py"
DUAL = "tests/solvers/test_dpscd.py"
GRADIENT = "tests/solvers/test_dpsgd.py"
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
ROW_SUMS = "tests/solvers/test_row_sums.py"
LEDGER = "tests/ledger/test_ledger.py"
ACCOUNT = "tests/ledger/test_account.py"
RACES = "tests/ledger/test_races.py"
ESCAPES = "tests/ledger/test_escapes.py"
LEDGER_FAULTS = "tests/ledger/test_faults.py"
SOLVER_WHITENED = "tests/solvers/test_whitened.py"
COUNTS = "tests/test_discrete_laplace.py"
PLAN_HISTOGRAM = "tests/plans/test_histogram.py"
SOLVER_HISTOGRAM = "tests/solvers/test_histogram.py"
SCORES_REPLAYED = "tests/metrics/test_replay.py"
SCORES = "tests/metrics/test_private_scores.py"
CALIBRATED = "tests/calibration/test_calibrated.py"


class Mutant(NamedTuple):
    """A fault: in a file, one text in place of another that occurs there once, and the tests."""

    name: str
    path: str
    old: str
    new: str
    tests: tuple


MUTANTS = (
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
        "pure noise of counts that is accounted by its distance alone",
        "_plans/_histogram.py",
        "DiscreteLaplaceMechanism(budget.calibrate_pure())",
        "DiscreteLaplaceMechanism(1.0 / budget.epsilon)",
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
        "metrics/_score.py",
        "clip_scores(binary_scores(estimator, X), 0.0, 1.0)",
        "clip_scores(found := binary_scores(estimator, X), found.min(), found.max())",
        (SCORES_REPLAYED,),
    ),
    Mutant(
        "shares of the true number of records",
        "metrics/_release.py",
        "return Released(counts, n_rows, plan.mechanism.noise_std, report)",
        "return Released(counts + axes[0].position.mean(), n_rows, 1.0, report)",
        (SCORES_REPLAYED,),
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
        "return sampling + self.noise_variance * ((gradient - gradient.mean()) ** 2).sum()",
        "return sampling",
        (SCORES,),
    ),
    Mutant(
        "intervals without the sample",
        "metrics/_statistics.py",
        "return sampling + self.noise_variance",
        "return self.noise_variance",
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
        "            aggregate._check_rows(public)\n",
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
        "            dual[batch] = a + zetas\n            mean.add(shared)\n",
        "            dual[batch] = a\n            mean.add(shared)\n",
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
        "        clip_contributions(slopes, norm, bound)\n",
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
        (REPLAY,),
    ),
    Mutant(
        "mean squares without noise",
        "_solvers/_dpcd.py",
        "        released = mechanism.release(total, noise) / X.shape[0]\n",
        "        mechanism.release(total, noise)\n        released = total / X.shape[0]\n",
        (REPLAY,),
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
        "self._solve(plan, rows, targets, stream, average=False",
        "self._solve(replace(plan, clipping_norm=1e300) if before.n_calls else plan, rows, "
        "targets, stream, average=False",
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
        "    left = 1.0 - moment_budget - _SCALE_SHARE - _MEANS_SHARE - _MATRIX_SHARE\n",
        "    left = 1.0 - moment_budget\n",
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
        "a share of clipped rows without its noise",
        "_solvers/_inference.py",
        "        total = mechanism.release(sums.means(u[:, np.newaxis], mechanism), stream)\n",
        "        total = sums.means(u[:, np.newaxis], mechanism)\n"
        "        mechanism.release(total, stream)\n",
        (SOLVER_INFERENCE, REPLAY),
    ),
    Mutant(
        "the second clip with the bound of the first",
        "_solvers/_inference.py",
        "        clip = model.next_clip(clip, first_share, jitter, noise, n_rows / columns)\n"
        "        sums.bound_slopes(white.A, clip)\n",
        "        clip = model.next_clip(clip, first_share, jitter, noise, n_rows / columns)\n",
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
        "        clip_contributions(slopes, self._lengths[block], self._bound)\n",
        "",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "null rows that count in the intercept's entry of a whitening moment",
        "_solvers/_row_sums.py",
        "            n_null = 0 if self._is_null is None else "
        "np.count_nonzero(self._is_null[block])\n",
        "            n_null = 0\n",
        (ROW_SUMS, REPLAY),
    ),
    Mutant(
        "null rows that count in a whitening moment",
        "_solvers/_row_sums.py",
        "            x = x * ~self._is_null[block, np.newaxis]\n",
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
        "            x = x * scale[:, np.newaxis]\n",
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
        "linear_model/_dpsgd_base.py",
        "account=budget.account._replace(is_paid=is_paid)",
        "account=None if is_paid else budget.account",
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
        "a stream that paid whoever is at the path",
        "ledger/_ledger.py",
        "return *self._key(), self._terms().salt",
        "return self._key()",
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
        "linear_model/_pickling.py",
        'return {**state, "ledger": named_ledger(state["ledger"])} if "ledger" in state else state',
        "return state",
        (ESCAPES,),
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
        "np.argsort(stream.uniform(y.size))",
        "np.argsort(stream.uniform(y.size) + (y == y[0]))",
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
        "promised = _calibrated(budget, n_trials, alternatives)",
        "promised = budget.epsilon, budget.delta",
        (SEARCH,),
    ),
    Mutant(
        "each fit of a composed search has the whole budget",
        "_plans/_selection.py",
        "promised = _calibrated(budget, 1.0, lambda *spent: (joined(*spent), (choice,)))",
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
        '_SILENT = {"verbose": False, "memory": None}',
        '_SILENT = {"memory": None}',
        (SECRETS,),
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
        "    except ValueError:\n        return None",
        "    except ValueError:\n        raise",
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
        "steps that learn from the remainder of columns",
        "model_selection/_candidates.py",
        "    _check_stateless(step.remainder)",
        "    del step",
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
        "a row counts twice in a noisy maximum",
        "model_selection/_trials.py",
        "np.rint(SCORE_PARTS * rows)",
        "np.rint(2 * SCORE_PARTS * rows)",
        (SECRETS,),
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
