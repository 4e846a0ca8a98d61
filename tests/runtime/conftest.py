from collections.abc import Iterator

import pytest
from sample_fleet import Fleet
from sample_repository import Repository


@pytest.fixture
def repository(tmp_path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def fleet(repository) -> Iterator[Fleet]:
    fleet = Fleet(repository)
    yield fleet
    fleet.end()
