"""Parameters of tests: many small cases in one test; processes and many fits in the long tier.

What pytest does around a test takes longer than a small case, and so does starting a process.
"""

import contextlib
import copy
import functools
import inspect
import sys
import unittest

import numpy as np
import pytest

ONE_OR_MORE_WORKERS = pytest.mark.parametrize(
    "n_jobs", [1, pytest.param(2, marks=pytest.mark.long)]
)


def points_at(warning, file):
    """Return whether a warning names a line of a file; Python 3.11 can't skip lines of packages."""
    return warning.filename == file or sys.version_info < (3, 12)


def one_of_a_class(estimators):
    """Parameters: of each class the first estimator, and the others in the long tier."""
    seen = set()
    for estimator in estimators:
        is_first = type(estimator) not in seen
        seen.add(type(estimator))
        yield pytest.param(estimator, marks=[] if is_first else pytest.mark.long)


def for_each(names, cases, parts=1):
    """As `pytest.mark.parametrize`, but for one test, which names each case that it fails for.

    Every case gets random generators as they were before the first one, and what it patches ends
    with it. A case that skips is passed over, unless all do. `parts` tests share the cases, so that
    processes do, too.
    """
    names = tuple(name.strip() for name in names.split(","))
    cases = list(cases)
    assert len(cases) >= parts, "there would be a test of no case"

    def decorate(test):
        @functools.wraps(test)
        def loop(**fixtures):
            mine = cases[fixtures.pop("part") :: parts] if parts > 1 else cases

            def run_case(**given):
                with contextlib.ExitStack() as stack:
                    test(**{k: fresh(v, stack) for k, v in fixtures.items()}, **given)

            run_all(
                run_case,
                (
                    dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                    for case in mine
                ),
            )

        parameters = inspect.signature(test).parameters.values()
        parameters = [p for p in parameters if p.name not in names]
        if parts > 1:
            parameters.append(inspect.Parameter("part", inspect.Parameter.KEYWORD_ONLY))
        loop.__signature__ = inspect.Signature(parameters)
        # pytest would ask it for its fixtures.
        del loop.__wrapped__
        return pytest.mark.parametrize("part", range(parts))(loop) if parts > 1 else loop

    return decorate


def run_all(test, cases):
    """Call a test with the arguments of each case, and raise what all failures are."""
    failures, skipped, n_cases = [], [], 0
    for given in cases:
        n_cases += 1
        try:
            test(**given)
        except (unittest.SkipTest, pytest.skip.Exception) as skip:
            skipped.append(skip)
        except (Exception, pytest.fail.Exception) as failure:
            failure.add_note(f"in the case {given}")
            failures.append(failure)
    if skipped and len(skipped) == n_cases:
        raise skipped[0]
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} cases fail", failures)


def fresh(value, stack):
    """Return the value of a fixture for one case, whose end the stack has."""
    if isinstance(value, pytest.MonkeyPatch):
        return stack.enter_context(value.context())
    return copy.deepcopy(value) if isinstance(value, np.random.Generator) else value
