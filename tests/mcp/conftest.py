"""A sample workspace that tools are asked about; no test changes it."""

import pytest
from sample_repository import Repository

from dos.mcp.catalog import Permits
from dos.mcp.protocol import Session


@pytest.fixture(scope="session")
def repository(tmp_path_factory) -> Repository:
    return Repository(tmp_path_factory.mktemp("asked"))


@pytest.fixture
def own_repository(tmp_path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def session(repository) -> Session:
    return Session(str(repository.root), Permits(fleet=True, answers=True))
