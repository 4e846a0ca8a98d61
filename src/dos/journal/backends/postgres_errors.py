"""What PostgreSQL's complaints mean to a caller."""

import psycopg

from dos.errors import (
    BadInput,
    DosError,
    Internal,
    JournalCorrupt,
    StoreBusy,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)

_LOOK = "Run `dos doctor` to see what is wrong with the server."


def explain(error: psycopg.Error, place: str) -> DosError:
    said = " ".join((error.diag.message_primary or str(error)).split()) or type(error).__name__
    if isinstance(error, psycopg.DataError) and not error.sqlstate:
        return BadInput(f"{place}: what was to be written cannot be stored: {said}")
    match error.sqlstate or "":
        case "55P03":
            return StoreBusy(
                f"{place}: somebody else has held the write lock for too long",
                hint="Look for a stopped `dos` process on any host; the server lists its sessions in pg_stat_activity.",
            )
        case "57014" | "40001" | "40P01":
            return StoreBusy(
                f"{place}: the server broke off the request: {said}", hint="Try again."
            )
        case "53100":
            return StoreFull(
                f"{place}: no room is left on the server's disk",
                hint="Free some space; nothing was lost.",
            )
        case "25006":
            return StoreReadOnly(
                f"{place} cannot be written: {said}",
                hint="Name the primary, not a standby, in the URL.",
            )
        case "42501":
            return StoreReadOnly(
                f"{place} cannot be used: {said}", hint="Grant the user its rights on schema dos."
            )
        case "XX001" | "XX002":
            return JournalCorrupt(
                f"{place} is damaged: {said}", hint="Run `dos journal check` to see the damage."
            )
        case "58P01" | "0A000" if "btree_gist" in said:
            return StoreFailed(
                f"{place}: {said}", hint="Install the contrib package of PostgreSQL on the server."
            )
        case state if state.startswith("23"):
            return Internal(
                f"{place}: the store refused a write that the rules had allowed: {said}"
            )
        case state if not state or state.startswith(("08", "53", "57P", "58")):
            return StoreUnreachable(f"{place}: {said}", hint=_LOOK)
    return StoreFailed(f"{place}: {said}", hint=_LOOK)
