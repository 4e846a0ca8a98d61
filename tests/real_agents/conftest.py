"""Fleets of real agent programs; a program that cannot be had here is skipped with the reason."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from agent_fleet import AgentFleet
from installing import Unavailable, path_of
from programs import Program

NewFleet = Callable[..., AgentFleet]


@pytest.fixture(scope="module")
def new_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewFleet]:
    """new_fleet(lanes, *programs that it needs)"""
    with ExitStack() as stack:

        def make(lanes: dict[str, list[str]], *programs: Program) -> AgentFleet:
            for program in programs:
                try:
                    path_of(program)
                except Unavailable as error:
                    pytest.skip(str(error))
            fleet = AgentFleet(Path(tmp_path_factory.mktemp("fleet")), lanes)
            stack.callback(fleet.stop)
            return fleet

        yield make
