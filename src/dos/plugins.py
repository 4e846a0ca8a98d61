"""What other packages add to dos through entry points."""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
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
Answer = TypeVar("Answer")
FlawFinder = Callable[[Any], str]  # what is wrong with a plugin; empty: nothing


class LoadedPlugins(Struct, frozen=True, kw_only=True):
    """The plugins of a group by name, and a sentence for each one that cannot be used."""

    plugins: list[tuple[str, Any]]
    broken: list[str]


def installed_names(group: str) -> list[str]:
    """Return the names of the installed plugins, without loading them."""
    return [point.name for point in _entry_points(group)]


def load(
    group: str, *, only: str = "", flaw: FlawFinder = lambda _plugin: ""
) -> list[tuple[str, Any]]:
    """Return the plugins of a group, or those of one name; classes are instantiated.

    Raises BadInput for one that cannot be loaded or has a flaw: leaving out a plugin that might
    refuse something would allow it.
    """
    loaded = _load(group, only, flaw)
    if loaded.broken:
        raise BadInput(loaded.broken[0], hint="Uninstall the package it came with, or repair it.")
    return loaded.plugins


def create(group: str, name: str, options: Mapping[str, Any]) -> Any:
    """Return the plugin of a name; a class is called with those options that it takes.

    Raises BadInput for one that cannot be loaded.
    """
    for point in _entry_points(group):
        if point.name != name:
            continue
        plugin = call_or_unknown(partial(_create, point, options))
        if not isinstance(plugin, Unknown):
            return plugin
        raise BadInput(
            f"the plugin {name!r} of {group} ({point.value}) cannot be loaded: {plugin.why}",
            hint="Uninstall the package it came with, or repair it.",
        )
    raise BadInput(f"no plugin of {group} is called {name!r}")


def load_others(group: str, own: Collection[str], warn: Callable[[str], None]) -> dict[str, Any]:
    """Return the plugins beside our own, by name. One that cannot be loaded is left out."""
    loaded = _load(group)
    for complaint in loaded.broken:
        warn(f"warning: {complaint}")
    return {name: plugin for name, plugin in loaded.plugins if name not in own}


def typed_answer(function: Callable[[], Any], kind: type[Answer]) -> Answer | Unknown:
    """Return what a plugin's function returns, if it and all its values are of that type."""
    answer = call_or_unknown(function)
    if isinstance(answer, Unknown):
        return Unknown(f"it raised {answer.why}")
    if not isinstance(answer, kind):
        return Unknown(f"it answered with {type(answer).__name__}, not with {kind.__name__}")
    converted = call_or_unknown(lambda: convert(to_builtins(answer), kind))
    if isinstance(converted, Unknown):
        return Unknown(f"its answer has values of other kinds: {converted.why}")
    return converted


def _load(group: str, only: str = "", flaw: FlawFinder = lambda _plugin: "") -> LoadedPlugins:
    loaded = LoadedPlugins(plugins=[], broken=[])
    for point in _entry_points(group):
        if only and point.name != only:
            continue
        plugin = call_or_unknown(partial(_instantiate, point))
        if isinstance(plugin, Unknown):
            problem = f"cannot be loaded: {plugin.why}"
        else:
            problem = flaw(plugin)
        if problem:
            loaded.broken.append(f"the plugin {point.name!r} of {group} ({point.value}) {problem}")
        else:
            loaded.plugins.append((point.name, plugin))
    return loaded


def _instantiate(point: "EntryPoint") -> Any:
    loaded = point.load()
    if isinstance(loaded, type):
        return loaded()
    return loaded


def _create(point: "EntryPoint", options: Mapping[str, Any]) -> Any:
    import inspect  # only transports of other packages take options

    loaded = point.load()
    if not isinstance(loaded, type):
        return loaded
    taken = inspect.signature(loaded).parameters
    return loaded(**{name: value for name, value in options.items() if name in taken})


def _entry_points(group: str) -> "list[EntryPoint]":
    # The standard reader takes as long as a whole verb, so a cheap search comes first.
    marker = f"[{group}]".encode()
    if not any(marker in content for content in _entry_point_files()):
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda point: point.name)


def _entry_point_files() -> Iterator[bytes]:
    """Yield the content of the entry_points.txt of every installed package."""
    for directory in sys.path:
        for folder in _metadata_folders(directory or "."):
            try:
                with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123 - a Path for each would double the time
                    yield file.read()
            except OSError:
                continue


def _metadata_folders(directory: str) -> list[str]:
    endings = (".dist-info", ".egg-info")
    try:
        with os.scandir(directory) as entries:
            return [entry.path for entry in entries if entry.name.endswith(endings)]
    except OSError:
        return []  # a path entry may be a zip file, or may not exist
