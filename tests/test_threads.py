"""What threads are given comes back in order, and little of it waits."""

import threading

import numpy as np
import pytest

from tests.door import (
    for_each_block,
    map_in_order,
    single_threaded_blas,
    threads_module as _threads,
)

N = 20


def numbers():
    return ((i,) for i in range(N))


@pytest.mark.parametrize("n_threads", [1, 2, 3, 2 * N])
def test_results_come_in_the_order_of_arguments(n_threads):
    # The first takes until another thread, if there is one, has had the second.
    second = threading.Event()

    def work(i):
        if i == 1:
            second.set()
        if i == 0 and n_threads > 1:
            assert second.wait(10.0)
        return i

    with single_threaded_blas:
        assert list(map_in_order(work, numbers(), n_threads)) == list(range(N))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_few_results_wait(n_threads):
    asked_for = 0

    def counted():
        nonlocal asked_for
        for asked_for in range(1, N + 1):
            yield (asked_for,)

    with single_threaded_blas:
        results = map_in_order(int, counted(), n_threads)
        for i in range(1, N + 1):
            assert next(results) == i
            assert asked_for <= i + n_threads


def test_an_error_comes_where_its_result_would():
    def work(i):
        if i == 3:
            raise KeyError
        return i

    with single_threaded_blas:
        results = map_in_order(work, numbers(), 2)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(KeyError):
            next(results)


@pytest.mark.parametrize("n_rows", [0, 1, 4, 5, 23])
@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_each_row_is_worked_on_once(n_rows, n_jobs, monkeypatch):
    monkeypatch.setattr(_threads, "_ROWS_AT_A_TIME", 5)
    monkeypatch.setattr(_threads, "WORTHWHILE_ENTRIES", 0)
    n_times, workers = np.zeros(n_rows, dtype=int), set()

    def work(block):
        n_times[block] += 1
        workers.add(threading.get_ident())
        # Nothing of the data may be told by a warning, whoever works.
        1.0 / np.zeros(1)

    for_each_block(work, n_rows, 3, n_jobs)
    assert (n_times == 1).all()
    assert len(workers) <= (n_jobs or 1)


def test_few_rows_are_worked_on_by_the_caller(monkeypatch):
    monkeypatch.setattr(_threads, "_ROWS_AT_A_TIME", 5)
    workers = set()
    for_each_block(lambda block: workers.add(threading.get_ident()), 23, 3, 4)
    assert workers == {threading.get_ident()}
