"""A workspace with three lanes and an exclusive one."""

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commanding import Answer, git, in_process

CONFIG = """[lanes]
concurrent = ["api", "docs", "worker"]
exclusive = ["global"]
autopick = ["api", "docs", "worker"]

[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
worker = ["worker/**"]
global = ["**/*"]

[lanes.aliases]
backend = "api"
"""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    git("init", "--quiet", "--initial-branch", "main", ".", cwd=folder)
    for lane in ("api", "docs", "worker"):
        (folder / lane).mkdir()
        (folder / lane / "a.txt").write_text("a\n")
    (folder / "dos.toml").write_text(CONFIG)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--message", "Begin", cwd=folder)
    git("gc", "--quiet", cwd=folder)  # it is copied for each test: the fewer files the better
    return folder


@pytest.fixture
def workspace(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, a git repository; the caller's environment points nowhere else."""
    path = tmp_path / "workspace"
    shutil.copytree(template, path)
    for name in list(os.environ):
        if name.startswith(("DISPATCH_", "CID_", "DOS_", "JOB_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(path)
    return path


@pytest.fixture(autouse=True)
def nothing_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb that asks for its input gets its end."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))


@pytest.fixture
def dos(workspace: Path) -> Callable[..., Answer]:
    return in_process


@pytest.fixture
def state(workspace: Path) -> Path:
    return workspace / ".git" / "dos"
