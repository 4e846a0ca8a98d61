"""A lane's repository, prepared as a worker does it, without one."""

import os
from pathlib import Path

from msgspec import Struct
from sample_repository import Repository

from dos import workspace
from dos.agents.io.environment import git_identity
from dos.fleet.effects import Salvage
from dos.git.repository import Writer
from dos.landing.lane.repository import LaneRepository


class PreparedLane(Struct, frozen=True, kw_only=True):
    """A lane at the target's commit, and what was saved of it before."""

    lane: LaneRepository
    base: str
    salvaged: list[Salvage]

    @property
    def path(self) -> Path:
        return self.lane.folder


def open_lane(root: Path, lane: str = "one") -> LaneRepository:
    """The repository of a lane, whether it was made or not."""
    hidden = ("DOS_", "GIT_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return LaneRepository(
        workspace.find(root),
        Writer(root),
        lane,
        branch="main",
        environment=variables,
        identity=git_identity(variables, root),
    )


def prepare_lane(
    repository: Repository, *, lane: str = "one", run_id: str = "RUN", branch: str = "main"
) -> PreparedLane:
    """Bring the lane to the branch's commit, as before each unit."""
    opened = open_lane(repository.root, lane)
    base = opened.git.commit_of(f"refs/heads/{branch}")
    assert base
    return PreparedLane(lane=opened, base=base, salvaged=opened.prepare(base, run_id=run_id))
