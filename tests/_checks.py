"""scikit-learn's checks: those of an instance in two tests, and of most instances in the long tier.

There are fifty of an instance, and what pytest does around a test takes as long as most of them.
"""

import functools

import pytest
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
    "check_estimator_sparse_matrix",
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
    # A thousand passes, over all of which weights are taken as over one.
    "check_class_weight_classifiers",
}


def with_checks(estimators, excused=()):
    """As `parametrize_with_checks`, but for two tests of an instance, which name what fails.

    One has the checks that parameters have a say in, the other those of the class: for the first
    instance with its methods and its epsilon. The short tier has the tests of the first instance of
    a class. Checks that are `excused` must fail.
    """
    parameters, seen = [], set()
    for estimator in estimators:
        kind = type(estimator), get_tags(estimator).estimator_type
        marks = pytest.mark.long if kind in seen else []
        alike = *kind, estimator.get_params().get("epsilon"), *methods_of(estimator)
        for of_class in (False,) if alike in seen else (False, True):
            parameters.append(pytest.param(estimator, of_class, marks=marks))
        seen |= {kind, alike}

    def decorate(test):
        @functools.wraps(test)
        def loop(estimator, of_class):
            def run(estimator, check):
                if name_of(check) in excused:
                    with pytest.raises(AssertionError):
                        test(estimator, check)
                else:
                    test(estimator, check)

            checks = estimator_checks_generator(estimator)
            checks = [(one, c) for one, c in checks if (name_of(c) in OF_A_CLASS) is of_class]
            run_all(run, [{"estimator": one, "check": check} for one, check in checks])

        # pytest would ask it for its parameters.
        del loop.__wrapped__
        return pytest.mark.parametrize(("estimator", "of_class"), parameters, ids=brief)(loop)

    return decorate


def methods_of(estimator):
    """Return the names of the methods that an estimator has with its parameters."""
    names = (name for name in dir(estimator) if not name.startswith("_"))
    return [name for name in names if callable(getattr(estimator, name, None))]


def brief(value):
    """Return a test's name for an estimator, or for which of its checks there are."""
    return {True: "class", False: "parameters"}.get(value) or "".join(repr(value).split())


def name_of(check):
    """Return the name of one of scikit-learn's checks."""
    return getattr(check, "func", check).__name__
