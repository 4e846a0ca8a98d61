"""Write hooks into the private home of an agent, so that its program asks its worker."""

import sys
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from msgspec import structs

from dos.agents.homes import hook_wiring
from dos.agents.io import hook_shim
from dos.agents.io.home import PrivateHome
from dos.sandbox.walls import Walls

SOCKET_NAME = "dos-hook"
# Of these a program of the repository's own choice reads the first that is there.
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")


def can_ask(program: str, walls: Walls | None) -> bool:
    """Whether the program asks by hooks, and its walls let them reach the socket.

    A command of the user's may start it where neither our Python nor the socket is.
    """
    if program not in hook_wiring.PROGRAMS:
        return False
    return walls is None or not (walls.no_sockets or walls.program)


def wire_home(home: PrivateHome, program: str, tree: Path) -> PrivateHome:
    """Write the hooks of a program into its private home, and return the home with them."""
    worker = hook_wiring.Worker(
        socket=str(home.temporary / SOCKET_NAME),
        shim=(sys.executable, "-I", "-S", "-c", _SHIM),
        plugin=_PLUGIN,
        instructions=_instructions(tree),
    )

    def read(name: str) -> str:
        with suppress(OSError):
            return (home.folder / name).read_text(encoding="utf-8", errors="replace")
        return ""

    wiring = hook_wiring.wire(program, worker, read)
    for name, text in wiring.files.items():
        path = home.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    return structs.replace(home, variables={**home.variables, **wiring.variables})


def _instructions(tree: Path) -> tuple[str, ...]:
    """The file with the repository's words for agents; none where it has none."""
    for name in INSTRUCTIONS:
        if (tree / name).is_file():
            return (str(tree / name),)
    return ()


# Read once: an upgrade of the package changes nothing for a worker that runs.
_SHIM = Path(hook_shim.__file__).read_text(encoding="utf-8")
_PLUGIN = files("dos.agenthooks").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
