"""The races of speed.py, a function each."""

import math
import sys
from functools import partial

import numpy as np
from _race import PEERS, Race, process, timed
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, SGDClassifier

from skdp.linear_model import (
    DPCDLasso,
    DPSCDClassifier,
    DPSCDRegressor,
    DPSGDClassifier,
    DPSGDRegressor,
)

PASSES = 10
ALPHA = 1e-4
# Below 1 / n of all.
DELTA = 1e-6
STREAMS = {"seeded": 0, "secure": None}
# Rows and columns of the data that most peers were measured on: Adult's in one-hot form.
ADULT = (32_561, 81)
# Seconds of the code of the authors of DP-SCD for 10 passes of ridge regression on ADULT, in an
# earlier measurement on a machine of the same kind. Their code isn't to be had from an index.
AUTHORS_SECONDS = 3.8

CLASSIFIERS = {"DPSCD": DPSCDClassifier, "DPSGD": DPSGDClassifier}
REGRESSORS = {"DPSCD": DPSCDRegressor, "DPSGD": DPSGDRegressor}
# Peers by the name of a contender: the environment that has it, and its script.
LOGISTIC_PEERS = {
    "diffprivlib LogisticRegression": ("diffprivlib", "diffprivlib_logistic"),
    "Opacus, batch 256": ("opacus", "opacus_dpsgd"),
}
# Every solver by mini-batches, with every loss.
STEPS = {
    "DPSCD, squared_error": DPSCDRegressor,
    "DPSCD, hinge": partial(DPSCDClassifier, loss="hinge"),
    "DPSCD, log_loss": DPSCDClassifier,
    "DPSGD, squared_error": DPSGDRegressor,
    "DPSGD, huber": partial(DPSGDRegressor, loss="huber"),
    "DPSGD, hinge": partial(DPSGDClassifier, loss="hinge"),
    "DPSGD, log_loss": DPSGDClassifier,
}


def generate(n_rows, n_columns, shrink):
    """Return rows shorter than 1, labels and targets in [-1, 1].

    Columns are of very different sizes, as real ones are: solvers that stop by tolerance would be
    done at once otherwise.
    """
    rng = np.random.default_rng(0)
    n_rows = max(60, n_rows // shrink)
    X = rng.normal(size=(n_rows, n_columns)) * np.geomspace(1.0, 0.03, n_columns)
    X *= (rng.uniform(0.5, 0.99, n_rows) / np.linalg.norm(X, axis=1))[:, np.newaxis]
    targets = np.clip(X @ rng.normal(size=n_columns), -1.0, 1.0)
    return X, (targets > 0.0).astype(int), targets


def private(make, X, **settings):
    """Return a private estimator; `batch_size` is at most half of the rows."""
    if "batch_size" in settings:
        settings["batch_size"] = min(settings["batch_size"], X.shape[0] // 2)
    common = {"alpha": ALPHA, "delta": DELTA, "max_iter": PASSES, "random_state": 0}
    model = make(**(common | settings))
    # Peers learn no ball.
    return model.set_params(ball_budget=0) if hasattr(model, "ball_budget") else model


def sizes(X, passes=PASSES):
    return {"rows": X.shape[0], "columns": X.shape[1], "passes": passes}


def add_fits(race, name, make, X, y, **settings):
    """Add private fits with seeded noise and with the operating system's."""
    for stream, seed in STREAMS.items():
        model = private(make, X, random_state=seed, **settings)
        race.add(f"{name}, {stream}", timed(model.fit, X, y))


def passes_of_sgd(loss, X, y):
    """Return a contender, scikit-learn's SGD without privacy."""
    model = SGDClassifier(loss=loss, alpha=ALPHA, max_iter=PASSES, tol=None, random_state=0)
    return timed(model.fit, X, y)


def per_pass(loss, peers, shrink):
    """Fits of large batches against scikit-learn's SGD, which takes rows one by one."""
    X, y, _ = generate(200_000, 90, shrink)
    race = Race("fit", sizes(X), repeats=5)
    race.add("SGDClassifier", passes_of_sgd(loss, X, y))
    for batch_size in (256, 1000):
        for name, make in CLASSIFIERS.items():
            model = private(make, X, loss=loss, batch_size=batch_size)
            race.add(f"{name}, batch {batch_size}", timed(model.fit, X, y))
    # Half of the rows are beyond the bound, and it doesn't matter by how much.
    clipped = private(DPSGDClassifier, X, loss=loss, batch_size=256, data_norm=0.75)
    race.add("DPSGD, batch 256, clipped", timed(clipped.fit, X, y))
    for name in list(race.contenders)[1:]:
        race.claim(f"{name} / SGDClassifier, {loss}", name, "SGDClassifier", at_most=1.5)
    return race


def logistic(peers, shrink):
    """Logistic regression, Opacus at its own setting among it."""
    X, y, _ = generate(*ADULT, shrink)
    problem = peers.save(X, y, batch_size=256, passes=PASSES)
    race = Race("fit", sizes(X))
    for name, make in CLASSIFIERS.items():
        add_fits(race, f"{name}, batch 256", make, X, y, batch_size=256)
    race.add("SGDClassifier", passes_of_sgd("log_loss", X, y))
    converged = LogisticRegression(C=1.0 / (ALPHA * X.shape[0]), max_iter=1000)
    race.add("LogisticRegression", timed(converged.fit, X, y))
    for name, (peer, script) in LOGISTIC_PEERS.items():
        race.add(name, *peers.start(peer, script, problem))
    ours = "DPSGD, batch 256, seeded"
    race.claim("Opacus / DPSGD, batch 256", "Opacus, batch 256", ours, at_least=20)
    for name in ("diffprivlib LogisticRegression", "LogisticRegression", "SGDClassifier"):
        race.claim(f"{name} / DPSGD", name, ours)
    return race


def ridge(peers, shrink):
    """Linear regression, DP-SCD as published among it."""
    X, _, y = generate(*ADULT, shrink)
    race = Race("fit", sizes(X))
    for batch, least in ((100, 25), (1000, 60)):
        name, ours = f"published DP-SCD, batch {batch}", f"DPSCD, batch {batch}"
        add_fits(race, ours, DPSCDRegressor, X, y, batch_size=batch, fit_intercept=False)
        problem = peers.save(X, y, batch_size=batch, passes=PASSES)
        contender, versions = peers.start("numpy", "dpscd_reference", problem)
        note = f"transcribed from the paper, not its authors' code; {versions}"
        race.add(name, contender, note)
        text = f"authors' DP-SCD, 3.8 s once / {ours}, seeded"
        race.claim(text, AUTHORS_SECONDS, f"{ours}, seeded", at_least=least)
        race.claim(f"{name} / DPSCD", name, f"{ours}, seeded")
    add_fits(race, "DPCDLasso", DPCDLasso, X, y, fit_intercept=False, ball_budget=0)
    race.add("Lasso", timed(Lasso(alpha=ALPHA, fit_intercept=False).fit, X, y))
    race.add("LinearRegression", timed(LinearRegression().fit, X, y))
    name = "diffprivlib LinearRegression"
    race.add(name, *peers.start("diffprivlib", "diffprivlib_linear", problem))
    race.claim("DPCDLasso / Lasso", "DPCDLasso, seeded", "Lasso")
    race.claim(f"{name} / DPSCD, batch 1000", name, "DPSCD, batch 1000, seeded")
    return race


def noise(peers, shrink):
    """Noise of the operating system against that of a seed."""
    X, labels, targets = generate(*ADULT, shrink)
    race = Race("fit", sizes(X))
    cells = [(f"{k}, {b}", make, b) for b in (50, 256, 1000) for k, make in REGRESSORS.items()]
    cells += [(f"{k}, log_loss, 50", make, 50) for k, make in CLASSIFIERS.items()]
    for name, make, batch_size in cells:
        y = labels if make in CLASSIFIERS.values() else targets
        add_fits(race, name, make, X, y, batch_size=batch_size)
        race.claim(f"secure / seeded, {name}", f"{name}, secure", f"{name}, seeded", at_most=1.5)
    return race


def threads(rows, columns, batch_size, passes, target, peers, shrink):
    """One thread against two."""
    X, y, _ = generate(rows, columns, shrink)
    race = Race("fit", sizes(X, passes), repeats=9)
    for name, make in CLASSIFIERS.items():
        one, two = f"{name}, n_jobs=1", f"{name}, n_jobs=2"
        for label, n_jobs in ((one, 1), (two, 2)):
            model = private(make, X, batch_size=batch_size, max_iter=passes, n_jobs=n_jobs)
            race.add(label, timed(model.fit, X, y))
        text = f"{name}, batch {batch_size} x {columns}"
        if target == "faster":
            race.claim(f"n_jobs=1 / n_jobs=2, {text}", one, two, at_least=1.5)
        else:
            race.claim(f"n_jobs=2 / n_jobs=1, {text}", two, one, at_most=1.05)
    return race


def step_of(make, X, y, batch_size, few=5, many=25):
    """Return a contender that tells the seconds of a step, from fits of few and many passes."""
    short, long = (private(make, X, batch_size=batch_size, max_iter=m) for m in (few, many))
    n_steps = [math.ceil(m * X.shape[0] / short.batch_size) for m in (few, many)]
    start, end = timed(short.fit, X, y), timed(long.fit, X, y)
    return lambda: (end() - start()) / (n_steps[1] - n_steps[0])


def gathering_of(X, batch_size, n_steps=200):
    """Return a contender for the seconds of what no step can do without.

    That is to gather the rows of a batch and two products with them.
    """
    rng = np.random.default_rng(0)
    batches = np.sort(rng.integers(X.shape[0], size=(n_steps, batch_size)), axis=1)
    buffer, w = np.empty((batch_size, X.shape[1])), np.zeros(X.shape[1])

    def run():
        for batch in batches:
            np.take(X, batch, axis=0, out=buffer, mode="clip")
            (buffer @ w) @ buffer

    whole = timed(run)
    return lambda: whole() / n_steps


def step(batch_size, peers, shrink):
    """Time of one step of every solver by mini-batches and every loss."""
    X, labels, targets = generate(20_000, 90, shrink)
    race = Race("step", sizes(X, None))
    for name, make in STEPS.items():
        y = targets if "squared" in name or "huber" in name else labels
        race.add(name, step_of(make, X, y, batch_size))
        if batch_size == 50:
            race.claim(f"microseconds of a step, batch 50, {name}", name, 1e-6, at_most=20)
        else:
            text = f"step / its gathering and products, batch {batch_size}, {name}"
            race.claim(text, name, "gathering and products", at_most=1.3)
    race.add("gathering and products", gathering_of(X, batch_size))
    return race


def imports(peers, shrink):
    """Seconds that importing skdp adds to those of scikit-learn."""
    race = Race("process", {}, repeats=11)
    for name in ("skdp.linear_model", "sklearn.linear_model"):
        race.add(name, process(sys.executable, "-c", f"import {name}"))
    text = "seconds that importing skdp.linear_model adds to sklearn.linear_model"
    race.claim(text, "skdp.linear_model", minus="sklearn.linear_model", at_most=0.15)
    return race


def processes(peers, shrink):
    """Whole processes: start, import, load, calibrate and fit once."""
    X, y, _ = generate(*ADULT, shrink)
    problem = peers.save(X, y, batch_size=256, passes=PASSES)
    load = f"import numpy; file = numpy.load({str(problem)!r}); X, y = file['X'], file['y']"
    race = Race("process", sizes(X), repeats=5)
    for name, settings in (
        ("skdp.linear_model.DPSGDClassifier", f"batch_size={min(256, len(X) // 2)}, max_iter=10"),
        ("sklearn.linear_model.SGDClassifier", "loss='log_loss', max_iter=10, tol=None"),
        ("sklearn.linear_model.LogisticRegression", ""),
    ):
        package, _, short = name.rpartition(".")
        code = f"{load}\nfrom {package} import {short}\n{short}({settings}).fit(X, y)"
        race.add(short, process(sys.executable, "-c", code))
    for name, (peer, script) in LOGISTIC_PEERS.items():
        python = peers.pythons.get(peer)
        command = (python, str(PEERS / f"{script}.py"), str(problem), "--once")
        note = "" if python else f"skipped: no --{peer}-python"
        race.add(name, process(*command) if python else None, note)
    for name in list(race.contenders)[1:]:
        race.claim(f"whole process, {name} / DPSGDClassifier", name, "DPSGDClassifier")
    return race


RACES = {
    "per_pass_hinge": partial(per_pass, "hinge"),
    "per_pass_log_loss": partial(per_pass, "log_loss"),
    "logistic": logistic,
    "ridge": ridge,
    "noise": noise,
    # The last is a little above the size from which threads are used.
    "threads_large": partial(threads, 200_000, 200, 20_000, PASSES, "faster"),
    "threads_small": partial(threads, *ADULT, 256, PASSES, "not slower"),
    "threads_middle": partial(threads, 100_000, 55, 20_000, PASSES, "not slower"),
    "step_50": partial(step, 50),
    "step_1000": partial(step, 1000),
    "imports": imports,
    "processes": processes,
}
