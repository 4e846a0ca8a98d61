"""The three stores, as fixtures: tests that take `kind` or `store` run on each of them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_kinds import Kind, Memory, Postgres, Sqlite, folded_leases, listed_leases
from wire import Wire

from dos.journal.store import Store


@pytest.fixture(scope="session")
def shared_database(postgres) -> str:
    return postgres.createdb("conformance")


def made(name: str, request: pytest.FixtureRequest, directory: Path) -> Kind:
    match name:
        case "memory":
            return Memory()
        case "sqlite":
            return Sqlite(directory)
    return Postgres(request.getfixturevalue("shared_database"))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def kind(request, tmp_path) -> Kind:
    return made(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request, tmp_path) -> Kind:
    """A store that outlives its process."""
    return made(request.param, request, tmp_path)


@pytest.fixture
def store(kind) -> Iterator[Store]:
    with kind.open() as opened:
        yield opened
        assert listed_leases(opened) == folded_leases(opened)


@pytest.fixture
def new_database(postgres) -> str:
    return postgres.createdb(f"new_{time.monotonic_ns()}")


@pytest.fixture
def wire(postgres) -> Iterator[Wire]:
    with Wire(postgres.port) as line:
        yield line
