"""Whether a report is of a differentially private result: a field says so, and no sentence."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.accountant import GaussianEvent, LaplaceEvent, PrivacyReport, compose
from skdp.calibration import DPCalibratedClassifier
from skdp.inspection import preview, total_report
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPLogisticRegression, DPSGDClassifier, WALRClassifier
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import DPNormClipper, DPStandardScaler
from tests._loops import for_each
from tests.door import UNRECORDED

X = np.random.default_rng(0).uniform(-1, 1, (300, 3))
Y = (X[:, 0] > 0).astype(int)
# What skdp 0.3.0 wrote of a fit of WALRClassifier.
OLD = """{"epsilon": 1.0, "delta": 1e-05, "adjacency": "replace_label", "events": [{"type":
"GaussianEvent", "noise_multiplier": 3.7306316385465736, "sampling_rate": 1.0, "n_steps": 1,
"n_parts": 1, "pairwise": true}], "clipping": 2.3529209588686135, "accountant": "analytic",
"accountant_version": "closed form", "skdp_version": "0.3.0", "unit": "the label of one row",
"assumed_public": ["every parameter of the estimator"], "not_covered": ["running time"],
"reproducible": false, "notes": [], "event": "1 x pairwise Gaussian(3.7306)", "sampling":
"full batch", "sampling_rate": 1.0, "n_steps": 1, "n_releases": 1, "noise_multiplier":
3.7306316385465736, "mu": 0.26805112294324307}"""


def make_report(**changes):
    fields = {"epsilon": 1.0, "delta": 0.0, "adjacency": "zero_out", "clipping": 1.0}
    fields |= {"events": [LaplaceEvent(2.0)], "accountant": "pld"}
    return PrivacyReport(**fields | changes)


def model(**changes):
    return DPLogisticRegression(classes=[0, 1], **changes)


def scaler(**changes):
    return DPStandardScaler(feature_bounds=(-1, 1), **changes)


def frozen(step):
    return FrozenEstimator(step.fit(X, Y))


def within_columns():
    columns = make_column_transformer((StandardScaler(), [0]), (scaler(), [1, 2]))
    name = "columntransformer__standardscaler"
    return make_private_pipeline(columns, model(), allow=(name,)), (name,)


def wrapped():
    inside = make_private_pipeline(StandardScaler(), model(), allow=("standardscaler",))
    outer = make_private_pipeline(scaler(), DPCalibratedClassifier(inside))
    return outer, ("dpcalibratedclassifier__standardscaler",)


def twice_frozen():
    inside = make_private_pipeline(StandardScaler(), scaler(), allow=("standardscaler",))
    name = "frozenestimator__standardscaler"
    outer = make_private_pipeline(frozen(inside), model(), allow=(name,))
    return outer, (name, "frozenestimator")


def fitted_again_in_frozen():
    inside = make_private_pipeline(scaler(), DPNormClipper()).fit(X, Y)
    inside[0].fit(X)
    return make_private_pipeline(FrozenEstimator(inside), model()), ("frozenestimator",)


def of_frozen(**changes):
    return make_private_pipeline(frozen(scaler(**changes)), model()), ("frozenestimator",)


# Private pipelines, and what they learn without protection.
UNPROTECTED = {
    "allowed": lambda: (
        make_private_pipeline(StandardScaler(), model(), allow=("standardscaler",)),
        ("standardscaler",),
    ),
    "within columns": within_columns,
    "wrapped": wrapped,
    "frozen without noise": lambda: of_frozen(epsilon=math.inf),
    "frozen with a seed": lambda: of_frozen(random_state=0),
    "frozen with what is allowed": twice_frozen,
    "fitted again in what is frozen": fitted_again_in_frozen,
}


@pytest.mark.parametrize("kind", UNPROTECTED)
def test_a_pipeline_names_what_it_learns_without_protection(kind):
    pipeline, names = UNPROTECTED[kind]()
    expected = preview(pipeline, *X.shape)
    report = pipeline.fit(X, Y).privacy_report_
    assert report.unprotected == expected.unprotected == names
    assert report.differentially_private is pipeline.differentially_private_ is False
    # It is named wherever the report goes.
    joint = compose([report, make_report(delta=1e-6)])
    stored = PrivacyReport.from_json(report.to_json())
    total = total_report(make_pipeline("passthrough", pipeline))
    for other in (joint, stored, pickle.loads(pickle.dumps(report)), dataclasses.replace(report)):
        assert other.unprotected == names
        assert other.differentially_private is False
    outer = type(pipeline).__name__.lower()
    assert {f"{outer}__{name}" for name in names} <= set(total.unprotected)
    for text in (report.to_text(), report._repr_html_(), report.to_registry_yaml()):
        assert all(name in text for name in names)
        assert "be called differentially private" in " ".join(text.split())
    assert all(name.replace("_", r"\_") in report.to_markdown() for name in names)


def test_what_was_fitted_before_with_protection_is_a_caveat_alone():
    pipeline = make_private_pipeline(frozen(scaler(epsilon=0.5)), model()).fit(X, Y)
    assert "was fitted before" in pipeline.privacy_report_.not_covered[0]
    assert pipeline.differentially_private_ is True


def test_a_total_names_what_has_no_report_or_no_noise():
    columns = make_column_transformer((StandardScaler(), [0]), (scaler(), [1, 2]))
    report = total_report(make_pipeline(columns, model()).fit(X, Y))
    assert report.unprotected == ("columntransformer__standardscaler",)
    assert report.differentially_private is False
    report = total_report(make_pipeline(scaler(epsilon=math.inf), model()).fit(X, Y))
    assert report.unprotected == ("dpstandardscaler",)
    assert "without noise" in report.not_covered[0]


def test_a_ledger_names_what_its_fits_learnt_without_protection(tmp_path):
    ledger = PrivacyLedger(tmp_path / "study", epsilon=3.0, delta=1e-5)
    assert ledger.report().differentially_private is True
    steps = StandardScaler(), model()
    make_private_pipeline(*steps, ledger=ledger, allow=("standardscaler",)).fit(X, Y)
    (stored,) = ledger.to_frame(reports=True).report
    for report in (ledger.report(), PrivacyReport.from_json(stored)):
        assert report.unprotected == ("standardscaler",)
        assert report.differentially_private is False


def test_no_text_changes_the_verdict():
    told = "step 'a' (A), which may learn from the records without privacy and is named in allow"
    open_report = make_report(unprotected=("a",), not_covered=(told,))
    for changes in ({"not_covered": ()}, {"notes": ("it is private",)}, {"assumed_public": ()}):
        assert dataclasses.replace(open_report, **changes).differentially_private is False
    entries = open_report.to_dict() | {"not_covered": ["private"], "notes": []}
    assert PrivacyReport.from_dict(entries).differentially_private is False
    assert make_report(not_covered=(told,)).differentially_private is True


def test_a_report_of_an_older_version_is_not_said_to_be_private():
    now = WALRClassifier(classes=[0, 1]).fit(X, Y).privacy_report_
    assert now.differentially_private is True
    entries = now.to_dict()
    del entries["unprotected"]
    state = {name: value for name, value in vars(now).items() if name != "unprotected"}
    pickled = object.__new__(PrivacyReport)
    pickled.__setstate__(state)
    for old in (PrivacyReport.from_json(OLD), PrivacyReport.from_dict(entries), pickled):
        assert old.unprotected == (UNRECORDED,)
        assert old.differentially_private is False
        for text in (old.not_covered[0], old.to_text(), old.to_registry_yaml()):
            assert "skdp 0.3.0, which stored this report, kept no list of them. Fit again" in (
                " ".join(text.split())
            )
        assert compose([old, now]).differentially_private is False
        again = PrivacyReport.from_json(old.to_json())
        assert again == old


def test_what_an_older_ledger_released_is_read_from_where_it_was_written(tmp_path):
    report = PrivacyLedger(tmp_path / "study", epsilon=1.0, delta=1e-5).report()
    entries = report.to_dict()
    entries["notes"].insert(1, f"released: {entries.pop('released')}")
    state = {name: value for name, value in vars(report).items() if name != "released"}
    state["notes"] = tuple(entries["notes"])
    pickled = object.__new__(PrivacyReport)
    pickled.__setstate__(state)
    assert PrivacyReport.from_dict(entries) == pickled == report
    assert report.released == "nothing yet"
    # Together with a fit, both say what they released.
    joint = compose([report, make_report(delta=1e-6)])
    assert joint.released == f"nothing yet, then {make_report().event}"


@for_each("value", ["abc", None, 1, {"a": 1}, [1], ("a", None), ("a\nb",)])
def test_what_is_no_list_of_names_is_refused_and_never_private(value):
    with pytest.raises((TypeError, ValueError), match="unprotected must be"):
        make_report(unprotected=value)
    report = make_report()
    value = list(value) if isinstance(value, tuple) else value
    with pytest.raises(ValueError, match="unprotected"):
        PrivacyReport.from_dict(report.to_dict() | {"unprotected": value})
    object.__setattr__(report, "unprotected", value)
    for changed in (report, pickle.loads(pickle.dumps(report))):
        assert changed.differentially_private is False
        with pytest.raises((TypeError, ValueError), match="unprotected must be"):
            compose([changed])


def test_the_classes_of_a_stream_are_known_to_be_read_whatever_its_report_says():
    made = {"mechanism": "laplace", "delta": 0.0}
    stream = DPSGDClassifier(**made).fit(X, Y)
    stream._restate(dataclasses.replace(stream.privacy_report_, assumed_public=()))
    report = stream.partial_fit(X, Y).privacy_report_
    assert any("which was read from y" in text for text in report.assumed_public)
    declared = DPSGDClassifier(classes=[0, 1], **made).fit(X, Y).partial_fit(X, Y)
    assert not any("read from y" in text for text in declared.privacy_report_.assumed_public)


def test_names_that_no_report_holds_are_written_as_others():
    pipeline = make_private_pipeline(StandardScaler(), model())
    pipeline.steps[0] = ("a\nb", StandardScaler())
    pipeline.set_params(allow=("a\nb",)).fit(X, Y)
    report = pipeline.privacy_report_
    assert report.unprotected == (r"a\nb",)
    assert PrivacyReport.from_json(report.to_json()).unprotected == report.unprotected


def test_gaussian_events_alone_say_nothing_of_parts():
    event = GaussianEvent(10.0)
    fields = {"adjacency": "zero_out", "clipping": 1.0, "accountant": "pld"}
    report = PrivacyReport(epsilon=1.0, delta=1e-5, events=[event], **fields)
    assert report.unprotected == ()
    assert report.differentially_private is True
