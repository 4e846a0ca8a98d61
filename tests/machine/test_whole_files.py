"""Files are written whole or not at all, whatever happens meanwhile."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dos.machine import filesystem
from dos.machine.filesystem import whole_file, write_whole

OLD = b"old content\n"
NEW = b"new content\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    return path


def test_a_file_is_created_and_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in (OLD, NEW, b""):
        write_whole(path, data)
        assert path.read_bytes() == data
        assert names(tmp_path) == ["file"]


def test_a_reader_that_has_the_old_file_open_still_reads_it(file: Path) -> None:
    with file.open("rb") as reader:
        write_whole(file, NEW)
        assert reader.read() == OLD


# Symbolic links


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_the_file_behind_it_is_written(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "shared").mkdir()
    real = tmp_path / "shared" / "real"
    if exists:
        real.write_bytes(OLD)
    link = tmp_path / "link"
    link.symlink_to("shared/real")
    write_whole(link, NEW)
    assert link.is_symlink() and real.read_bytes() == NEW
    assert names(tmp_path) == ["link", "shared"] and names(real.parent) == ["real"]


@pytest.mark.parametrize("leads_to", ["file", "nowhere"])
def test_a_link_that_is_not_followed_is_replaced(file: Path, leads_to: str) -> None:
    link = file.with_name("link")
    link.symlink_to(leads_to)
    write_whole(link, NEW, follow_link=False)
    assert not link.is_symlink() and link.read_bytes() == NEW
    assert file.read_bytes() == OLD
    assert names(file.parent) == ["file", "link"]


@pytest.mark.parametrize("leads_to", ["file", "nowhere"])
def test_no_link_is_replaced_where_the_file_must_be_new(file: Path, leads_to: str) -> None:
    link = file.with_name("link")
    link.symlink_to(leads_to)
    with pytest.raises(FileExistsError):
        write_whole(link, NEW, must_be_new=True)
    assert link.readlink() == Path(leads_to) and file.read_bytes() == OLD
    assert names(file.parent) == ["file", "link"]


# Modes


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o755, 0o444])
def test_the_file_that_is_replaced_passes_its_mode_on(file: Path, bits: int) -> None:
    file.chmod(bits)
    write_whole(file, NEW, mode=0o666)
    assert file.read_bytes() == NEW and mode(file) == bits
    link = file.with_name("link")
    link.symlink_to("file")
    write_whole(link, OLD)
    assert file.read_bytes() == OLD and mode(file) == bits


@pytest.mark.parametrize(("asked", "given"), [(0o666, 0o640), (0o600, 0o600), (0o777, 0o750)])
def test_a_new_file_gets_the_mode_that_is_asked_for_less_the_umask(
    tmp_path: Path, asked: int, given: int
) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "replaceable", NEW, mode=asked)
        write_whole(tmp_path / "new", NEW, mode=asked, must_be_new=True)
    finally:
        os.umask(before)
    assert mode(tmp_path / "replaceable") == mode(tmp_path / "new") == given


def test_a_private_file_is_private_from_its_first_byte_on(tmp_path: Path) -> None:
    with whole_file(tmp_path / "key", must_be_new=True, mode=0o600) as written:
        assert os.fstat(written.fileno()).st_mode & 0o777 == 0o600
        written.write(NEW)


# Failures


def test_a_block_that_raises_leaves_the_file_as_it_was(file: Path) -> None:
    with pytest.raises(KeyError), whole_file(file) as written:
        written.write(NEW)
        raise KeyError
    assert file.read_bytes() == OLD and names(file.parent) == ["file"]


def test_a_check_before_the_rename_can_refuse_it(file: Path) -> None:
    def refuse() -> None:
        assert file.read_bytes() == OLD
        raise ValueError("another process was faster")

    with pytest.raises(ValueError, match="another process"):
        write_whole(file, NEW, before_rename=refuse)
    assert file.read_bytes() == OLD and names(file.parent) == ["file"]


def test_of_two_writers_of_a_new_file_the_first_wins(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with (
        pytest.raises(FileExistsError),
        whole_file(path, must_be_new=True) as second,
    ):
        write_whole(path, OLD, must_be_new=True)
        second.write(NEW)
    assert path.read_bytes() == OLD and names(tmp_path) == ["file"]


@pytest.mark.parametrize("bad", ["missing/file", "file/below", "\0"])
def test_a_path_that_cannot_be_written_is_an_error_and_leaves_nothing(file: Path, bad: str) -> None:
    with pytest.raises((OSError, ValueError)):
        write_whole(file.parent / bad, NEW)
    assert file.read_bytes() == OLD and names(file.parent) == ["file"]


def test_data_is_on_disk_before_the_name_and_the_name_if_asked(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut the name leads to the old content or the new, never to an empty file."""
    order: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        order.append("folder" if path == file.parent else "data")
        real_sync(handle)

    def replace(self: Path, target: Path) -> Path:
        order.append("rename")
        assert self.read_bytes() == NEW
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    write_whole(file, NEW)
    assert order == ["data", "rename"]
    order.clear()
    write_whole(file, NEW, durable=True)
    assert order == ["data", "rename", "folder"]


WRITER = f"""
import os, resource, signal, sys
from pathlib import Path
from dos.machine.filesystem import whole_file, write_whole
path, how = Path(sys.argv[1]), sys.argv[2]
if how == "in the block":
    with whole_file(path) as file:
        file.write({NEW!r})
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
if how == "before the rename":
    write_whole(path, {NEW!r}, before_rename=lambda: os.kill(os.getpid(), signal.SIGKILL))
if how == "no room":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))
    try:
        write_whole(path, {NEW!r})
    except OSError as error:
        sys.exit(error.errno)
"""


def run_writer(file: Path, how: str) -> int:
    return subprocess.run([sys.executable, "-c", WRITER, str(file), how]).returncode


@pytest.mark.parametrize("moment", ["in the block", "before the rename"])
def test_a_process_that_is_killed_leaves_the_old_file(file: Path, moment: str) -> None:
    assert run_writer(file, moment) == -signal.SIGKILL
    assert file.read_bytes() == OLD
    write_whole(file, NEW)
    assert file.read_bytes() == NEW, "what the dead process left is not in the way"


def test_a_full_disk_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    assert run_writer(file, "no room") > 0
    assert file.read_bytes() == OLD and names(file.parent) == ["file"]


def test_every_write_that_replaces_a_file_goes_through_here() -> None:
    """Other modules that rename a file over another have a reason of their own."""
    source = Path(filesystem.__file__).parents[1]
    users = set()
    for path in source.rglob("*.py"):
        if 'with_name(f".{' in path.read_text(encoding="utf-8"):
            users.add(path.relative_to(source).as_posix())
    assert users == {"machine/filesystem.py"}
