"""Reports that several files look at: each is made once."""

import pytest

from .made import facts, made_once

KINDS = ("two", "three", "separated")


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return {kind: made_once(kind, tmp_path_factory) for kind in KINDS}


@pytest.fixture(scope="session")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    return {kind: facts(folder, kind) for kind in KINDS}
