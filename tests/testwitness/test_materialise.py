"""A commit's files, byte for byte, in a folder of their own.

Nothing is written through a link, nothing runs.
"""

import os
import stat
import zlib

import pytest
from toy_repository import Toy

from dos.errors import DosError, GitFailed
from dos.git.objects import Objects, TreeEntry
from dos.git.repository import Writer
from dos.testwitness.io import sandbox

MOMENT = 1_000_000_000


@pytest.fixture
def toy(tmp_path):
    return Toy(tmp_path / "toy")


def listed(git):
    with Objects(git) as objects:
        return dict(objects.files(objects.commit("HEAD").tree))


def written(toy, tmp_path):
    git, root = Writer(toy.root), tmp_path / "tree"
    sandbox.write_files(git, listed(git), root, MOMENT)
    return root


def test_names_contents_modes_and_links_are_as_they_were_committed(toy, tmp_path):
    names = [
        "a",
        "dir/ü",
        "tab\tname",
        "line\nname",
        "return\rname",
        " ",
        "-x",
        "deep/er/still",
        "quote'\"`$(x)",
    ]
    for number, name in enumerate(names):
        (toy.root / name).parent.mkdir(parents=True, exist_ok=True)
        (toy.root / name).write_bytes(b"\r\n\0" + bytes([number]) * (number * 300_000))
    not_text = os.fsencode(toy.root) + b"/not\xff text"
    with open(not_text, "wb") as file:
        file.write(b"x")
    (toy.root / "a").chmod(0o755)
    (toy.root / "outside").symlink_to("/etc")
    (toy.root / "nowhere").symlink_to("../../nosuch")
    (toy.root / "link\nto").symlink_to("dir/ü")
    toy.commit({})
    root = written(toy, tmp_path)
    for name in names:
        assert (root / name).read_bytes() == (toy.root / name).read_bytes()
    assert os.path.exists(os.fsencode(root) + b"/not\xff text")
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o755
    assert stat.S_IMODE((root / "dir/ü").stat().st_mode) == 0o644
    assert [os.readlink(root / name) for name in ("outside", "nowhere", "link\nto")] == [
        "/etc", "../../nosuch", "dir/ü",
    ]  # fmt: skip
    assert not (root / ".git").exists()
    times = {path.lstat().st_mtime for path in [root, *root.rglob("*")]}
    assert times == {MOMENT}


def test_neither_attributes_nor_filters_have_a_say(toy, tmp_path):
    toy.git("config", "filter.evil.smudge", f"touch {tmp_path}/ran; cat")
    toy.git("config", "filter.evil.clean", "cat")
    toy.commit({
        ".gitattributes": "a filter=evil text eol=crlf ident\nb export-ignore\nc export-subst\n",
        "a": "$Id$\n", "b": "kept\n", "c": "$Format:%H$\n",
    })  # fmt: skip
    (tmp_path / "ran").unlink(missing_ok=True)
    root = written(toy, tmp_path)
    assert (root / "a").read_bytes() == b"$Id$\n" and (root / "c").read_bytes() == b"$Format:%H$\n"
    assert (root / "b").exists() and not (tmp_path / "ran").exists()


def test_a_submodule_is_an_empty_folder(toy, tmp_path):
    sha = toy.commit({"a": "x\n"})
    toy.git("update-index", "--add", "--cacheinfo", f"160000,{sha},sub/module")
    toy.git("commit", "--quiet", "--message", "submodule")
    assert list((written(toy, tmp_path) / "sub/module").iterdir()) == []


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_a_name_that_no_checkout_may_write_is_refused(toy, tmp_path, name):
    toy.commit({"a": "x\n"})
    git = Writer(toy.root)
    blob = toy.git("rev-parse", "HEAD:a")
    for path in (name, f"{name}/x", f"sub/{name}/x", f"sub/{name}"):
        with pytest.raises(GitFailed, match="no checkout may write"):
            sandbox.write_files(git, {path: TreeEntry(0o100644, blob)}, tmp_path / "tree", MOMENT)
        sandbox.remove_tree(tmp_path / "tree")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy"]


@pytest.mark.parametrize("path", ["/etc/dos-was-here", "a//b", ""])
def test_a_path_that_leads_elsewhere_is_refused(toy, tmp_path, path):
    toy.commit({"a": "x\n"})
    with pytest.raises(GitFailed, match="no checkout may write"):
        sandbox.write_files(
            Writer(toy.root), {path: TreeEntry(0o100644, "0" * 40)}, tmp_path / "tree", MOMENT
        )


@pytest.mark.parametrize("order", ["link first", "file first"])
def test_nothing_is_written_through_a_link(toy, tmp_path, order):
    (tmp_path / "target").mkdir()
    toy.commit({"a": "x\n"})
    link = toy.git("hash-object", "-w", "--stdin", feed=str(tmp_path / "target").encode())
    entries = [
        ("sub", TreeEntry(0o120000, link)),
        ("sub/a", TreeEntry(0o100644, toy.git("rev-parse", "HEAD:a"))),
    ]
    files = dict(entries if order == "link first" else entries[::-1])
    with pytest.raises(DosError, match="cannot be written"):
        sandbox.write_files(Writer(toy.root), files, tmp_path / "tree", MOMENT)
    assert list((tmp_path / "target").iterdir()) == []


def test_an_object_that_is_not_what_its_name_says_is_refused(toy, tmp_path):
    toy.commit({"a": "right\n"})
    blob = toy.git("rev-parse", "HEAD:a")
    loose = toy.root / ".git" / "objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(zlib.compress(b"blob 6\0wrong\n"))
    with pytest.raises(GitFailed, match=r"not what its name says|cannot be read"):
        written(toy, tmp_path)
    loose.unlink()
    sandbox.remove_tree(tmp_path / "tree")
    with pytest.raises(GitFailed, match="it is not there"):
        written(toy, tmp_path)


def test_files_that_cannot_be_listed_are_never_taken_for_none(toy):
    toy.commit({"sub/a": "x\n"})
    tree = toy.git("rev-parse", "HEAD:sub")
    (toy.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(GitFailed, match="is not here"):
        listed(Writer(toy.root))


def test_a_disk_without_room_is_said(toy, tmp_path, monkeypatch):
    toy.commit({"a": "x\n"})

    def full(*words, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sandbox.os, "fchmod", full)
    with pytest.raises(DosError, match="No space left") as raised:
        written(toy, tmp_path)
    assert "TMPDIR" in raised.value.hint


def test_what_was_closed_is_removed_all_the_same(tmp_path):
    folder = tmp_path / "place"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    (folder / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "kept").mkdir(mode=0o500)
    (folder / "a" / "b").chmod(0)
    (folder / "a").chmod(0o500)
    sandbox.remove_tree(folder)
    assert not folder.exists() and stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o500
