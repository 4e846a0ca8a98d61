"""What other packages add to dos, by entry point."""

import os
import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, convert, to_builtins

from dos.errors import BadInput
from dos.unknown import Unknown, call_or_unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

AGENTS = "dos.agents"
EVIDENCE_SOURCES = "dos.evidence_sources"
JUDGES = "dos.judges"
PREDICATES = "dos.predicates"
Answered = TypeVar("Answered")


class LoadedPlugins(Struct, frozen=True, kw_only=True):
    """The plugins of a group by name, and a sentence for each that is of no use."""

    plugins: list[tuple[str, Any]]
    broken: list[str]


def installed_names(group: str) -> list[str]:
    """What is installed, without loading it."""
    return [point.name for point in _points(group)]


def load(
    group: str, *, only: str = "", flaw: Callable[[Any], str] = lambda plugin: ""
) -> list[tuple[str, Any]]:
    """The plugins of a group, or those of one name, by name; classes are instantiated.

    Raises BadInput for one that cannot be loaded, or of which `flaw` says what is wrong with it: it might refuse.
    """
    found = _loaded(group, only, flaw)
    if found.broken:
        raise BadInput(found.broken[0], hint="Uninstall the package it came with, or repair it.")
    return found.plugins


def load_others(group: str, own: Collection[str], warn: Callable[[str], None]) -> dict[str, Any]:
    """Those beside our own, by name, where one that cannot be loaded is only missing."""
    found = _loaded(group)
    for complaint in found.broken:
        warn(f"warning: {complaint}")
    return {name: plugin for name, plugin in found.plugins if name not in own}


def typed_answer(stranger: Callable[[], Any], kind: type[Answered]) -> Answered | Unknown:
    """What a plugin answers, if it is of that kind through and through."""
    said = call_or_unknown(stranger)
    if isinstance(said, Unknown):
        return Unknown(f"it raised {said.why}")
    if not isinstance(said, kind):
        return Unknown(f"it answered with {type(said).__name__}, not with {kind.__name__}")
    checked = call_or_unknown(lambda: convert(to_builtins(said), kind))
    return (
        Unknown(f"its answer has values of other kinds: {checked.why}")
        if isinstance(checked, Unknown)
        else checked
    )


def _loaded(
    group: str, only: str = "", flaw: Callable[[Any], str] = lambda plugin: ""
) -> LoadedPlugins:
    found = LoadedPlugins(plugins=[], broken=[])
    for point in _points(group):
        if only and point.name != only:
            continue
        made = call_or_unknown(partial(_made, point))
        why = f"cannot be loaded: {made.why}" if isinstance(made, Unknown) else flaw(made)
        if why:
            found.broken.append(f"the plugin {point.name!r} of {group} ({point.value}) {why}")
        else:
            found.plugins.append((point.name, made))
    return found


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
                names = [
                    entry.path
                    for entry in entries
                    if entry.name.endswith((".dist-info", ".egg-info"))
                ]
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
