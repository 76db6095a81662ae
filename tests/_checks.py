"""scikit-learn's checks: those of an instance in few tests, and of most instances in the long tier.

There are fifty of an instance, and what pytest does around a test takes as long as most of them.
`tests/test_checks.py` has the estimators.
"""

import functools

import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from tests._loops import run_all

# Those that no parameter has a say in. A check that isn't named here, as those of versions to come,
# is made on every instance.
OF_A_CLASS = {
    # Of the constructor, tags, signatures and what is asked before a fit.
    "check_classifiers_one_label_sample_weights",
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_get_tags_default_keys",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_param_validation",
    "check_parameters_default_constructible",
    "check_regressors_no_decision_function",
    "check_set_params",
    "check_transformers_unfitted",
    "check_transformers_unfitted_stateless",
    "check_valid_tag_types",
    # Of tables: `validate_data` reads them, and names columns, before a parameter is looked at.
    "check_array_api_input",
    "check_classifiers_regression_target",
    "check_complex_data",
    "check_dataframe_column_names_consistency",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_fit1d",
    "check_global_output_transform_pandas",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_requires_y_none",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_supervised_y_no_nan",
    # Of containers and formats, from all of which `validate_data` makes what fits take.
    "check_classifier_data_not_an_array",
    "check_estimator_sparse_array",
    "check_estimator_sparse_tag",
    "check_f_contiguous_array_estimator",
    "check_regressor_data_not_an_array",
    "check_supervised_y_2d",
    "check_transformer_data_not_an_array",
    # check_classifiers_train and check_regressors_train have rows that can't be written to, too.
    "check_readonly_memmap_input",
    # Of what all fits of a class end with, and of what predicts after them.
    "check_classifiers_one_label",
    "check_estimators_fit_returns_self",
    "check_estimators_partial_fit_n_features",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
}
# Those of a class that the quick tests lack.
OF_LONG = {
    # A thousand passes, over all of which weights are taken as over one.
    "check_class_weight_classifiers",
    # What `check_estimator_sparse_array` does, in other containers of the same entries.
    "check_estimator_sparse_matrix",
}
# No check of a class can tell a short fit: few steps, whose noise a formula gives. Only a solver of
# public numbers warns where it stops early.
SHORT = {"max_iter": 2, "accountant": "rdp"}
# The tests of an instance: see `part_of`.
PARTS = ("parameters", "class", "class, long")


def with_checks(estimators, parts=PARTS, composed=(), excused=None):
    """As `parametrize_with_checks`, but for a few tests of an instance, which name what fails.

    One has the checks that parameters have a say in, the others those of the class: for the first
    instance with its methods and its epsilon, by short fits. `parts` says which of these tests
    there are. Without all cases there are tests of the first instance of a class, but for checks
    that only all cases have; of the classes of a module that are `composed` of other estimators
    there is the first test alone. `excused` has, by the class of an estimator, checks that must
    fail.
    """
    parameters, seen = [], set()
    for estimator in estimators:
        kind = type(estimator), get_tags(estimator).estimator_type
        is_composed = type(estimator) in composed
        room = type(estimator).__module__
        marks = pytest.mark.long if kind in seen or (is_composed and room in seen) else []
        alike = *kind, estimator.get_params().get("epsilon"), *methods_of(estimator)
        parameters.append(pytest.param(estimator, "parameters", marks=marks))
        if alike not in seen:
            known = estimator.get_params() if not hasattr(estimator, "noise_shape") else ()
            quick = clone(estimator).set_params(**{k: v for k, v in SHORT.items() if k in known})
            class_marks = pytest.mark.long if is_composed else marks
            parameters.append(pytest.param(quick, "class", marks=class_marks))
            parameters.append(pytest.param(quick, "class, long", marks=pytest.mark.long))
        seen |= {kind, room, alike}

    parameters = [one for one in parameters if one.values[1] in parts]

    def decorate(test):
        @functools.wraps(test)
        def loop(estimator, part):
            must_fail = (excused or {}).get(type(estimator), ())

            def run(estimator, check):
                if name_of(check) in must_fail:
                    with pytest.raises(AssertionError):
                        test(estimator, check)
                else:
                    test(estimator, check)

            checks = estimator_checks_generator(estimator)
            checks = [(one, check) for one, check in checks if part_of(check) == part]
            run_all(run, [{"estimator": one, "check": check} for one, check in checks])

        # pytest would ask it for its parameters.
        del loop.__wrapped__
        return pytest.mark.parametrize(("estimator", "part"), parameters, ids=brief)(loop)

    return decorate


def part_of(check):
    """Return which of an instance's tests has a check."""
    name = name_of(check)
    if name in OF_LONG:
        return "class, long"
    return "class" if name in OF_A_CLASS else "parameters"


def methods_of(estimator):
    """Return the names of the methods that an estimator has with its parameters."""
    names = (name for name in dir(estimator) if not name.startswith("_"))
    return [name for name in names if callable(getattr(estimator, name, None))]


def brief(value):
    """Return a test's name for an estimator, or for which of its checks there are."""
    return value if isinstance(value, str) else "".join(repr(value).split())


def name_of(check):
    """Return the name of one of scikit-learn's checks."""
    return getattr(check, "func", check).__name__
