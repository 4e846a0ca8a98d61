"""Fixtures that several tests share; each skips with a reason where the machine lacks it."""

import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from amounts import long
from disk.recorder import build_shim
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from postgres_server import PostgresServer
    from sample_fleet import Fleet
    from sample_repository import Repository


# On a busy machine an example may take long: that proves nothing about what it is an example of.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=long(20, 5_000),
)
settings.load_profile("untimed")

# Every process that a test starts would compile the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts the tests in the background, or nohup, takes these away from them and from all
# that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


# What tests write is thrown away: a disk only makes them wait. Where memory is short they use it
# all the same.
MEMORY, ENOUGH_BYTES = Path("/dev/shm"), 6 << 30
if (
    "TMPDIR" not in os.environ
    and os.access(MEMORY, os.W_OK)
    and min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available) > ENOUGH_BYTES
):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a table, or a whole file, that is `sampled(n)`, `make test` runs every n-th row; `make
    soak` the others."""
    rows: Counter[str] = Counter()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            table = item.nodeid.partition("[" if mark in item.own_markers else "::")[0]
            if rows[table] % mark.args[0]:
                item.add_marker(pytest.mark.soak)
            rows[table] += 1


@pytest.fixture(scope="session", autouse=True)
def keys_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A landing makes a key in the user's folder; in tests that is a temporary folder."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="session", autouse=True)
def repositories_without_samples(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Thousands of repositories are made and copied: each without the dozen files of git's own that
    nobody reads, and without the second git that looks after every commit whether there is
    something to tidy up."""
    folder = tmp_path_factory.mktemp("git")
    (folder / "hooks").mkdir()
    (folder / "info").mkdir()
    (folder / "info" / "exclude").touch()
    (folder / "config").write_text("[maintenance]\n\tauto = false\n")
    os.environ["GIT_TEMPLATE_DIR"] = str(folder)


@pytest.fixture(scope="session", autouse=True)
def no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of a repository that nobody set up, the index of its history is kept in the user's cache."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def no_state_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The worktrees of lanes lie in the user's state folder."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def own_folder() -> Iterator[None]:
    """A test that leaves its process in another folder would be found by what fails after it."""
    before = os.getcwd()
    yield
    assert os.getcwd() == before, "restore the folder: monkeypatch.chdir, or contextlib.chdir"


@pytest.fixture(scope="session")
def disk_shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shim = build_shim(tmp_path_factory.mktemp("shim"))
    if shim is None:
        pytest.skip(
            "the recording disk needs Linux and a C compiler (cc, gcc or clang) on the PATH"
        )
    return shim


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    """One server for all tests; each makes its own database.

    A test that stops or kills the server starts it again.
    """
    pytest.importorskip("psycopg")
    from postgres_server import PostgresServer, PostgresUnavailable

    try:
        server = PostgresServer()
    except PostgresUnavailable as error:
        pytest.skip(f"no PostgreSQL server: {error}")
    with server:
        yield server


@pytest.fixture
def repository(tmp_path) -> "Repository":
    from sample_repository import Repository

    return Repository(tmp_path)


@pytest.fixture
def fleet(repository) -> Iterator["Fleet"]:
    from sample_fleet import Fleet

    fleet = Fleet(repository)
    yield fleet
    fleet.end()
