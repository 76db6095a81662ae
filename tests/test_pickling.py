"""Who gets a copy of a seeded fit gets its seed: the copy warns."""

import copy
import io
import math
import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline

from skdp.exceptions import PrivacyWarning
from skdp.linear_model import DPSCDClassifier, DPSGDClassifier
from skdp.preprocessing import NormClipper
from tests._listed import PRIVATE, suited
from tests._loops import points_at
from tests.door import fits_of

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 has its own
    from joblib.externals import cloudpickle

pytestmark = pytest.mark.filterwarnings("ignore:(target_bounds=N|the size of)")

COPIES = {
    "pickle": pickle.dumps,
    "pickle in Python": lambda model: pickle._dumps(model),
    "first protocol": lambda model: pickle.dumps(model, protocol=0),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "joblib": lambda model: joblib.dump(model, io.BytesIO()),
    "cloudpickle": cloudpickle.dumps,
}


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (200, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("estimator", PRIVATE)
def test_a_copy_of_a_seeded_fit_warns(estimator, records):
    for seed in (918273, np.random.RandomState(918273)):
        model = estimator(random_state=seed)
        model.fit(records[0], suited(model, records[1]))
        for name, copied in COPIES.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                copied(model)
            assert [found.category for found in caught] == [PrivacyWarning], name
            message = str(caught[0].message)
            assert "random_state" in message, name
            assert f"This {estimator.__name__} was fitted with a seed" in message, name
            # Logs are copies, too.
            assert "918273" not in message, name
            assert points_at(caught[0], __file__), name


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_that_hold_no_noise_are_silent(copied, records):
    seeded = DPSCDClassifier(random_state=0)
    copied(seeded)
    copied(clone(seeded).set_params(epsilon=math.inf).fit(*records).set_params(epsilon=1.0))
    copied(clone(seeded).fit(*records).set_params(random_state=None))
    copied(DPSCDClassifier().fit(*records).set_params(random_state=0))


def test_clones_are_silent_and_hashes_are_not(records):
    """What joblib hashes it pickles, and nothing tells this from a pickle that is kept."""
    model = DPSCDClassifier(random_state=0).fit(*records)
    clone(model)
    with pytest.warns(PrivacyWarning, match="random_state") as caught:
        assert joblib.hash(model) == joblib.hash(model)
    assert len(caught) == 2


def test_a_copy_in_this_process_knows_the_order_of_fits_and_a_file_does_not(records):
    model = DPSCDClassifier().fit(*records)
    for copied in (copy.copy(model), copy.deepcopy(model)):
        assert fits_of(copied) == fits_of(model)
    assert model.__getstate__()["_fits"] == (1, 0)


def test_what_holds_a_seeded_fit_warns_too(records):
    pipeline = make_pipeline(NormClipper(1.0), DPSCDClassifier(random_state=0)).fit(*records)
    # Members get seeds unasked.
    bag = BaggingClassifier(DPSCDClassifier(), n_estimators=2).fit(*records)
    stream = DPSGDClassifier(mechanism="laplace", random_state=0)
    stream.partial_fit(*records, classes=[0, 1])
    for holder, n_warnings in ((pipeline, 1), (bag, 2), (stream, 1), ({"kept": [stream]}, 1)):
        for copied in COPIES.values():
            if copied is copy.copy:
                continue
            with pytest.warns(PrivacyWarning, match="random_state") as caught:
                copied(holder)
            assert len(caught) == n_warnings
            assert all(points_at(warning, __file__) for warning in caught)


class Rebuilt(DPSCDClassifier):
    """A subclass that says itself what a pickle of it holds: a function, and what it is given."""

    def __reduce__(self):
        return Rebuilt, ()


def test_a_subclass_says_itself_what_its_pickles_hold():
    assert type(pickle.loads(pickle.dumps(Rebuilt()))) is Rebuilt
