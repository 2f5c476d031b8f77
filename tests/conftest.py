"""Settings of the whole suite."""

import os
import signal

import pytest
from hypothesis import settings

# The same examples in every run, and no limit on their time: a busy machine must not fail a law.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


# A shell without job control starts `make test &` with Ctrl-C ignored, which every process of the tests would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes():
    """Workers of as many processes as there are CPUs have one BLAS thread each, unless the user says otherwise.

    More would wait for each other busily, for a third of all time. OpenBLAS reads this when it is loaded, so it is said
    before the workers start; tests of threads set limits of their own.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
