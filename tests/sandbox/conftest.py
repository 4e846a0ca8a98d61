"""The lane that the programs of these tests run in."""

import shutil
import tempfile
from pathlib import Path

import pytest
from walled import Lane


@pytest.fixture
def lane():
    """Below the home: /tmp and /dev/shm, where tests usually write, are special behind walls."""
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    yield Lane(folder)
    shutil.rmtree(folder)


@pytest.fixture
def lane_in_memory(tmp_path):
    """Where the other tests of this project are."""
    return Lane(tmp_path)
