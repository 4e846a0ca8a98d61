"""What the workspace's setup and test said of a tree that no agent has touched."""

from msgspec import Struct, field

BLIND_ADVICE = (
    "Does it import an installed copy, such as `pip install -e .` of another checkout? Let [workers] setup in dos.toml"
    " install the tree itself. If it checks only style or documents, answer `start` when `dos up` asks"
)

NOTHING_TO_EMPTY = "it is not known whether it sees the tree it is run in: there is no source file to empty but those that it names"


class Subject(Struct, frozen=True, kw_only=True):
    """What is to be checked: a tree, the commands, and the host they run on."""

    host: str
    tree: str
    commands: str  # a digest of the setup and test commands


class CheckOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the commands said in a tree."""

    command: str  # the one that decided: setup where that failed, else test
    passed: bool
    blanked: int = 0  # how many source files were emptied for the second run; 0: there was none
    sees_tree: bool | None = None  # the test failed with them emptied; None: it was not tried
    reason: str = ""
    output: list[str] = field(default_factory=list)  # its last lines
    seconds: float = 0.0
    missing: dict[str, str] = field(
        default_factory=dict
    )  # unit -> why its acceptance command cannot run here

    @property
    def is_good(self) -> bool:
        return self.passed and self.sees_tree is not False

    @property
    def fault(self) -> str:
        """`red`: it fails; `blind`: it passes with the program gone; empty: it is good."""
        if self.is_good:
            return ""
        return "blind" if self.passed else "red"


class CheckResult(CheckOutcome, frozen=True, kw_only=True, omit_defaults=True):
    """One check. It holds for its subject alone."""

    host: str
    branch: str
    commit: str
    tree: str
    commands: str  # a digest of the setup and test commands
    ordinal: int = 0  # of a failure: the how-manieth of this host it is

    @property
    def subject(self) -> Subject:
        return Subject(host=self.host, tree=self.tree, commands=self.commands)

    @property
    def problem(self) -> str:
        """What is wrong, in one sentence; empty: nothing is."""
        command, where = " ".join(self.command.split()), f"{self.branch} ({self.commit[:9]})"
        if self.fault == "blind":
            files = "1 source file" if self.blanked == 1 else f"all {self.blanked} source files"
            found = f"`{command}` passes on {where} also with {files} emptied"
            return f"Your test does not see the tree it is run in: {found}"
        if self.fault == "red":
            return f"`{command}` fails on {where} on {self.host}, where no agent has worked: {self.reason}"
        return ""
