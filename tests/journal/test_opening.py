"""Which store a URL names, and where SQLite is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from dos.errors import BadInput, StoreUnreachable
from dos.journal.backends import open as opening
from dos.journal.backends.memory import MemoryBackend
from dos.journal.backends.open import open_store
from dos.journal.backends.sqlite import SqliteBackend
from dos.machine.filesystem import network_type_in_mounts

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:20 / /proc rw,nosuid - proc proc rw
30 22 0:30 / /home rw,relatime shared:9 master:2 - nfs4 server:/home rw,vers=4.2
31 30 8:17 / /home/ann/local rw - xfs /dev/sdb1 rw
32 22 0:31 / /mnt/with\\040blank rw - cifs //server/share rw
33 22 0:32 / /mnt/over rw - ext4 /dev/sdc1 rw
34 33 0:33 / /mnt/over rw - fuse.sshfs ann@host: rw
35 22 0:34 / /home2 rw - btrfs /dev/sdd rw
36 22 0:35 / /tab\\011new\\012line\\134back rw - 9p host rw
37 22 0:36 / /merged rw - overlay overlay rw,lowerdir=/a
a line that is not one
38 22 0:37 /
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/", None),
        ("/var/lib/state.db", None),
        ("/home", "nfs4"),
        ("/home/ann/repo/.git/dos/state.db", "nfs4"),
        ("/home/ann/local/repo/state.db", None),
        ("/home/ann/locally/state.db", "nfs4"),
        ("/home2/state.db", None),
        ("/mnt/with blank/x", "cifs"),
        ("/mnt/over/x", "fuse.sshfs"),
        ("/tab\tnew\nline\\back/x", "9p"),
        ("/merged/x", None),
    ],
)
def test_a_path_belongs_to_the_deepest_and_latest_mount_above_it(path, found):
    assert network_type_in_mounts(Path(path), MOUNTS) == found


@pytest.mark.parametrize(
    "kind",
    ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs", "lustre", "ceph", "glusterfs"],
)
def test_network_file_systems_are_known(kind):
    assert network_type_in_mounts(Path("/x/y"), f"1 1 0:1 / /x rw - {kind} source rw") == kind


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuse.encfs", "virtiofs"]
)
def test_local_file_systems_are_let_through(kind):
    assert network_type_in_mounts(Path("/x/y"), f"1 1 0:1 / /x rw - {kind} source rw") is None


@pytest.mark.skipif(sys.platform != "linux", reason="mounts are read from /proc")
def test_sqlite_on_a_network_file_system_is_refused_before_anything_is_made(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    mounted = f"1 1 0:1 / / rw - ext4 x rw\n2 1 0:2 / {tmp_path}/real rw - nfs server:/ rw\n"
    monkeypatch.setattr(opening, "_mounts", lambda: mounted)
    for state in (tmp_path / "real" / "state", tmp_path / "link"):
        with pytest.raises(StoreUnreachable, match=r"network file system \(nfs\)") as caught:
            open_store("", state_directory=state, workspace_id="")
        assert "postgresql://" in caught.value.hint
    assert not (tmp_path / "real").exists()
    open_store("sqlite:ok.db", state_directory=tmp_path / "elsewhere", workspace_id="").close()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("", "state.db"),
        ("sqlite:other.db", "other.db"),
        ("sqlite:deep/x.db", "deep/x.db"),
        ("sqlite:./y.db", "y.db"),
    ],
)
def test_a_relative_file_lies_in_the_state_directory(tmp_path, url, name):
    with open_store(url, state_directory=tmp_path, workspace_id="", actor="me") as store:
        assert store.append("a", "k", {}).actor == "me"
        assert isinstance(store.backend, SqliteBackend)
    assert (tmp_path / name).exists()


@pytest.mark.parametrize("slashes", ["", "//"])
def test_an_absolute_file_lies_where_it_says(tmp_path, slashes):
    path = tmp_path / "a b" / "x.db"
    open_store(f"sqlite:{slashes}{path}", state_directory=Path("/nowhere"), workspace_id="").close()
    assert path.exists()


def test_memory_is_a_journal_of_this_process(tmp_path):
    with open_store("memory:", state_directory=tmp_path, workspace_id="") as store:
        assert isinstance(store.backend, MemoryBackend)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:s3cret@h/d",
        "postgresql:db",
        "postgres",
        "sqlite:",
        "sqlite",
        "memory",
        "memory:x",
        "/path/x.db",
        ":",
        "x",
    ],
)
def test_an_unknown_url_is_refused_with_the_known_ones_and_without_its_password(tmp_path, url):
    with pytest.raises(BadInput) as caught:
        open_store(url, state_directory=tmp_path, workspace_id="")
    for known in ("postgresql://", "sqlite:", "memory:"):
        assert known in caught.value.hint
    assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_store_is_loaded_before_one_is_opened():
    code = (
        "import sys, dos.journal.backends.open\n"
        "print([name for name in ('sqlite3', 'psycopg', 'dos.journal.backends.memory') if "
        "name in sys.modules])"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert completed.stdout == "[]\n"
