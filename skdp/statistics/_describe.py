"""A first look at a raw table."""

from dataclasses import replace
from numbers import Real

from skdp._estimator import BUDGET_CONSTRAINTS
from skdp._release.plan import Budget, GroupBudget, resolve_delta
from skdp._rows.bounds import counted_rows
from skdp._rows.frames import read_frame
from skdp._rows.groups import encode_groups
from skdp._sklearn import Interval, StrOptions, validate_params
from skdp.ledger._account import resolve_account
from skdp.preprocessing.table._given import chosen_pairs, read_specs, specs_of
from skdp.preprocessing.table._kinds import settle_kinds
from skdp.preprocessing.table._plan_kinds import learnt_names
from skdp.preprocessing.table._vectorizer import DPTableVectorizer, assumed_kinds
from skdp.statistics._description import PrivateDescription
from skdp.statistics._plan import plan_description
from skdp.statistics._solver import release_description

_CUT = "means and standard deviations are of numbers clipped to ranges that the noisy bins showed"
_DRAWN = "one row of each group is described, drawn at random"
_CONSTRAINTS = BUDGET_CONSTRAINTS | {
    # There is no description without Gaussian noise.
    "delta": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
    "crosstabs": ["array-like"],
    "numeric_features": ["array-like", None],
    "categorical_features": ["array-like", None],
    "groups": ["array-like", None],
    "level": [Interval(Real, 0, 1, closed="neither")],
}


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def describe(
    X,
    *,
    epsilon,
    delta="auto",
    crosstabs=(),
    numeric_features=None,
    categorical_features=None,
    groups=None,
    adjacency="zero_out",
    level=0.95,
    ledger=None,
    random_state=None,
):
    """Describe a raw table: counts, gaps, means, quantiles, histograms and crosstabs.

    **Guarantee.** The whole result is (`epsilon`, `delta`)-differentially private for one row under
    `adjacency`. Its ``privacy_report_`` lists what is assumed public and what is not covered.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Raw rows, as a frame of pandas, polars or Arrow, an array, or lists.
    epsilon : float
        Privacy loss, above 0. ``float("inf")`` adds no noise.
    delta : float or "auto", default="auto"
        Probability, in (0, 1), that the loss may exceed `epsilon`. "auto" is 1e-5, or ``0.1 / n``
        where that is less; n is the number of records, or of people where groups are given.
    crosstabs : list of pairs, default=()
        Pairs of columns, by name or position, whose values are counted together. Each takes as much
        of the budget as the histogram of a column.
    numeric_features, categorical_features : list, default=None
        Columns of numbers and of words, by name or position. Of all others the types say what they
        hold, which the report names as assumed public: numbers, booleans, dates, or words, if it is
        categories. What columns of objects or text hold, or those of lists, is learnt within the
        budget. In a column of numbers, an entry that is not a number is missing. doc/reading.rst
        has the rules.
    groups : array-like of shape (n_samples,), default=None
        The person, household, ... of each row, as hashable ids. The guarantee is then for one group
        with all its rows, and the described table has one row of each group, drawn at random. With
        None each row is a record.
    adjacency : {"zero_out", "replace_one"}, default="zero_out"
        Which data sets are neighbouring. One record is replaced by a null record that contributes
        nothing ("zero_out"), or by any other record ("replace_one"). The second needs about twice
        the noise.
    level : float, default=0.95
        Level of the intervals. They are for the values of the table itself: they cover the noise,
        but not the sampling of the records.
    ledger : str, PathLike, PrivacyLedger or None, default=None
        Ledger to which the release is charged; see :mod:`skdp.ledger`.
    random_state : int, RandomState instance or None, default=None
        See :func:`private_score`.

    Returns
    -------
    description : PrivateDescription
        Frames of pandas, a figure and the report.

    Raises
    ------
    BudgetExceededError
        If there is a ledger, and too little is left in it.
    TypeError
        If X is sparse, an id can't be hashed, or a column is of a type that can't be read.
    ValueError
        If a parameter is out of range, X is empty, or a pair isn't one of two columns.

    See Also
    --------
    skdp.preprocessing.DPTableVectorizer : Bounded columns of such a table, for a model.

    Notes
    -----
    Where types don't say what columns hold, noisy counts of numbers, dates, codes and other texts
    do. Columns of numbers are counted in bins, which get finer where there are many numbers.
    Frequent words are found by a threshold, and all other words together are "infrequent". Then
    words and crosstabs are counted, in one release. Means have a release of their own. Numbers are
    clipped to the range of the bins that stand out from the noise, and means are biased by the
    values beyond it. doc/theory/describe.rst has proofs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdp.statistics import describe
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 80, 5000)})
    >>> table["job"] = rng.choice(["nurse", "clerk"], 5000)
    >>> found = describe(table, epsilon=1.0, crosstabs=[("age", "job")], random_state=0)
    >>> found
    PrivateDescription of 2 columns and 1 crosstab, (1, 1e-05)-DP while the seed stays secret
    >>> frame = found.to_frame()
    >>> bool(abs(frame.loc["age", "mean"] - table["age"].mean()) < 1.0)
    True
    """
    reader = DPTableVectorizer(
        numeric_features=numeric_features, categorical_features=categorical_features
    )
    frame = read_frame(reader, X, reset=True)
    specs = specs_of(reader, frame.names, frame.kinds)
    pairs = chosen_pairs(crosstabs, frame.names, "crosstabs")
    specs = specs.with_settings({"crosstabs": [place for pair in pairs for place in pair]})

    # A record is in one bin, word and cell.
    codes, n_records = encode_groups(groups, frame.n_rows)

    make_budget = Budget if codes is None else GroupBudget
    delta = resolve_delta(delta, n_records)
    parameters = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "level": level}
    account = resolve_account(ledger, "describe", parameters)
    budget = make_budget(epsilon, delta, adjacency, accountant="pld", account=account)
    plan = plan_description(budget, specs, len(pairs), n_records=n_records)
    run = plan.start(random_state)

    frame = replace(frame, rows=counted_rows(range(frame.n_rows), codes, run.coins()))
    frame, specs, plan = settle_kinds(frame, specs, read_specs, plan=plan, run=run)
    columns, tables = release_description(frame, specs, pairs, plan=plan, run=run)
    run.finish()

    public = "every argument of the call but the records", *budget.assumed_public[1:]
    report = replace(
        plan.report(reproducible=run.reproducible),
        assumed_public=public + assumed_kinds(frame.typed, learnt_names(plan)),
        notes=(_CUT,) if codes is None else (_CUT, _DRAWN),
    )
    return PrivateDescription(columns=columns, tables=tables, level=level, privacy_report_=report)
