"""Fleets of real agent programs; a program that cannot be had here is skipped with the reason."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from agent_fleet import AgentFleet
from installing import FOLDER, Unavailable, path_of
from programs import CLAUDE_CODE, CODEX, Program

NewFleet = Callable[..., AgentFleet]
HERE = Path(__file__).parent
OF_A_SOAK = (CLAUDE_CODE, CODEX)  # the others are large, and slow to start


@pytest.hookimpl(tryfirst=True)  # before anything is chosen by its marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs a real program belongs to `make soak`, or to `make programs` where that is not one
    of the two."""
    for item in items:
        if item.path.parent == HERE and item.path.name.startswith("test_real_"):
            named = [each for each in _parameters(item) if isinstance(each, Program)]
            item.add_marker("soak" if all(each in OF_A_SOAK for each in named) else "programs")


def _parameters(item: pytest.Item) -> list[object]:
    called = getattr(item, "callspec", None)
    return list(called.params.values()) if called else []


@pytest.fixture(scope="module")
def new_fleet() -> Iterator[NewFleet]:
    """new_fleet(lanes, *programs that it needs): a fleet behind walls.

    It is below the home: /tmp and /dev/shm are special behind walls.
    """
    parent = FOLDER.parent / "fleets"
    parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:

        def make(lanes: dict[str, list[str]], *programs: Program) -> AgentFleet:
            for program in programs:
                try:
                    path_of(program)
                except Unavailable as error:
                    pytest.skip(str(error))
            folder = Path(tempfile.mkdtemp(dir=parent))
            stack.callback(shutil.rmtree, folder)
            fleet = AgentFleet(folder, lanes)
            stack.callback(fleet.stop)
            return fleet

        yield make
