"""What takes long to make is made by one thread."""

import threading

from separatrix.numerics.jit import made_once


def test_two_threads_that_ask_at_once_get_one_and_the_same():
    made, meet = [], threading.Barrier(2)

    @made_once
    def kernel(name):
        made.append(name)
        threading.Event().wait(0.05)
        return object()

    found = []

    def ask():
        meet.wait()
        found.append(kernel("pass"))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["pass"]
    assert found[0] is found[1]
    assert kernel("root") is not found[0]
    assert kernel.__name__ == "kernel"


def test_one_may_be_made_of_another():
    @made_once
    def part():
        return 1

    @made_once
    def whole():
        return part() + 1

    assert whole() == 2
