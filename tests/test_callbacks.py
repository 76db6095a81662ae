"""scikit-learn's callbacks: what shows a fit works, and what would read its rows is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdp.linear_model import DPLogisticRegression, DPRidge
from skdp.model_selection import DPGridSearch
from skdp.pipeline import make_private_pipeline
from skdp.preprocessing import BoundsScaler
from skdp.utils.discovery import all_estimators

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
N_TASKS = 100


class Seen:
    """Keeps what it is told, here and in what it is handed on to, and asks for nothing."""

    max_propagation_depth = None

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", type(estimator).__name__, ""))

    def teardown(self, estimator, context):
        self.events.append(("teardown", type(estimator).__name__, ""))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.estimator_name, context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.estimator_name, context.task_name))

    def ended(self, name):
        """Names of the tasks of an estimator that ended, in order."""
        return [task for what, owner, task in self.events if (what, owner) == ("end", name)]


class Reads(Seen):
    """Asks for the rows of each task, as a monitor of scores does."""

    def on_fit_task_end(self, estimator, context, *, X=None):
        raise AssertionError("it was called")


class Stops(Seen):
    """Asks to stop after the first task."""

    def on_fit_task_end(self, estimator, context):
        return context.task_name != "fit"


def records(n_rows=300, width=1.0):
    rng = np.random.default_rng(20)
    X = rng.normal(size=(n_rows, 3)) * width
    return X, (X[:, 0] > 0.0).astype(int)


def model(**options):
    return DPLogisticRegression(classes=[0, 1], max_iter=4, **options)


def test_a_fit_is_so_many_tasks_whatever_its_rows_hold():
    events = []
    for data in (records(), records(width=1e3), (np.zeros((300, 3)), records()[1])):
        seen = Seen()
        model(random_state=0).set_callbacks(seen).fit(*data)
        events.append(seen.events)
    assert events[0] == events[1] == events[2]
    assert (events[0][0][0], events[0][-1][0]) == ("setup", "teardown")
    tasks = seen.ended("DPLogisticRegression")
    assert (len(tasks), tasks[-1]) == (N_TASKS + 1, "fit")
    assert any("steps" in task for task in tasks)


def test_a_fit_is_the_same_with_callbacks_and_without():
    fits = [model(random_state=0) for _ in range(2)]
    fits[0].set_callbacks(Seen())
    for fit in fits:
        fit.fit(*records())
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].privacy_report_ == fits[1].privacy_report_
    assert not [name for name in vars(fits[0]) if "callback_fit_ctx" in name]


@pytest.mark.every
@pytest.mark.parametrize("kind", [kind for _, kind in all_estimators("private")])
def test_what_reads_rows_is_refused_by_name(kind):
    """Whatever epsilon says then, as it may be set later."""
    estimator = kind.__new__(kind)
    with pytest.raises(ValueError, match="ScoringMonitor asks for X, y, fitted_estimator"):
        estimator.set_callbacks(Seen(), callback.ScoringMonitor(scoring="accuracy"))
    with pytest.raises(ValueError, match="Reads asks for X of each task"):
        estimator.set_callbacks(Reads())
    with pytest.raises(TypeError, match="callbacks must be instances"):
        estimator.set_callbacks("bar")
    for of_callbacks in (Seen, Reads):
        name = of_callbacks.__name__
        with pytest.raises(
            TypeError, match=rf"a callback must be an object, and {name} is a class"
        ):
            estimator.set_callbacks(of_callbacks)
    # None of them was set beside the others.
    assert not vars(estimator)
    assert vars(estimator.set_callbacks(Seen()).set_callbacks()) == {}


def test_what_reads_rows_is_refused_where_it_is_handed_on():
    plain = make_pipeline(model()).set_callbacks(Reads())
    with pytest.raises(ValueError, match="Reads asks for X"):
        plain.fit(*records())
    assert not hasattr(plain[-1], "privacy_report_")


def test_a_pipeline_shows_its_steps_and_scikit_learn_s_hand_callbacks_on():
    seen = Seen()
    make_private_pipeline(BoundsScaler(), model()).set_callbacks(seen).fit(*records())
    tasks = seen.ended("DPPipeline")
    assert (len(tasks), tasks[-1]) == (N_TASKS + 1, "fit")
    assert any("step 2/2" in task for task in tasks)
    seen = Seen()
    search = GridSearchCV(make_pipeline(model()), {"dplogisticregression__alpha": [1e-3]}, cv=2)
    search.set_callbacks(seen).fit(*records())
    # Two folds and the last fit. There it is one task with that of the pipeline around it.
    assert len(seen.ended("DPLogisticRegression")) == 3 * (N_TASKS + 1)
    assert not hasattr(search.best_estimator_[-1], "_skl_callbacks")


def test_nothing_stops_a_private_fit():
    stopped = model().set_callbacks(Stops())
    with pytest.raises(ValueError, match="asks to stop, and a private fit takes all steps"):
        stopped.fit(*records())
    assert not hasattr(stopped, "privacy_report_")
    assert not hasattr(stopped, "coef_")
    # scikit-learn's own would.
    LogisticRegression().set_callbacks(Stops()).fit(*records())


@pytest.mark.long
@pytest.mark.parametrize("method", ["repeat", "compose"])
def test_a_search_shows_itself_and_none_of_its_candidates(method):
    outer, inner = Seen(), Seen()
    search = DPGridSearch(
        model().set_callbacks(inner), {"data_norm": [1.0, 2.0]}, method=method, random_state=0
    )
    search.set_callbacks(outer).fit(*records())
    assert len(outer.ended("DPGridSearch")) == N_TASKS + 1
    # How many trials there are is secret.
    assert inner.events == []


def test_copies_have_the_same_callbacks_and_a_fit_that_fails_is_torn_down():
    seen = Seen()
    copy = clone(model().set_callbacks(seen))
    X, y = records()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        copy.fit(X, y)
    assert [what for what, _, _ in seen.events] == ["setup", "begin", "teardown"]


def test_lines_and_callbacks_show_the_same_fit(capsys):
    seen = Seen()
    ridge = DPRidge(ball_budget=0, data_norm=1.0, max_iter=3, target_bounds=(0, 2), verbose=2)
    ridge.set_callbacks(seen).fit(*records())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert list(dict.fromkeys(seen.ended("DPRidge"))) == [*lines[1:], "fit"]


def test_the_bar_of_scikit_learn_works(capsys):
    pytest.importorskip("rich")
    make_private_pipeline(BoundsScaler(), model()).set_callbacks(callback.ProgressBar()).fit(
        *records()
    )
    shown = capsys.readouterr().out
    assert "DPPipeline - fit" in shown
    assert "100%" in shown
