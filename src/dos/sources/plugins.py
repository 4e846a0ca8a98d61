"""What other packages add to dos, by entry point."""

import os
import sys
from typing import Any

from dos.errors import BadInput

PREDICATES = "dos.predicates"


def names(group: str) -> list[str]:
    """What is installed, without loading it."""
    if not _is_anywhere(group):
        return []
    from importlib.metadata import entry_points

    return sorted(point.name for point in entry_points(group=group))


def load(group: str) -> list[tuple[str, Any]]:
    """The plugins of a group by name, classes instantiated. One that cannot be loaded is an error: it might refuse."""
    if not _is_anywhere(group):
        return []
    from importlib.metadata import entry_points

    found = []
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            loaded = point.load()
            found.append((point.name, loaded() if isinstance(loaded, type) else loaded))
        except Exception as error:
            raise BadInput(
                f"the plugin {point.name!r} of {group} ({point.value}) cannot be loaded: {error!r}",
                hint="Uninstall the package it came with, or repair it.",
            ) from error
    return found


def _is_anywhere(group: str) -> bool:
    """A look at the installed packages' own lists: the standard reader of them takes as long as a whole verb."""
    wanted = f"[{group}]".encode()
    for directory in sys.path:
        try:
            with os.scandir(directory or ".") as entries:
                names = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue  # a path entry may be a zip file, or nothing at all
        for name in names:
            try:
                with open(f"{name}/entry_points.txt", "rb") as file:  # noqa: PTH123 - a Path for each would double the time
                    if wanted in file.read():
                        return True
            except OSError:
                continue
    return False
