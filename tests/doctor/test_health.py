"""What the doctor judges, apart from where it reads it."""

from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from dos.config.toml_text import mask_password, strip_password
from dos.doctor.subjects import finding, machine, store
from dos.doctor.subjects.configuration import TrackedFiles
from dos.errors import GitFailed
from dos.globs import matches, path_key
from dos.journal.backend import DurabilityNote, Entry
from dos.journal.store import Store
from dos.machine.filesystem import FreeSpace
from dos.world import World, open_journal


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (FreeSpace(free_bytes=10**10, free_files=10**6), []),
        (FreeSpace(free_bytes=10**10, free_files=None), []),
        (FreeSpace(free_bytes=999_999_999, free_files=10**6), [("DISK_LOW", "warn")]),
        (FreeSpace(free_bytes=99_999_999, free_files=10**6), [("DISK_LOW", "error")]),
        (FreeSpace(free_bytes=10**10, free_files=9), [("DISK_FILES_LOW", "warn")]),
    ],
)
def test_how_much_room_is_enough(room, expected, tmp_path):
    assert [
        (found.kind, found.severity) for found in machine.judge_disk(room, tmp_path)
    ] == expected


def test_a_large_journal_is_one_that_holds_much_and_not_one_that_held_much(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "LARGE_JOURNAL_BYTES", 300_000)
    with World(tmp_path) as world, open_journal(world.workspace, "") as journal:
        journal.append_all(
            [Entry(stream="s", kind="k", body={"text": "x" * 1000}) for _ in range(500)]
        )
        assert [
            found.kind for found in machine.examine_disk(world) if found.kind.startswith("JOURNAL")
        ] == ["JOURNAL_LARGE"]
        with journal.backend.write() as tx:
            tx.delete(range(1, 490))
        assert store.stored_bytes(store.journal_path(world)) > 300_000
        assert not [
            found.kind for found in machine.examine_disk(world) if found.kind.startswith("JOURNAL")
        ]


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
    assert [found.kind for found in machine.judge_clock(now_ms, newest_ms)] == expected


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:se@cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db?password=secret&x=1", "postgresql://me@host/db?password=***&x=1"),
        ("postgresql://me:a/b?c@host/db?x=1", "postgresql://me:***@host/db?x=1"),
        ("postgresql://me@host/db?sslpassword=secret", "postgresql://me@host/db?sslpassword=***"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        ("sqlite:other.db", "sqlite:other.db"),
    ],
)
def test_a_password_is_never_shown(url, shown):
    assert mask_password(url) == shown
    left = strip_password(url)
    assert "***" not in left and "secret" not in left and left.startswith(url.partition(":")[0])


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("postgresql://me:se@cret@host:1/db", "postgresql://me@host:1/db"),
        ("postgresql://me@host/db?password=secret&x=1", "postgresql://me@host/db?x=1"),
        ("postgresql://me@host/db?password=secret", "postgresql://me@host/db"),
    ],
)
def test_a_program_can_be_given_the_url_without_its_password(url, left):
    assert strip_password(url) == left


NAMES = st.lists(st.sampled_from(["a", "b", "A", "é", "c.", "d.py"]), min_size=1, max_size=3).map(
    "/".join
)
GLOBS = st.sampled_from(
    ["a/**", "A/b/**", "a/*.py", "**/*.py", "é/**", "c/**", "b", "a/b/d.py", "?/b", "{a,b}/**"]
)


@given(st.lists(NAMES, max_size=6), GLOBS)
def test_a_lane_covers_what_its_globs_match_however_the_files_are_ordered(paths, glob):
    folded = [path for each in paths if (path := path_key(each)) is not None]
    assert TrackedFiles(paths).has_match([glob]) == any(matches(glob, path) for path in folded)


def test_questions_are_put_at_once_and_the_first_failure_is_told():
    both = Barrier(2)  # neither gets past it alone
    assert finding.run_concurrently(
        [lambda: both.wait(PATIENCE) * 0 + 1, lambda: both.wait(PATIENCE) * 0 + 2]
    ) == [1, 2]

    def fails():
        raise GitFailed("no")

    with pytest.raises(GitFailed, match="no"):
        finding.run_concurrently([lambda: 1, fails])


@pytest.mark.parametrize(
    ("noted", "severity"),
    [
        (DurabilityNote(setting="fsync", text="fsync is off", loses=True), "warn"),
        (DurabilityNote(setting="data_checksums", text="data checksums are off"), "info"),
    ],
)
def test_what_a_server_says_about_its_durability_is_passed_on(noted, severity, tmp_path):
    class Backend:
        def durability_notes(self):
            return [noted]

    world = World(tmp_path)
    world.__dict__["journal"] = Store(Backend())
    (found,) = store._examine_durability(world)
    assert (found.kind, found.severity, found.what) == ("STORE_DURABILITY", severity, noted.text)
