"""The resident server: whether it runs, whether it answers, and where."""

from typing import Any

from dos.doctor.subjects.finding import Finding, warning
from dos.server.io.client import status
from dos.server.io.location import Location
from dos.world import World


def state(world: World) -> dict[str, Any]:
    """Return what there is to know of the server, for the report."""
    location = Location(world.workspace.state)
    found = status(location)
    return {
        "running": found.address is not None,
        "answers": found.address is not None and not found.problem,
        "address": f"http://127.0.0.1:{found.address.port}/" if found.address else None,
        "pid": found.address.pid if found.address else None,
        "socket": str(location.socket),
        "off": world.config.server.off,
    }


def examine(world: World) -> list[Finding]:
    """Return a finding where a server runs and does not answer."""
    found = status(Location(world.workspace.state))
    if found.address is None or not found.problem:
        return []
    return [
        warning(
            "SERVER_SILENT",
            f"the server (process {found.address.pid}) does not answer: {found.problem}",
            "Hooks of agents wait for it before they answer by themselves.",
            f"kill {found.address.pid}",
        )
    ]
