"""MLflow: a model is logged with the types to trust, and autologging keeps exact scores."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdp.linear_model import DPLogisticRegression
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler, NormClipper
from skdp.utils.persistence import trusted_types
from tests.site._edges import covers, make_records

mlflow = pytest.importorskip("mlflow")
pytest.importorskip("skops")
pytestmark = pytest.mark.filterwarnings(
    # mlflow 3.17 with scikit-learn 1.9, and of its own type hints.
    "ignore:`y_pred` was renamed:FutureWarning",
    "ignore:.*Any type hint is inferred as AnyType:UserWarning",
    # With pandas 3.
    "ignore:.*(will be keyword-only|Operation with range is deprecated):DeprecationWarning",
)


@pytest.fixture(autouse=True)
def tracking(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_LOGGING", "false")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield
    mlflow.sklearn.autolog(disable=True)


@pytest.fixture
def data():
    X, y = make_records()
    return pd.DataFrame(X, columns=list("abcd")), y


def run_of(fit):
    with mlflow.start_run() as run:
        fit()
    client = mlflow.MlflowClient()
    files = [file.path for file in client.list_artifacts(run.info.run_id)]
    return mlflow.get_run(run.info.run_id), files


@covers("mlflow.sklearn.log_model")
def test_a_model_is_logged_with_the_types_to_trust(data):
    X, y = data
    steps = (BoundsScaler((-1, 1)), NormClipper(), DPLogisticRegression(classes=[0, 1]))
    model = make_private_pipeline(*steps).fit(X, y)
    with mlflow.start_run():
        with pytest.raises(mlflow.MlflowException, match="skops_trusted_types"):
            mlflow.sklearn.log_model(model, name="model")
        told = mlflow.sklearn.log_model(
            model, name="model", skops_trusted_types=trusted_types(), input_example=X[:2]
        )
        mlflow.log_text(model.privacy_report_.to_json(), "privacy_report.json")
    loaded = mlflow.sklearn.load_model(told.model_uri)
    assert loaded.privacy_report_ == model.privacy_report_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    # What is given as an example is kept as it is.
    example = mlflow.models.Model.load(told.model_uri).load_input_example()
    pd.testing.assert_frame_equal(example, X[:2])


@covers("mlflow.sklearn.autolog")
@pytest.mark.parametrize("options", [{}, {"log_post_training_metrics": False}])
def test_autologging_keeps_exact_scores(options, data):
    X, y = data
    mlflow.sklearn.autolog(log_models=False, **options)
    last = DPLogisticRegression(data_norm=1.0, classes=[0, 1])
    plain = make_pipeline(NormClipper(), last)
    run, files = run_of(lambda: plain.fit(X, y))
    exact = accuracy_score(y, plain.predict(X))
    assert run.data.metrics["training_accuracy_score"] == exact
    for picture in ("confusion_matrix", "roc_curve", "precision_recall_curve"):
        assert f"training_{picture}.png" in files
    assert run.inputs.dataset_inputs[0].dataset.digest
    search = GridSearchCV(plain, {"dplogisticregression__alpha": [1e-3, 1e-2]}, cv=2)
    run, files = run_of(lambda: search.fit(X, y))
    assert run.data.metrics["best_cv_score"] == search.best_score_
    assert "cv_results.csv" in files


def test_autologging_does_not_see_estimators_of_skdp_alone(data):
    mlflow.sklearn.autolog()
    last = DPLogisticRegression(data_norm=1.0, classes=[0, 1])
    for model in (last, make_private_pipeline(NormClipper(), last)):
        run, files = run_of(lambda model=model: model.fit(*data))
        assert run.data.metrics == run.data.params == {}
        assert files == []
