from collections.abc import Iterator

import psutil
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
    for process in fleet.started:
        if process.poll() is None:
            process.kill()
            process.communicate()
    for line in psutil.process_iter(["cwd"]):
        if (line.info["cwd"] or "").startswith(str(repository.root)):
            line.kill()
