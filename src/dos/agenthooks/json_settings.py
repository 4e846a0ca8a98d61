"""Our hooks in the JSON settings of a program: put in and taken out, all else stays as it is."""

import json
import math
from typing import Any

from dos.agenthooks import json_edit
from dos.agenthooks.wiring import Form, Host, group, is_ours, is_tuned
from dos.errors import BadInput
from dos.text import quote

Settings = dict[str, Any]


class NotPlain(BadInput):
    """The file cannot be edited without losing something; it is for its owner to edit."""


def parse(text: str, name: str) -> Settings:
    """Return the settings of a file; an empty one has none.

    Raises NotPlain for comments, for a key that stands twice, and for numbers that JSON cannot
    hold.
    """

    def once(pairs: list[tuple[str, Any]]) -> Settings:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise NotPlain(f"{name} has one key twice, and was not changed")
        return found

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise NotPlain(f"{name} has the number {quote(number)}, and was not changed")
        return value

    if not text.strip(" \t\n\r"):
        return {}
    try:
        settings = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=once,
            parse_float=finite,
            parse_constant=finite,
        )
    except (ValueError, RecursionError) as error:  # also a number with too many digits
        raise NotPlain(f"{name} is not plain JSON ({error}), and was not changed") from error
    if not isinstance(settings, dict):
        raise NotPlain(f"{name} holds no JSON object, and was not changed")
    check_hooks(settings, name)
    return settings


def check_hooks(settings: Settings, name: str) -> None:
    """Raise NotPlain where the hooks of a file are not lists by event."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        raise NotPlain(f"`hooks` in {name} does not have the form of its program")


def install(settings: Settings, host: Host, caller: str, *, force: bool = False) -> Settings:
    """Return the settings with our hooks, each once: an older entry of ours makes room.

    An entry with options that a person chose stays instead, unless `force`.
    """
    changed = uninstall(settings, host, keep_tuned=not force)
    tuned = our_entries(changed)
    hooks = dict(changed.get("hooks", {}))
    for event in host.events:
        if event not in tuned:
            hooks[event] = [*hooks.get(event, []), group(host, event, caller)]
    # An event keeps the place that it had.
    order = [*settings.get("hooks", {}), *hooks]
    hooks = {event: hooks[event] for event in dict.fromkeys(order) if event in hooks}
    made: Settings = {}
    for key in (*settings, "hooks"):
        made[key] = hooks if key == "hooks" else changed.get(key, settings.get(key))
    if host.form is Form.FLAT:
        made.setdefault("version", 1)
    return made


def uninstall(settings: Settings, host: Host, *, keep_tuned: bool = False) -> Settings:
    """Return the settings without any entry of ours; what is empty without them goes too."""
    hooks = settings.get("hooks")
    if not hooks:
        return settings
    kept: dict[str, Any] = {}
    for event, groups in hooks.items():
        left = [each for old in groups for each in _without_ours(old, keep_tuned)]
        if left or not groups:
            kept[event] = left
    made = dict(settings)
    if kept:
        made["hooks"] = kept
    else:
        del made["hooks"]
        if host.form is Form.FLAT and set(made) == {"version"}:
            return {}
    return made


def is_wired(settings: Settings, host: Host, caller: str) -> bool | None:
    """Whether every event has our entry as it is written now, once; None: no event has one."""
    ours = our_entries(settings)
    if not ours:
        return None
    for event in host.events:
        groups = ours.get(event, [])
        entries = [entry for each in groups for entry in _entries(each)]
        if len(entries) != 1:
            return False
        if not is_tuned(entries[0]["command"]) and groups[0] != group(host, event, caller):
            return False
    return set(ours) == set(host.events)


def our_entries(settings: Settings) -> dict[str, list[Any]]:
    """Return our entries by event; a group of which we have a part is given with that part."""
    found: dict[str, list[Any]] = {}
    for event, groups in settings.get("hooks", {}).items():
        ours = [each for old in groups if (each := _only_ours(old)) is not None]
        if ours:
            found[event] = ours
    return found


def patch(host: Host, caller: str) -> str:
    """Return what a person adds by hand to a file that dos does not edit."""
    return json_edit.rewrite("", {}, install({}, host, caller))


def _entries(each: Any) -> list[Any]:
    """The entries of a group, or the one that stands by itself."""
    if isinstance(each, dict) and isinstance(each.get("hooks"), list):
        return list(each["hooks"])
    return [each]


def _is_our_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and is_ours(entry.get("command"))


def _without_ours(each: Any, keep_tuned: bool) -> list[Any]:
    """A group without our entries, as a list; an empty one where nothing else was in it."""
    entries = _entries(each)
    left = [
        entry
        for entry in entries
        if not _is_our_entry(entry) or (keep_tuned and is_tuned(entry["command"]))
    ]
    if len(left) == len(entries):
        return [each]
    if not left:
        return []
    return [{**each, "hooks": left}]


def _only_ours(each: Any) -> Any:
    """A group with our entries alone; None where it has none."""
    ours = [entry for entry in _entries(each) if _is_our_entry(entry)]
    if not ours:
        return None
    if isinstance(each, dict) and "hooks" in each:
        return {**each, "hooks": ours}
    return ours[0]
