"""What other packages add to dos, by entry point."""

import os
import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import convert, to_builtins

from dos.errors import BadInput
from dos.records.unknown import Unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PREDICATES = "dos.predicates"
EVIDENCE_SOURCES = "dos.evidence_sources"
JUDGES = "dos.judges"
Answered = TypeVar("Answered")


def names(group: str) -> list[str]:
    """What is installed, without loading it."""
    return [point.name for point in _points(group)]


def load(group: str) -> list[tuple[str, Any]]:
    """The plugins of a group by name, classes instantiated. One that cannot be loaded is an error: it might refuse."""
    found, failed = _loaded(group)
    if failed:
        raise BadInput(failed[0], hint="Uninstall the package it came with, or repair it.")
    return found


def added(group: str, own: Collection[str], warn: Callable[[str], None]) -> dict[str, Any]:
    """Those beside our own, by name, where one that cannot be loaded is only missing."""
    found, failed = _loaded(group)
    for complaint in failed:
        warn(f"warning: {complaint}")
    return {name: plugin for name, plugin in found if name not in own}


def answer(stranger: Callable[[], Any], kind: type[Answered]) -> Answered | Unknown:
    """What somebody else's code answers, if it is of that kind through and through."""
    said = call(stranger)
    if isinstance(said, Unknown):
        return Unknown(f"it raised {said.why}")
    if not isinstance(said, kind):
        return Unknown(f"it answered with {type(said).__name__}, not with {kind.__name__}")
    checked = call(lambda: convert(to_builtins(said), kind))
    return Unknown(f"its answer has values of other kinds: {checked.why}") if isinstance(checked, Unknown) else checked


def call(stranger: Callable[[], Answered]) -> Answered | Unknown:
    """What somebody else's code answers; whatever it raises, it has no answer."""
    try:
        return stranger()
    except Exception as error:  # noqa: BLE001 - nobody knows what a plugin may raise
        return Unknown(repr(error))


def _loaded(group: str) -> tuple[list[tuple[str, Any]], list[str]]:
    """And what is to be said of those that cannot be loaded."""
    found, failed = [], []
    for point in _points(group):
        made = call(partial(_made, point))
        if isinstance(made, Unknown):
            failed.append(f"the plugin {point.name!r} of {group} ({point.value}) cannot be loaded: {made.why}")
        else:
            found.append((point.name, made))
    return found, failed


def _points(group: str) -> "list[EntryPoint]":
    if not _is_anywhere(group):
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda point: point.name)


def _made(point: "EntryPoint") -> Any:
    loaded = point.load()
    return loaded() if isinstance(loaded, type) else loaded


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
