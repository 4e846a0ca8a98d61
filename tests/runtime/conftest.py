import pytest
from sample_repository import Repository


@pytest.fixture
def repository(tmp_path) -> Repository:
    return Repository(tmp_path)
