"""The table [server] of `dos.toml`: whether `dos up` starts the server, and its port."""

from typing import Annotated
from zlib import crc32

from msgspec import Meta

from dos.fields import Table

Port = Annotated[int, Meta(ge=0, le=65_535)]
# Below the ports of lanes and below those that kernels hand out: the sandbox opens both to agents.
FIRST_PORT = 20_100
LAST_PORT = 20_999


class Server(Table, frozen=True, kw_only=True):
    """[server]: the resident server, which answers hooks and shows the fleet on this machine."""

    off: bool = False
    """Whether `dos up` starts no server. Hooks then answer in a process of their own."""
    port: Port = 0
    """TCP port on 127.0.0.1; 0: a free one from 20100 to 20999, the same one each time."""

    def ports(self, last: int, workspace: str) -> list[int]:
        """Return the ports to try, in order.

        `last` is the one that was used last (0: none). Without it each workspace begins at another
        one, so that the address stays the same whichever of them is served first.
        """
        if self.port:
            return [self.port]
        found = list(range(FIRST_PORT, LAST_PORT + 1))
        first = crc32(workspace.encode("utf-8", "surrogateescape")) % len(found)
        found = found[first:] + found[:first]
        if last in found:
            found.remove(last)
            found.insert(0, last)
        return found
