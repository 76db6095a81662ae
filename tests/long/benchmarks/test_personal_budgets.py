"""The script of personal budgets runs, and nobody's epsilon is exceeded."""

import numpy as np


def test_personal_budgets_runs(data, run, load_script, monkeypatch):
    script, told = load_script("personal_budgets"), []
    models = {name: getattr(script, name) for name in ("DPSGDClassifier", "DPLogisticRegression")}

    def noted(model):
        class Noted(model):
            def fit(self, X, y, sample_epsilon=None):
                told.append((self.epsilon, len(X), sample_epsilon))
                budgets = {} if sample_epsilon is None else {"sample_epsilon": sample_epsilon}
                return super().fit(X, y, **budgets)

        return Noted

    for name, model in models.items():
        monkeypatch.setattr(script, name, noted(model))
    table = run("personal_budgets", "--sets adult --shares 0.5 --seeds 3", "personal_budgets")
    assert table["way"].tolist() == list(script.WAYS)
    assert np.isfinite(table["mean"]).all()
    is_strict = np.random.default_rng(3).uniform(size=200) < 0.5
    personal, strictest, left_out, whitened = told
    assert personal[:2] == (1.0, 200)
    np.testing.assert_array_equal(personal[2], np.where(is_strict, 0.1, 1.0))
    assert strictest == whitened == (0.1, 200, None)
    assert left_out == (1.0, np.sum(~is_strict), None)
