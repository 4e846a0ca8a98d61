"""What this system offers to build walls from."""

from msgspec import Struct

# Versions of the Landlock interface, by the first one that knows a rule.
FILES_ABI = 3  # below it, any file can be emptied by `truncate`: no rule on files at all
PORTS_ABI = 4
SCOPES_ABI = 6
NAMED_SOCKETS_ABI = 9

EPHEMERAL = (32_768, 60_999)  # the ports that Linux hands out, unless it is set otherwise


class Support(Struct, frozen=True, kw_only=True):
    """What the kernel supports, each tried in a process of its own, and why not."""

    system: str = "linux"
    landlock_abi: int = 0
    landlock_missing: str = ""
    seccomp: bool = False
    seccomp_missing: str = ""
    namespaces: bool = False
    namespaces_missing: str = ""
    ephemeral_ports: tuple[int, int] = EPHEMERAL

    @property
    def has_files(self) -> bool:
        """Whether the kernel can protect files from being changed."""
        return self.landlock_abi >= FILES_ABI

    @property
    def has_ports(self) -> bool:
        return self.landlock_abi >= PORTS_ABI

    @property
    def has_scopes(self) -> bool:
        """Whether signals and abstract sockets can be kept inside."""
        return self.landlock_abi >= SCOPES_ABI

    @property
    def has_named_sockets(self) -> bool:
        return self.landlock_abi >= NAMED_SOCKETS_ABI
