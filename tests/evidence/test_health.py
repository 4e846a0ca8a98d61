"""What the doctor judges, apart from where it reads it."""

import pytest

from dos.config.notation import without_password
from dos.evidence.health import clock, disk, facts, store
from dos.journal.store import Store
from dos.sources.filesystems import Room
from dos.sources.world import World


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (Room(free_bytes=10**10, free_files=10**6), []),
        (Room(free_bytes=10**10, free_files=None), []),
        (Room(free_bytes=999_999_999, free_files=10**6), [("DISK_LOW", "warn")]),
        (Room(free_bytes=99_999_999, free_files=10**6), [("DISK_LOW", "error")]),
        (Room(free_bytes=10**10, free_files=9), [("DISK_FILES_LOW", "warn")]),
    ],
)
def test_how_much_room_is_enough(room, expected, tmp_path):
    assert [(found.kind, found.severity) for found in disk.judge(room, tmp_path)] == expected


@pytest.mark.parametrize(
    ("now_ms", "newest_ms", "expected"),
    [
        (1_800_000_000_000, None, []),
        (1_800_000_000_000, 1_800_000_000_000, []),
        (1_800_000_000_000, 1_800_000_001_000, []),
        (1_800_000_000_000, 1_800_000_060_000, ["CLOCK_BEHIND"]),
        (1_800_000_000_000, 253_402_300_799_000, ["CLOCK_BEHIND"]),
        (0, None, ["CLOCK_UNSET"]),
        (1_700_000_000_000, None, ["CLOCK_UNSET"]),
    ],
)
def test_what_the_clock_may_say(now_ms, newest_ms, expected):
    assert [found.kind for found in clock.judge(now_ms, newest_ms)] == expected


@pytest.mark.parametrize(
    ("subject", "unit"),
    [
        ("AUTH1: log in", "AUTH1"),
        ("AUTH AUTH-2.1: log in", "AUTH-2.1"),
        ("AUTH2 - log out", "AUTH2"),
        ("AUTH3 — log out", "AUTH3"),
        ("Fix the login", ""),
        ("fix: the login", ""),
        ("2024: a year", ""),
        ("Python3 support", ""),
        ("", ""),
    ],
)
def test_which_subjects_seem_to_name_a_unit(subject, unit):
    assert facts.ship_shaped(subject) == unit


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:se@cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db?password=secret&x=1", "postgresql://me@host/db?password=***&x=1"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("sqlite:other.db", "sqlite:other.db"),
    ],
)
def test_a_password_is_never_shown(url, shown):
    assert without_password(url) == shown


@pytest.mark.parametrize(
    ("text", "severity"),
    [("fsync is off: a power cut can destroy the whole database", "warn"), ("data checksums are off: late", "info")],
)
def test_what_a_server_says_about_its_durability_is_passed_on(text, severity, tmp_path):
    class Backend:
        def durability_notes(self):
            return [text]

    world = World(tmp_path)
    world.__dict__["journal"] = Store(Backend())
    (found,) = store._durability(world)
    assert (found.kind, found.severity, found.what) == ("STORE_DURABILITY", severity, text)
