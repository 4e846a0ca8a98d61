"""The journal's store: can it be reached, read and written, and is it in a safe place?"""

import os
from pathlib import Path
from shlex import quote

from msgspec import Struct

from dos.config.notation import without_password
from dos.errors import DosError, JournalCorrupt, JournalTooNew, StoreFailed
from dos.evidence.health.disk import stored_bytes
from dos.evidence.health.finding import Finding, error, note, warning
from dos.journal.events import SCHEMA
from dos.journal.opening import embedded_path
from dos.sources import filesystems
from dos.sources.world import World

SAFE_SQLITE = (3, 51, 3)


class Journal(Struct, frozen=True, kw_only=True):
    url: str
    path: str | None  # None: it is not a file of this machine
    exists: bool
    reachable: bool
    events: int | None  # None: it could not be read
    schema: int  # of the records, as this dos writes them
    size_bytes: int | None


def facts(world: World) -> Journal:
    url = world.config.store.url
    path = file(world)
    events = _events(world, path)
    return Journal(
        url=without_password(url) or f"sqlite:{path}",
        path=None if path is None else str(path),
        exists=path is None or _there(path),
        reachable=events is not None,
        events=events,
        schema=SCHEMA,
        size_bytes=None if path is None or events is None else stored_bytes(path),
    )


def _events(world: World, path: Path | None) -> int | None:
    """How many there are; none before the first one was written. None when the journal cannot be read."""
    if path is not None and not _there(path):
        return 0
    try:
        with world.journal.backend.read() as view:
            return view.count(0)
    except (DosError, OSError):
        return None


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a directory on the way may not be looked into: then something may well be there
        return True


def examine(world: World) -> list[Finding]:
    path = file(world)
    found = [*_uncertain(world), *([] if path is None else _place(path))]
    if path is not None and not _there(path):
        return found + _sqlite()
    try:
        with world.journal.backend.read() as view:
            view.tail(view.last() - 1, 1)
            view.leases()
        found += _durability(world)
    except StoreFailed as failure:
        found.append(_failed(failure, world))
    return found


def file(world: World) -> Path | None:
    """Where the embedded store lies; None when the journal is on a server."""
    return embedded_path(world.config.store.url, world.workspace.state)


def _uncertain(world: World) -> list[Finding]:
    if not any(problem.key[:1] in ((), ("store",)) for problem in world.loaded.problems):
        return []
    what = "which journal is meant cannot be read from dos.toml; the one in the default place was looked at"
    return [note("STORE_UNCERTAIN", what, "Another one may be in use.", "dos lint")]


def _place(path: Path) -> list[Finding]:
    found = []
    if kind := filesystems.network(path):
        what = f"{path.parent} is on a network file system ({kind})"
        why = "Its locks cannot be relied on: two workers could get one lane."
        found.append(error("STORE_ON_NETWORK", what, why, "dos config set store.url postgresql://USER@HOST/DATABASE"))
    for place in (path.parent, *(each for each in (path, path.with_name(f"{path.name}-gate")) if each.exists())):
        there = filesystems.existing(place)
        if not os.access(there, os.W_OK):
            why = "No lease can be taken and no event recorded."
            fix = f'sudo chown -R "$(id -un)" {quote(str(filesystems.existing(path.parent)))}'
            found.append(error("STORE_READ_ONLY", f"{there} cannot be written by this user", why, fix))
            break
    return found


def _durability(world: World) -> list[Finding]:
    backend = world.journal.backend
    notes = getattr(backend, "durability_notes", None)
    if notes is not None:
        return [_server_note(text, world) for text in notes()]
    return [] if file(world) is None else _sqlite()


def _sqlite() -> list[Finding]:
    import sqlite3

    if sqlite3.sqlite_version_info >= SAFE_SQLITE:
        return []
    return [
        note(
            "SQLITE_OLD",
            f"SQLite is {sqlite3.sqlite_version}; before {'.'.join(map(str, SAFE_SQLITE))} two writers that meet in a"
            " checkpoint can damage a file",
            "Safe here: writers and checkpoints queue at one lock, so that they never meet.",
            "dos journal check",
        )
    ]


def _server_note(text: str, world: World) -> Finding:
    loses = "power cut" in text or "failover" in text
    why = "What the journal acknowledged can be lost." if loses else "Nothing that was acknowledged is lost by it."
    fix = f"psql {quote(without_password(world.config.store.url))} -c 'SHOW ALL'"
    return (warning if loses else note)("STORE_DURABILITY", text, why, fix)


def _failed(failure: StoreFailed, world: World) -> Finding:
    why = "Without the journal nothing can be granted, and nothing that happened can be told."
    look = f"ls -l {quote(str(world.workspace.state))}"
    match failure:
        case JournalTooNew():
            return error("STORE_TOO_NEW", str(failure), why, "pip install --upgrade dispatch-os")
        case JournalCorrupt():
            return error("STORE_DAMAGED", str(failure), why, "dos journal check")
    return error("STORE_UNREACHABLE", str(failure), why, look)
