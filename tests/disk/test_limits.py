"""The limits refuse what they say they refuse, to a child process, and are gone afterwards."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from disk.limits import Limited, file_size_limit, full_disk, read_only

FILL = """
import os, sys
file = os.open(sys.argv[1] + "/ballast", os.O_WRONLY | os.O_CREAT)
written = 0
try:
    while written < 8 << 20:
        written += os.write(file, b"x" * 65536)
except OSError as error:
    print(error.errno, written)
"""

TOUCH = """
import os, sys
new, old = sys.argv[1] + "/new", sys.argv[1] + "/old"
for path, flags in ((new, os.O_CREAT | os.O_WRONLY), (old, os.O_WRONLY)):
    try:
        os.close(os.open(path, flags))
        print("allowed")
    except OSError as error:
        print(error.errno)
print(open(sys.argv[1] + "/old").read())
"""


def said(limited: Limited, program: str) -> list[str]:
    argv = limited.command([sys.executable, "-c", program, str(limited.directory)])
    return subprocess.run(
        argv, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout.split()


def test_a_full_disk_has_room_for_just_so_much() -> None:
    with full_disk(1 << 20) as small:
        code, written = map(int, said(small, FILL))
        assert code == {"tmpfs": errno.ENOSPC, "file size": errno.EFBIG}[small.how]
        assert 0 < written <= 1 << 20
        assert (small.directory / "ballast").stat().st_size == written
    assert not small.directory.exists()


def test_room_that_is_made_on_a_full_disk_can_be_used_again() -> None:
    with full_disk() as small:
        first = said(small, FILL)
        (small.directory / "ballast").unlink()
        assert said(small, FILL) == first


def test_a_full_disk_is_had_without_a_mount_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with full_disk(100_000) as small:
        assert small.how == "file size"
        assert said(small, FILL) == [str(errno.EFBIG), "100000"]
    assert not small.directory.exists()


def test_a_file_grows_to_its_limit_and_no_further(tmp_path: Path) -> None:
    assert said(file_size_limit(tmp_path, 70_000), FILL) == [str(errno.EFBIG), "70000"]


def test_a_read_only_directory_can_be_read_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("kept")
    before = [path.stat().st_mode for path in (tmp_path, tmp_path / "old")]
    with read_only(tmp_path) as limited:
        assert said(limited, TOUCH) == [str(errno.EACCES), str(errno.EACCES), "kept"]
    assert [path.stat().st_mode for path in (tmp_path, tmp_path / "old")] == before
    assert said(Limited(directory=tmp_path, how="permissions"), TOUCH) == [
        "allowed",
        "allowed",
        "kept",
    ]
