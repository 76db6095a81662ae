"""A charge pays for one way through a stream: whoever goes on from a copy again pays again."""

import copy
import pickle
from multiprocessing import get_context

import numpy as np
import pytest

from skdp.exceptions import BudgetExceededError, LedgerError
from skdp.linear_model import DPSGDClassifier
from tests.ledger._fits import charges_of, forks, make_ledger, processes

STREAM = {"mechanism": "laplace", "epsilon": 0.5, "classes": [0, 1]}
N_PROCESSES = 6


@pytest.fixture
def ledger(tmp_path):
    return make_ledger(tmp_path, epsilon=30.0, delta=1e-4)


@pytest.fixture(scope="module")
def days():
    """Rows and labels of some days."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 60, 3)) / 3.0
    return list(zip(X, (X[:, :, 0] > 0).astype(int), strict=True))


def begin(ledger, day, **changes):
    return DPSGDClassifier(ledger=ledger, **STREAM | changes).partial_fit(*day)


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, by_pickle])
def test_a_day_that_is_tried_again_from_a_checkpoint_is_charged_each_time(copied, ledger, days):
    checkpoint = begin(ledger, days[0])
    tried = [copied(checkpoint).partial_fit(*days[1]).coef_ for _ in range(5)]
    assert len(np.unique(tried, axis=0)) == 5
    assert [charge["epsilon"] for charge in charges_of(ledger)] == [0.5] * 5


def test_a_stream_that_is_handed_on_in_copies_is_charged_once(ledger, days):
    model = begin(ledger, days[0])
    for day in days[1:]:
        model = by_pickle(model).partial_fit(*day)
    assert len(charges_of(ledger)) == 1


def test_each_way_through_a_stream_is_charged_once(ledger, days):
    first = begin(ledger, days[0])
    second = copy.deepcopy(first)
    for day in days[1:]:
        first.partial_fit(*day)
        second.partial_fit(*day)
    assert len(charges_of(ledger)) == 2
    # A checkpoint of the second way is where a third begins, and pays for days to come.
    third = copy.deepcopy(second)
    second.partial_fit(*days[0])
    assert len(charges_of(ledger)) == 2
    third.partial_fit(*days[0]).partial_fit(*days[1])
    assert len(charges_of(ledger)) == 3


def test_a_call_that_no_ledger_saw_makes_no_way_free(ledger, days):
    model = begin(ledger, days[0])
    other = copy.deepcopy(model)
    model.set_params(ledger=None).partial_fit(*days[1])
    other.partial_fit(*days[2])
    model.set_params(ledger=ledger).partial_fit(*days[2])
    assert len(charges_of(ledger)) == 2


def test_a_charge_for_more_leaves_the_last_one_to_a_copy(ledger, days):
    model = begin(ledger, days[0])
    quiet = copy.deepcopy(model)
    model.set_params(epsilon=0.7).partial_fit(*days[1]).partial_fit(*days[2])
    quiet.partial_fit(*days[1])
    assert [charge["epsilon"] for charge in charges_of(ledger)] == [0.5, 0.7]
    quiet.set_params(epsilon=0.6).partial_fit(*days[2])
    assert len(charges_of(ledger)) == 3


def test_what_a_part_paid_for_is_no_payment_elsewhere(ledger, days):
    model = begin(ledger.part("north"), days[0])
    for place in (ledger.part("south"), ledger):
        copy.deepcopy(model).set_params(ledger=place).partial_fit(*days[1])
    model.partial_fit(*days[1])
    assert [charge["part"] for charge in charges_of(ledger)] == ["north", "south", None]


@pytest.mark.filterwarnings("ignore:this fit takes all")
def test_a_second_try_that_nothing_is_left_for_is_refused(tmp_path, days):
    small = make_ledger(tmp_path, epsilon=0.5, delta=1e-4)
    model = begin(small, days[0])
    other = copy.deepcopy(model)
    model.partial_fit(*days[1])
    coef = other.coef_
    with pytest.raises(BudgetExceededError):
        other.partial_fit(*days[1])
    assert other.coef_ is coef
    # The first way goes on.
    model.partial_fit(*days[2])
    assert len(charges_of(small)) == 1


@pytest.mark.filterwarnings("ignore:.*seed")
@pytest.mark.parametrize("seed", [7, "instance"])
def test_a_second_try_with_the_same_seed_is_refused_and_with_another_charged(seed, tmp_path, days):
    seeded = make_ledger(tmp_path, epsilon=30.0, delta=1e-4, allow_seeds=True)
    seed = np.random.RandomState(7) if seed == "instance" else seed
    model = begin(seeded, days[0], random_state=seed)
    same, other = copy.deepcopy(model), copy.deepcopy(model)
    model.partial_fit(*days[1])
    with pytest.raises(LedgerError, match="same noise"):
        same.partial_fit(*days[1])
    assert len(charges_of(seeded)) == 1
    other.set_params(random_state=8).partial_fit(*days[1])
    assert len(charges_of(seeded)) == 2


@pytest.mark.long
@forks
def test_processes_that_go_on_from_one_checkpoint_at_once(ledger, days):
    checkpoint = pickle.dumps(begin(ledger, days[0]))
    start = get_context("fork").Barrier(N_PROCESSES)

    def go_on(queue, _):
        model = pickle.loads(checkpoint)
        start.wait()
        try:
            for day in days[1:]:
                model.partial_fit(*day)
            queue.put(None)
        except Exception as error:
            queue.put(repr(error))

    with processes(N_PROCESSES, go_on) as (started, queue):
        found = [queue.get() for _ in started]
    assert found == [None] * N_PROCESSES
    assert len(charges_of(ledger)) == N_PROCESSES
