"""Reports that several files look at: each is made once."""

import pytest

from .made import Lazily, facts, made_once


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return Lazily(lambda kind: made_once(kind, tmp_path_factory))


@pytest.fixture(scope="session")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    return Lazily(lambda kind: facts(folder, kind))
