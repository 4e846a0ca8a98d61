"""Walls as a profile of macOS's `sandbox-exec`. Written from its documentation, and not tested."""

from dos.sandbox.walls import Walls


def command(walls: Walls) -> tuple[str, ...]:
    """The command that starts a program behind these walls on macOS."""
    return ("sandbox-exec", "-p", profile(walls))


def profile(walls: Walls) -> str:
    """The profile: writes only where they are allowed, and signals only to processes inside."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += _allow("file-write*", walls.writable)
    if walls.readable is not None:
        lines.append("(deny file-read-data)")
        lines += _allow("file-read-data", (*walls.readable, *walls.writable, *_SYSTEM))
    lines += ["(deny signal)", "(allow signal (target same-sandbox))"]
    return "\n".join(lines)


_SYSTEM = ("/System", "/Library", "/private/etc", "/private/var/db", "/dev")


def _allow(operation: str, paths: tuple[str, ...]) -> list[str]:
    """A rule for each path. Paths below /tmp and /var are below /private on macOS."""
    rules = []
    for path in paths:
        quoted = path.replace("\\", "\\\\").replace('"', '\\"')
        rules.append(f'(allow {operation} (subpath "{quoted}"))')
        if path.startswith(("/tmp", "/var", "/etc")):
            rules.append(f'(allow {operation} (subpath "/private{quoted}"))')
    return rules
