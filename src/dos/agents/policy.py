"""The settings `[agents.NAME]`: agent programs under names that the workspace chooses."""

from msgspec import field

from dos.agents.programs import acp_programs
from dos.fields import Amount, BadValue, Positive, Table, check_name, check_text


class Agent(Table, frozen=True, kw_only=True):
    """One agent program. Two accounts of one vendor are two agents."""

    adapter: str = ""
    """Adapter that talks with the program, or `acp` for the protocol; empty: the table's name."""
    command: tuple[str, ...] = ()
    """Program and first arguments; empty: that of the adapter (`acp`: none) or of [workers]."""
    arguments: tuple[str, ...] = ()
    """Arguments added to those of the adapter."""
    model: str = ""
    """Model that the agent is started with; empty: the program's default."""
    account: str = ""
    """Agents of one account share its limits; empty: one account per vendor."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the program gets besides those that it inherits."""
    max_turns: Positive | None = None
    """Most turns of one start; of the built-in adapters only `claude_code` enforces it."""
    max_usd: Amount | None = None
    """Most dollars of one start; an agent whose output reports that it cost more is ended."""

    def __post_init__(self) -> None:
        for name in ("adapter", "model", "account"):
            check_text(getattr(self, name), (name,))
        for name in ("command", "arguments"):
            for place, word in enumerate(getattr(self, name)):
                check_text(word, (name, place))
        if self.command and not self.command[0].strip():
            raise BadValue(
                ("command", 0),
                "the command has no program to start",
                "Put the program's name first.",
            )
        if self.adapter == acp_programs.ANY and not self.command:
            raise BadValue(
                ("adapter",),
                'adapter is "acp" and there is no command to start',
                'Add command = ["program", "argument"]: a program that speaks ACP.',
            )
        for variable, value in self.environment.items():
            check_name(variable, ("environment", variable), "variable")
            check_text(value, ("environment", variable))
