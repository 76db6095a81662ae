"""The order of the gallery: from what everybody needs to what few do."""

from pathlib import Path

ORDER = (
    "study_by_patient",
    "quickstart",
    "clipping_and_scaling",
    "which_estimator",
    "first_look",
    "table_as_it_comes",
    "additive",
    "regression_bounds",
    "rare_class",
    "counts",
    "quantiles",
    "inference",
    "prediction_sets",
    "grid_search_cost",
    "private_search",
    "study_of_a_week",
    "attacker",
    "lasso_selection",
    "many_columns",
    "label_blind",
    "stream",
    "personal_budgets",
    "cluster",
    "many_rows",
)


class ReadingOrder:
    """A sort key of sphinx-gallery; an example that isn't listed is an error."""

    def __init__(self, src_dir):
        pass

    def __repr__(self):
        return f"<ReadingOrder {ORDER}>"

    def __call__(self, filename):
        return ORDER.index(Path(filename).stem.removeprefix("plot_"))
