"""What the workspace's setup and test commands said of a tree that no agent has changed."""

from msgspec import Struct, field

BLIND_ADVICE = (
    "It may import an installed copy, such as `pip install -e .` of another checkout. Let"
    " [workers] setup in dos.toml install the tree itself. If the test checks only style or"
    " documents, answer `start` when `dos up` asks"
)

NOTHING_TO_EMPTY = (
    "whether it sees the tree it is run in is not known: the only source files are those that it"
    " names, so none could be emptied"
)


class Subject(Struct, frozen=True, kw_only=True):
    """What is checked: a tree, the commands, and the host they run on."""

    host: str
    tree: str
    commands: str  # a digest of the setup and test commands


class CheckOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the commands said in a tree."""

    command: str  # the one that decided: setup if that failed, else test
    passed: bool
    blanked: int = 0  # how many source files were emptied for the second run; 0: there was none
    sees_tree: bool | None = None  # the test failed with them emptied; None: it was not tried
    reason: str = ""
    output: list[str] = field(default_factory=list)  # its last lines
    seconds: float = 0.0
    # unit -> why its acceptance command cannot run here
    missing: dict[str, str] = field(default_factory=dict)
    # the units whose acceptance command passes here, before they are done
    already_green: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether workers may start: the test passes and does not ignore the tree."""
        return self.passed and self.sees_tree is not False

    @property
    def fault(self) -> str:
        """`red`: it fails; `blind`: it passes with the program gone; empty: it is good."""
        if self.is_good:
            return ""
        if self.passed:
            return "blind"
        return "red"


class CheckResult(CheckOutcome, frozen=True, kw_only=True, omit_defaults=True):
    """One check, with what it was made of. It holds for its subject alone."""

    host: str
    branch: str
    commit: str
    tree: str
    commands: str  # a digest of the setup and test commands
    ordinal: int = 0  # of a failure: its number among those of this host

    @property
    def subject(self) -> Subject:
        """What this result is about."""
        return Subject(host=self.host, tree=self.tree, commands=self.commands)

    @property
    def problem(self) -> str:
        """What is wrong, in one sentence; empty: nothing is."""
        command = " ".join(self.command.split())
        commit = f"{self.branch} ({self.commit[:9]})"
        if self.fault == "blind":
            files = "1 source file" if self.blanked == 1 else f"all {self.blanked} source files"
            return (
                "Your test does not see the tree it is run in:"
                f" `{command}` passes on {commit} also with {files} emptied"
            )
        if self.fault == "red":
            return (
                f"`{command}` fails on {commit} on {self.host}, where no agent has worked:"
                f" {self.reason}"
            )
        return ""
