"""A run makes what is planned, each once, and nothing that would cost more."""

import math

import numpy as np
import pytest

from skdp.accountant import ErasureEvent, GaussianEvent, LaplaceEvent
from skdp.ledger import PrivacyLedger
from skdp.linear_model import DPRidge
from tests._loops import for_each
from tests.door import (
    FixedRelease,
    Planned,
    Release,
    Run,
    costs_of,
    make_stream,
    named,
    whitened_method_module,
    with_ending,
)
from tests.ledger._fits import charges_of


def a_release(noise_multiplier=2.0, **changes):
    fields = {"bound": 1.0, "noise_multiplier": noise_multiplier, "size": 3, "n_records": 10}
    return Release(**fields | changes)


def a_run(*releases, seed=0, **options):
    return Run(releases, make_stream(seed), **options)


VALUE = np.arange(3.0)


def test_a_release_has_the_noise_of_its_mechanism_and_stream():
    run = a_run(*named("sums", a_release()), *named("steps", a_release(n_records=7)))
    stream = make_stream(0)
    expected = a_release().mechanism.release(VALUE, stream)
    np.testing.assert_array_equal(run.release("sums", VALUE), expected)
    expected = a_release(n_records=7).mechanism.release(VALUE, stream)
    np.testing.assert_array_equal(run.release("steps", VALUE), expected)
    assert [tuple(entry) for entry in run.log] == [("sums", 1, 2.0), ("steps", 1, 2.0)]
    run.finish()


def test_coins_leave_the_noise_to_a_stream_of_its_own():
    run = a_run(*named("sums", a_release()))
    coins, noise = make_stream(0).spawn(2)
    np.testing.assert_array_equal(run.coins().words(5), coins.words(5))
    expected = a_release().mechanism.release(VALUE, noise)
    np.testing.assert_array_equal(run.release("sums", VALUE), expected)


def test_a_release_is_made_once_and_as_often_as_it_is_planned():
    run = a_run(*named("sums", a_release()), *named("counts", a_release()) * 2)
    run.release("sums", VALUE)
    with pytest.raises(RuntimeError, match=r"^'sums' was already released.$"):
        run.release("sums", VALUE)
    for _ in range(2):
        run.release("counts", VALUE)
    with pytest.raises(RuntimeError, match=r"^'counts' was already released.$"):
        run.mechanism("counts")
    assert [entry.name for entry in run.log] == ["sums", "counts", "counts"]


@for_each("ask", ["release", "mechanism", "bound", "steps", "fill", "made_within"])
def test_what_is_not_planned_is_refused(ask):
    run = a_run(*named("sums", a_release()))
    more = {"release": (VALUE,), "bound": (1.0,), "fill": ((),)}.get(ask, ())
    with pytest.raises(RuntimeError, match=r"^'means' isn't planned.$"):
        getattr(run, ask)("means", *more)
    assert run.log == ()


def test_a_bound_is_fixed_once_and_before_its_release():
    run = a_run(*named("sums", a_release(bound=3.0, rounding_slack=1e-9)))
    mechanism = run.bound("sums", 2.0, stretch=5.0)
    assert mechanism == a_release(bound=6.0, rounding_slack=5e-9).mechanism
    assert run.mechanism("sums") == mechanism
    with pytest.raises(RuntimeError, match=r"^'sums' has its bound already.$"):
        run.bound("sums", 2.0)
    run.release("sums", VALUE)
    with pytest.raises(RuntimeError, match=r"^'sums' was already released.$"):
        run.bound("sums", 2.0)


def test_a_part_asks_by_shorter_names():
    """Two fits within a run call their releases alike, and each makes its own."""
    plans = [*named("sums", a_release()), *named("steps", a_release())]
    of_part = with_ending(plans, " of pairs")
    run = a_run(*plans, *of_part)
    part = run.part(" of pairs")
    part.follow(named("sums", a_release(bound=2.0)))
    assert part.mechanism("sums") == a_release(bound=2.0).mechanism
    assert part.bound("steps", 3.0, stretch=1.0) == a_release(bound=3.0).mechanism
    assert run.mechanism("sums") == run.mechanism("steps") == a_release().mechanism
    assert not part.plans("sums of pairs")
    run.release("sums", VALUE)
    assert part.plans("sums")
    part.release("sums", VALUE)
    assert not part.plans("sums")
    part.steps("steps", 1)(VALUE)
    run.release("steps", VALUE)
    with pytest.raises(RuntimeError, match=r"^'sums of pairs' was already released.$"):
        part.release("sums", VALUE)
    assert [entry.name for entry in run.log] == [
        "sums",
        "sums of pairs",
        "steps of pairs",
        "steps",
    ]
    run.finish()


def test_a_plan_that_follows_changes_bounds_alone():
    run = a_run(*named("sums", a_release()), *named("counts", a_release()))
    run.follow((*named("sums", a_release(bound=0.1)), *named("counts", a_release())))
    assert run.mechanism("sums").contribution_bound == 0.1
    # What wasn't changed may get a bound later.
    run.bound("counts", 2.0)
    for other in (a_release(1.0), a_release(pairwise=True), a_release(size=4)):
        run = a_run(*named("sums", a_release()))
        with pytest.raises(RuntimeError, match=r"^'sums' was planned otherwise"):
            run.follow(named("sums", other))


def test_steps_are_as_many_as_planned():
    run = a_run(*named("steps", a_release(design={"n_steps": 4})))
    step = run.steps("steps")
    for _ in range(3):
        step(VALUE)
    with pytest.raises(RuntimeError, match=r"^of 'steps' not as many"):
        run.finish()
    step(VALUE)
    run.finish()
    assert run.log[0].n_made == 4
    with pytest.raises(RuntimeError, match=r"^all of 'steps' were already released.$"):
        step(VALUE)


def test_one_release_may_be_split_into_steps_and_its_entries_made_one_by_one():
    run = a_run(*named("steps", a_release(n_calls=3)))
    step = run.steps("steps", 9)
    assert step.mechanism == a_release(6.0).mechanism
    for _ in range(27):
        step(VALUE[:1])
    with pytest.raises(RuntimeError, match=r"^all of 'steps' were already released.$"):
        step(VALUE[:1])
    run.finish()
    assert tuple(run.log[0]) == ("steps", 9, 6.0)


def test_a_part_of_a_release_has_no_more_numbers_than_its_share():
    """Else all could be released in each part, with the noise of one release."""
    step = a_run(*named("steps", a_release(n_calls=3))).steps("steps")
    with pytest.raises(RuntimeError, match=r"^a part of 'steps' has more numbers than was planned"):
        step(VALUE)


@for_each("changes", [{"sampling_rate": 0.5}, {"n_steps": 5}, {"noise_multiplier": 1.9}])
def test_sampled_steps_are_those_that_were_planned(changes):
    release = a_release(design={"sampling_rate": 0.25, "n_steps": 4})
    design = release.design | changes
    other = a_release(design.pop("noise_multiplier", 2.0), design=design)
    run = a_run(Planned("steps", other, (release.event,)), charged=[release.event, other.event])
    with pytest.raises(RuntimeError, match=r"^'steps' would cost more than was planned.$"):
        run.steps("steps")


POISSON = {"sampling_rate": 0.25, "n_steps": 4}
OTHERWISE = {
    "sums as Laplace noise": (a_release(), LaplaceEvent(100.0)),
    "sums over a record's part as over a pair's": (a_release(), GaussianEvent(2.0, pairwise=True)),
    "sums for nothing": (a_release(), None),
    "sampled steps as an erasure": (a_release(design=POISSON), ErasureEvent(1e-9)),
    "sampled steps for nothing": (a_release(design=POISSON), None),
    "spherical noise as whole noise": (
        a_release(noise="laplace"),
        LaplaceEvent(2.0, counts=True),
    ),
    "Laplace noise as Gaussian": (a_release(noise="laplace"), GaussianEvent(1000.0)),
    "Laplace noise for nothing": (a_release(noise="laplace"), None),
}


@for_each("kind", OTHERWISE)
def test_what_is_planned_of_another_kind_covers_nothing(kind):
    release, event = OTHERWISE[kind]
    planned = Planned("sums", release, () if event is None else (event,))
    run = a_run(planned, adjacency="replace_one", charged=[GaussianEvent(0.1)])
    with pytest.raises(RuntimeError, match=r"^'sums' would cost more than was planned.$"):
        run.steps("sums")


@for_each("n_steps", [1, 3, 5])
def test_other_numbers_of_steps_than_planned_are_refused(n_steps):
    run = a_run(*named("steps", a_release(design={"n_steps": 4})))
    with pytest.raises(RuntimeError, match=r"^'steps' would cost more than was planned.$"):
        run.steps("steps", n_steps)


def test_records_that_ask_for_less_noise_than_planned_are_refused():
    run = a_run(*named("steps", a_release(noise="laplace")))
    with pytest.raises(RuntimeError, match=r"^'steps' would cost more than was planned.$"):
        run.steps("steps").serve(VALUE, np.array([1.0, 1.5]))


def cheaper(noise=2.5):
    return GaussianEvent(noise)


CHEAPER = {
    "an event with more noise than there is": (
        (Planned("sums", a_release(), (cheaper(),)),),
        None,
    ),
    "a charge for more noise than there is": (named("sums", a_release()), (cheaper(),)),
    "a charge for fewer releases than there are": (
        named("sums", a_release()) * 2,
        (GaussianEvent(2.0),),
    ),
    "a mechanism with less noise than its event": (
        named("sums", FixedRelease(a_release(1.0).mechanism, GaussianEvent(2.0))),
        None,
    ),
}


@for_each("kind", CHEAPER)
@for_each("adjacency", ["zero_out", "replace_one"])
def test_what_costs_more_than_planned_is_refused_before_there_is_noise(kind, adjacency):
    releases, charged = CHEAPER[kind]
    run = a_run(*releases, adjacency=adjacency, charged=charged)
    for _ in range(len(releases) - 1):
        run.release("sums", VALUE)
    with pytest.raises(RuntimeError, match=r"^'sums' would cost more than was planned.$"):
        run.steps("sums")


def test_what_was_planned_is_made_or_excused():
    run = a_run(*named("sums", a_release()), Planned("rest", None, (GaussianEvent(2.0),)))
    run.release("sums", VALUE)
    with pytest.raises(RuntimeError, match=r"^'rest' was planned, and not released.$"):
        run.finish()
    run.fill("rest", ())
    run.finish()
    # Without noise, too: a report says what was read.
    run = a_run(*named("sums", a_release(0.0, design={"sampling_rate": 1.0, "n_steps": 3})))
    with pytest.raises(RuntimeError, match=r"^'sums' was planned, and not released.$"):
        run.finish()
    assert run.exactly("sums", VALUE) is VALUE
    run.finish()
    assert run.log == (("sums", 3, 0.0),)
    with pytest.raises(RuntimeError, match=r"^'sums' was already released"):
        run.exactly("sums", VALUE)
    with pytest.raises(RuntimeError, match=r"^'sums' has noise"):
        a_run(*named("sums", a_release())).exactly("sums", VALUE)


def test_what_fills_a_charge_costs_no_more():
    reserve, twice = Planned("rest", None, (GaussianEvent(2.0),)), 2.0 * math.sqrt(2.0)
    halves = named("a", a_release(twice)) + named("b", a_release(twice))
    run = a_run(reserve)
    run.fill("rest", halves)
    run.release("a", VALUE)
    run.release("b", VALUE)
    run.finish()
    # Other noise, batches and erasures aren't what was charged, however little they cost.
    others = (
        named("a", a_release(1e9, noise="laplace")),
        named("a", a_release(1e9, design={"sampling_rate": 0.1})),
        named("a", a_release(), erasure=1e-9),
    )
    for releases in (halves * 2, named("a", a_release(1.99)), *others):
        with pytest.raises(RuntimeError, match=r"^what follows as 'rest' costs more"):
            a_run(reserve).fill("rest", releases)
    with pytest.raises(RuntimeError, match=r"^'sums' is one release"):
        a_run(*named("sums", a_release())).fill("sums", ())
    with pytest.raises(RuntimeError, match=r"^'sums' is a release of this run.$"):
        a_run(*named("sums", a_release())).made_within("sums")


def test_costs_have_erasures_last():
    releases = (*named("words", a_release(), erasure=1e-9), *named("sums", a_release()))
    assert [cost.name for cost in costs_of(releases)] == ["words", "sums", "words"]
    assert costs_of(releases)[-1].event.probability == 1e-9


def test_a_run_that_fails_half_way_was_charged_whole(tmp_path, monkeypatch):
    """The ledger has all that was planned, and nothing is published."""
    ledger = PrivacyLedger(tmp_path / "study.db", epsilon=1.0, delta=1e-5)
    model = DPRidge(epsilon=0.3, delta=1e-6, target_bounds=(-1, 1), ledger=ledger)
    X, y = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2)), np.zeros(50)
    runs = []

    def fail(sums, *, plan, rules, run, start):
        runs.append(run)
        raise KeyboardInterrupt

    monkeypatch.setattr(whitened_method_module, "solve_whitened", fail)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    # The ball was released, and the second moment was not.
    assert len(runs[0].log) > 0
    assert runs[0].plans("second moment")
    monkeypatch.undo()
    assert not hasattr(model, "privacy_report_")
    model.fit(X, y)
    failed, whole = (
        {name: value for name, value in charge.items() if name not in ("number", "time")}
        for charge in charges_of(ledger)
    )
    assert failed == whole
