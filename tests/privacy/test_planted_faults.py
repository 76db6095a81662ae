"""What replay finds: faults planted in working code, and the claims that each must break."""

import logging
import sys
import warnings

import numpy as np
import pytest

from skdp.linear_model import (
    DPCDLasso,
    DPLogisticRegression,
    DPRidge,
    DPSCDClassifier,
    DPSGDClassifier,
    WALRClassifier,
)
from tests.door import (
    DPSGD,
    CertifiedRows,
    GaussianMechanism,
    PoissonSampler,
    Run,
    Steps,
    WhitenedProblem,
    bounds_module as _bounds,
    dpcd_solver_module,
    dpscd_solver_module,
    dpsgd_solver_module,
    row_bounds_module,
    slope_queries_module,
    whitened_method_module,
    whitened_solver_module as _solver,
)
from tests.privacy._cases import N_ROWS, Case, label_neighbours
from tests.privacy._corners import K, neighbour
from tests.privacy._recipes import LABEL_CASES, PLAIN, THREE, TWO
from tests.privacy._replay import broken_claims, compare_all, noise_p_values, record


def set_clip_rows(patch, clip_rows):
    patch.setattr(row_bounds_module, "clip_rows", clip_rows)


def skipped_clip(patch):
    patch.setattr(dpsgd_solver_module, "clip_contributions", lambda contributions, *_: None)


def skipped_dual_clip(patch):
    def only_null(contributions, norm, bound, weights=None):
        contributions[norm == 0.0] = 0.0
        return contributions

    patch.setattr(dpscd_solver_module, "clip_contributions", only_null)


def skipped_entry_clip(patch):
    patch.setattr(dpcd_solver_module, "clip_contributions", lambda contributions, *_: None)


def intercept_left_out(patch):
    def clip_rows(X, *, data_norm, **options):
        rows = _bounds.clip_rows(X, data_norm=data_norm, **options)
        return rows._replace(norm=np.minimum(rows.norm, _bounds.row_norms(X)))

    set_clip_rows(patch, clip_rows)


def null_record_with_an_intercept(patch):
    def clip_rows(X, **options):
        rows = _bounds.clip_rows(X, **options)
        return rows._replace(norm=np.maximum(rows.norm, rows.bias))

    set_clip_rows(patch, clip_rows)


def halved_bound(patch):
    bound = GaussianMechanism.__init__

    def halved(self, contribution_bound, **options):
        bound(self, 0.5 * contribution_bound, **options)

    patch.setattr(GaussianMechanism, "__init__", halved)


def draw_that_reads(patch):
    release = GaussianMechanism.release

    def twice(self, value, stream):
        if int(1e6 * value.flat[0]) % 2:
            stream.normal(1)
        return release(self, value, stream)

    patch.setattr(GaussianMechanism, "release", twice)


def attribute_of_the_data(patch):
    fit = DPSGDClassifier.fit

    def spying(self, X, y, **options):
        fit(self, X, y, **options)
        self.scale_ = float(np.abs(X[K]).max())
        return self

    patch.setattr(DPSGDClassifier, "fit", spying)


def private_attribute_of_the_data(patch):
    fit = DPSGDClassifier.fit

    def spying(self, X, y, **options):
        fit(self, X, y, **options)
        self._labels = y.sum()
        return self

    patch.setattr(DPSGDClassifier, "fit", spying)


def warning_of_the_data(patch):
    def clip_rows(X, **options):
        if np.linalg.norm(X[K]) > 100.0:
            warnings.warn("some rows are long", UserWarning, stacklevel=2)
        return _bounds.clip_rows(X, **options)

    set_clip_rows(patch, clip_rows)


def coefficient_without_release(patch):
    solve = DPSGD.linear_model

    def publish(self, training, coefs):
        return solve(self, training, coefs + 1e-9 * DPSGDClassifier._seen)

    def clip_rows(X, **options):
        rows = _bounds.clip_rows(X, **options)
        DPSGDClassifier._seen = rows.norm.sum()
        return rows

    patch.setattr(DPSGDClassifier, "_seen", 0.0, raising=False)
    patch.setattr(DPSGD, "linear_model", publish)
    set_clip_rows(patch, clip_rows)


def early_stop(patch):
    batches = PoissonSampler.batches

    def fewer(self, stream):
        for t, batch in enumerate(batches(self, stream)):
            yield batch
            if t > 5 and DPSGDClassifier._seen > 100.0:
                return

    def clip_rows(X, **options):
        DPSGDClassifier._seen = np.linalg.norm(X[K])
        return _bounds.clip_rows(X, **options)

    patch.setattr(DPSGDClassifier, "_seen", 0.0, raising=False)
    patch.setattr(PoissonSampler, "batches", fewer)
    # The run itself refuses to end early: here replay must see it alone.
    patch.setattr(Run, "finish", lambda run: None)
    set_clip_rows(patch, clip_rows)


def telling(tell):
    """Return a fault that hands the length of a row to a function."""

    def plant(patch):
        def clip_rows(X, **options):
            tell(np.linalg.norm(X[K]))
            return _bounds.clip_rows(X, **options)

        patch.setattr(DPSGDClassifier, "_longest", 0.0, raising=False)
        set_clip_rows(patch, clip_rows)

    return plant


def sequential_with_an_exact_dual(patch):
    def release_v_only(steps, increment, zetas):
        released = steps(np.concatenate([increment.ravel(), zetas.ravel()]))
        return released[: increment.size].reshape(increment.shape), zetas

    patch.setattr(Steps, "jointly", release_v_only)


def skipped_whitened_clip(patch):
    patch.setattr(slope_queries_module, "clip_contributions", lambda contributions, *_: None)


def lengths_by_another_map(patch):
    def by_diagonal(self, A, bound):
        bound_slopes(self, np.diag(np.diag(A)), bound)
        self._A = A

    bound_slopes = CertifiedRows.bound_slopes
    patch.setattr(CertifiedRows, "bound_slopes", by_diagonal)


def intercept_outside_of_the_moment(patch):
    def shorter(**numbers):
        return WhitenedProblem(**numbers | {"row_norm": 1.0})

    patch.setattr(whitened_method_module, "WhitenedProblem", shorter)


def exact_moment(patch):
    """Released, and then not looked at."""
    seen, moment = [], CertifiedRows.moment

    def seeing(self, mechanism):
        seen.append(moment(self, mechanism))
        return seen[-1]

    as_symmetric = _solver.as_symmetric
    patch.setattr(CertifiedRows, "moment", seeing)
    patch.setattr(_solver, "as_symmetric", lambda _, size: as_symmetric(seen[-1], size))


def steps_by_the_data(patch):
    """Their sum costs the same, however many there are, but their number tells."""
    targets, choose = [], _solver.choose_steps

    def choosing(white, plan, rules):
        steps = choose(white, plan, rules)
        return steps._replace(n_steps=steps.n_steps + (targets[-1] > 0.0))

    def seeing(self, rows, labels, *rest, original=CertifiedRows.__init__, **others):
        targets.append(labels[K, 0])
        original(self, rows, labels, *rest, **others)

    patch.setattr(CertifiedRows, "__init__", seeing)
    patch.setattr(_solver, "choose_steps", choosing)


# With little noise and clipping, so that updates are not all as long as the bound.
SEQUENTIAL = DPSCDClassifier(
    alpha=0.1, epsilon=1e4, max_iter=6, batch_size=12, clipping_norm=10.0, **TWO
).set_params(solver="sequential")
SGD = DPSGDClassifier(max_iter=3, batch_size=12, clipping_norm=0.1, **TWO)
WHITENED = DPLogisticRegression(clipping_norm=0.01, max_iter=3, **TWO)
FAULTS = [
    (skipped_whitened_clip, WHITENED, {"sensitivity", "sensitivity of the rounded value"}),
    (
        lengths_by_another_map,
        DPRidge(epsilon=1e4, clipping_norm=1e-3, max_iter=3, random_state=0),
        {"sensitivity"},
    ),
    (
        intercept_outside_of_the_moment,
        DPLogisticRegression(clipping_norm=0.01, max_iter=3, **PLAIN, **TWO),
        {"sensitivity"},
    ),
    (exact_moment, WHITENED, {"published coef_"}),
    (
        exact_moment,
        DPRidge(epsilon=1e4, target_bounds=(-1, 1), **PLAIN, random_state=0),
        {"published clipping_norm_", "releases"},
    ),
    (steps_by_the_data, WHITENED, {"releases", "published n_iter_"}),
    (skipped_clip, SGD, {"sensitivity", "sensitivity of the rounded value"}),
    (skipped_dual_clip, DPSCDClassifier(clipping_norm=0.01, **TWO), {"sensitivity"}),
    (skipped_entry_clip, DPCDLasso(clipping_norm=0.1, random_state=0), {"sensitivity"}),
    (intercept_left_out, SGD, {"sensitivity"}),
    (halved_bound, SGD, {"sensitivity"}),
    (draw_that_reads, SGD, {"draws", "order"}),
    (attribute_of_the_data, SGD, {"published scale_", "published pickle"}),
    (private_attribute_of_the_data, SGD, {"published _labels", "published pickle"}),
    (warning_of_the_data, SGD, {"published warnings"}),
    (coefficient_without_release, SGD, {"published coef_", "published intercept_"}),
    (telling(print), SGD, {"published stdout"}),
    (telling(lambda length: print(length, file=sys.stderr)), SGD, {"published stderr"}),
    (telling(logging.getLogger("skdp.fits").debug), SGD, {"published logs"}),
    (
        telling(lambda length: setattr(DPSGDClassifier, "_longest", length)),
        SGD,
        {"published class"},
    ),
    (early_stop, SGD, {"releases", "order"}),
    (sequential_with_an_exact_dual, SEQUENTIAL, {"a release without the record"}),
]


def name_of(part):
    """The same in every process, unlike a function's address or a set's order."""
    if callable(part):
        return part.__name__
    return "-".join(sorted(part)) if isinstance(part, set) else type(part).__name__


@pytest.mark.parametrize(("plant", "model", "claims"), FAULTS, ids=name_of)
def test_planted_faults_are_convicted(plant, model, claims, monkeypatch):
    case = Case(model)
    X, y = case.records()
    corners = ["at the bound", "far", "opposite sign"]
    broken, _, _ = compare_all(case, X, y, corners)
    assert not broken
    plant(monkeypatch)
    broken, _, _ = compare_all(case, X, y, corners)
    assert claims <= set().union(*broken.values())


def test_a_decision_on_a_median_is_convicted_by_unrelated_data_only(monkeypatch):
    fit = DPSGDClassifier.fit

    def deciding(self, X, y, **options):
        fit(self, X, y, **options)
        self.scaled_ = bool(np.median(np.abs(X)) > 2.0)
        return self

    monkeypatch.setattr(DPSGDClassifier, "fit", deciding)
    case = Case(SGD)
    X, y = case.records()
    broken, _, base = compare_all(case, X, y, ["far"])
    assert not broken
    others = [record(case, *data, script=base.released) for data in case.data.unrelated(case, X, y)]
    assert {base.published["scaled_"]} < {other.published["scaled_"] for other in others}


def test_a_null_record_that_gives_an_intercept_is_convicted(monkeypatch):
    case = Case(SGD)
    X, y = case.records()
    null_record_with_an_intercept(monkeypatch)
    base = record(case, X, y, null=K)
    other = record(case, *neighbour(case, X, y, "only the label"), script=base.released, null=K)
    assert broken_claims(base, other, k=K, null=True)[1] > 0.0


def test_the_true_batch_size_in_the_divisor_is_convicted(monkeypatch):
    """By other coins, not by other data: the batch sizes are the same on both data sets."""
    monkeypatch.setattr(PoissonSampler, "divisor", lambda self, batch: max(batch.size, 1))
    case = Case(SGD)
    X, y = case.records()
    base = record(case, X, y)
    other = record(case, X, y, script=base.released, random_state=1)
    assert base.published["coef_"] != other.published["coef_"]


def halved_noise(self, shape, stream):
    return 0.5 * stream.normal(shape)


def noise_shared_by_classes(self, shape, stream):
    return np.tile(stream.normal(shape[1:]), (shape[0], 1))


@pytest.mark.parametrize("draw", [halved_noise, noise_shared_by_classes])
def test_noise_that_is_not_as_stated_is_convicted(draw, monkeypatch):
    case = Case(DPSGDClassifier(batch_size=9, **THREE))
    assert min(noise_p_values(record(case, *case.records()))) > 1e-9
    monkeypatch.setattr(GaussianMechanism, "_draw", draw)
    assert min(noise_p_values(record(case, *case.records()))) < 1e-9


def test_an_attribute_of_the_labels_is_convicted(monkeypatch):
    fit = WALRClassifier.fit

    def spying(self, X, y):
        fit(self, X, y)
        self.class_prior_ = y.mean()
        return self

    monkeypatch.setattr(WALRClassifier, "fit", spying)
    case = LABEL_CASES[0]
    X, y = case.records()
    base = record(case, X, y)
    k, moved = next(label_neighbours(case, np.append(y, [0, 0, 0])))
    other = record(case, X, moved[:N_ROWS], script=base.released)
    assert "published class_prior_" in broken_claims(base, other, k=k)[0]
