"""The sample workspace with its plans, and the skills of the package."""

import io
import os
import shutil
import sys
from pathlib import Path

import pytest
import sample_workspaces
from sample_workspaces import SampleWorkspace


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sample")
    sample_workspaces.planned(SampleWorkspace(home, sys.executable))
    return home / "repository"


@pytest.fixture
def workspace(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it as the current directory, and a home without skills."""
    path = tmp_path / "workspace"
    shutil.copytree(sample, path)
    for name in list(os.environ):
        if name.startswith(("DISPATCH_", "CID_", "DOS_", "JOB_")):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    return path
