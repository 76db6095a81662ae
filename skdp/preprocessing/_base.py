"""What private transformers share."""

from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._estimator import RecordPrivateEstimator, captioned_box
from skdp._rows.bounds import counted_rows
from skdp._rows.fused import sums_of
from skdp._rows.groups import encode_groups
from skdp._rows.numbers import validate_numbers
from skdp.preprocessing._solver import CountedColumns


class PrivateTransformer(TransformerMixin, RecordPrivateEstimator):
    """A transformer that learns from the records it protects.

    Subclasses have `_plan`, which makes the plan of a fit from the numbers of rows and features.
    What a fitted one promises of its output, whatever rows it gets, is public: ``norm_bound_``, an
    L2 norm that no row exceeds, and ``feature_bounds_``, a pair of arrays of shape (n_outputs,)
    with the range of each column; both up to rounding in the type of the output, which is float32
    only where that can hold the range.
    """

    def _sk_visual_block_(self):
        return captioned_box(self)

    def _start(self, X, groups):
        """Plan a fit and start it: return the plan, its run or None, and which rows count.

        Of each group one row counts.
        """
        codes, n_records = encode_groups(groups, len(X))
        plan = self._plan(n_records, X.shape[1], by_group=codes is not None)
        run = plan.start(self.random_state)
        rows = slice(None) if run is None else counted_rows(X, codes, run)
        return plan, run, rows

    def _report(self, plan, run, *, also_public=(), also_not_covered=()):
        """Return the report of a fit, which is over; None where there was nothing to learn.

        `also_public` and `also_not_covered` are said besides what the plan's budget says.
        """
        if run is not None:
            run.finish()
        return plan.report(
            reproducible=self.random_state is not None,
            also_public=also_public,
            also_not_covered=also_not_covered,
        )


class NumberTransformer(PrivateTransformer):
    """A private transformer of numbers, none of them missing, that keeps their type.

    Subclasses have `_learn`, which publishes what queries to columns tell. It takes a function that
    gives a plan, its run and the columns, in memory (`CountedColumns`) or in partitions; the number
    of features; and what the report says besides.
    """

    def _learn_rows(self, X, groups):
        """Learn from rows in memory."""

        def start():
            plan, run, rows = self._start(X, groups)
            with sums_of(groups):
                return plan, run, CountedColumns(self._counted(X[rows]))

        return self._learn(start, X.shape[1])

    def _counted(self, X):
        """Return the columns that are counted of rows."""
        return X

    def _numbers(self, X):
        """Return rows that are to be transformed."""
        check_is_fitted(self)
        return validate_numbers(self, X, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
