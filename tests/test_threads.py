"""What threads are given comes back in order, and little of it waits."""

import threading

import pytest

from tests.door import map_in_order, single_threaded_blas

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
