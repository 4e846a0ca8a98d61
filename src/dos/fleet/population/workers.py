"""The table [workers] of `dos.toml`: what a worker starts, where, and how its work lands."""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Meta

from dos.fields import BadValue, Positive, Seconds, Table, check_name, check_text

Ports = Annotated[int, Meta(ge=0, le=1_000)]
PortNumber = Annotated[int, Meta(ge=1_024, le=60_000)]


class Workers(Table, frozen=True, kw_only=True):
    """[workers]: what a worker starts, where, for how long, and how its work lands."""

    isolation: Literal["worktree", "shared"] = "worktree"
    """Where agents work: in a worktree of the lane, or in the shared checkout."""
    agent: str = ""
    """Agent that works on lanes and units that name no other."""
    fallback: tuple[str, ...] = ()
    """Agents that take over, in this order, while the first one is limited."""
    command: tuple[str, ...] = ()
    """Program and arguments for the adapters `command` and `scripted`."""
    pass_environment: tuple[str, ...] = ()
    """Names or patterns of variables that agents and checks see although dos withholds them."""
    git_config: tuple[str, ...] = ()
    """Keys of your global git configuration that agents and checks get, such as `filter.lfs.*`."""
    home_files: tuple[str, ...] = ()
    """Files and folders of your home directory that agents and checks get a whole copy of."""
    setup: str = ""
    """Shell command that prepares a check tree and, except with isolation `shared`, a worktree."""
    setup_seconds: Seconds = 600.0
    """Time limit of the setup command."""
    ports: Ports = 10
    """Ports for each lane, passed in DOS_PORT_BASE and DOS_PORT_COUNT; 0 passes none."""
    port_base: PortNumber = 21_000
    """First port of the first lane; the other lanes have the blocks after it."""
    acceptance: str = ""
    """Shell command that must exit 0 on finished work, unless the unit names its own."""
    test: str = ""
    """Shell command that must exit 0 on the result before it lands; empty: none."""
    baseline: Literal["auto", "off"] = "auto"
    """`auto`: setup and test must pass on the target branch before agents start, if test is set."""
    landing: Literal["merge", "branch"] = "merge"
    """`merge` lands on the target branch; `branch` puts each unit on a branch of its own."""
    target_branch: str = ""
    """Branch that work lands on; empty: the branch that is checked out."""
    remote: str = ""
    """Name of the git remote that hosts fetch from and land on; empty: this repository alone."""
    silence_seconds: Seconds = 600.0
    """How long an agent may print nothing before it is ended; `wall_seconds` or more: no limit."""
    idle_seconds: Seconds | None = None
    """How long an agent may change nothing that git shows before it is ended; unset: no limit."""
    wall_seconds: Seconds = 3600.0
    """Time limit of one agent, and of each run of acceptance and test."""
    max_iterations: Positive = 10
    """Most iterations of one run; then `dos up` starts the next."""

    def __post_init__(self) -> None:
        for name in ("setup", "acceptance", "test", "target_branch", "remote"):
            check_text(getattr(self, name), (name,))
        for place, name in enumerate(self.fallback):
            check_name(name, ("fallback", place), "agent name")
        for name in ("command", "pass_environment", "git_config", "home_files"):
            for place, word in enumerate(getattr(self, name)):
                check_text(word, (name, place))
        for place, path in enumerate(self.home_files):
            if path.startswith(("/", "~")) or ".." in path.split("/") or not path.strip("./"):
                raise BadValue(
                    ("home_files", place),
                    f"{path!r} is not a path below your home directory",
                    'Write it without the folder of the home: ".aws/config".',
                )
        if self.agent:
            check_name(self.agent, ("agent",), "agent name")
        if self.command and not self.command[0].strip():
            raise BadValue(
                ("command", 0),
                "the command has no program to start",
                "Put the program's name first.",
            )
        if self.agent == "command" and not self.command:
            raise BadValue(
                ("agent",),
                'agent is "command" and there is no command to start',
                'Add command = ["program", "argument"] to [workers].',
            )

    @property
    def unchecked_because(self) -> str:
        """The key because of which the target is not checked first; empty: it is checked.

        Where all lanes share the user's tree there is no clean tree to check. Without a test
        nothing is run: a setup that fails stops its worker before an agent starts.
        """
        if self.baseline == "off":
            return "baseline"
        if self.isolation != "worktree":
            return "isolation"
        if not self.test:
            return "test"
        return ""

    @property
    def silence(self) -> timedelta:
        """How long an agent may print nothing before it counts as hanging."""
        return timedelta(seconds=self.silence_seconds)

    @property
    def wall(self) -> timedelta:
        """How long an agent may run."""
        return timedelta(seconds=self.wall_seconds)
