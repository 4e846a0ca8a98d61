"""The index of a history: made once, followed by what changed, made anew when it is not to be
trusted."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dos.errors import GitFailed
from dos.git import files, log, message_index
from dos.git.repository import Writer
from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.verify.message import Message, words
from dos.verify.naming import UnitName
from dos.workspace import find as workspace
from dos.world import World

UNIT = ("AUTH", "AUTH1")
NEEDLES = UnitName(*UNIT).needles()
SAFE = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.fsync=none")


def git(root, *arguments, feed=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = subprocess.run(
        ["git", *SAFE, *arguments], cwd=root, input=feed, capture_output=True, env=kept | own
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.decode().strip()


def grow(root, messages, *, branch="main", begin="", start=1_700_000_000):
    """Commits on a branch, a minute apart, each with a file of its own; the name of the last."""
    parts = []
    for number, message in enumerate(messages):
        text = message if isinstance(message, bytes) else message.encode()
        head = (
            f"commit refs/heads/{branch}\ncommitter A <a@b> {start + 60 * number} +0000\n"
            f"data {len(text)}\n"
        )
        link = f"from {begin}\n" if begin and not number else ""
        own = f"value_{start}_{number} = {number}\n"
        file = (
            f"M 644 inline src/{branch}{start}/{number // 100}/{number}.py\ndata {len(own)}\n{own}"
        )
        parts.append(head.encode() + text + f"\n{link}{file}\n".encode())
    git(root, "-c", "fastimport.unpackLimit=100", "fast-import", "--quiet", feed=b"".join(parts))
    return git(root, "rev-parse", f"refs/heads/{branch}")


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "work"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(path))
    return path


@pytest.fixture
def base(tmp_path):
    return tmp_path / "index" / "history.sqlite"


def found(root, tip, path, **more):
    return message_index.find(Writer(root), tip, [NEEDLES], path, **more)[0]


def plain(root, tip):
    """What the history itself says."""
    return found(root, tip, None)


def tip_of(path):
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute("SELECT value FROM about WHERE key = 'tip'").fetchone()[0]


@pytest.fixture
def asked(monkeypatch):
    """The ranges that are read from git."""
    ranges = []
    for name in ("records", "records_at_once"):

        def read(git, *words, real=getattr(log, name)):
            ranges.append(words)
            return real(git, *words)

        monkeypatch.setattr(log, name, read)
    return ranges


def test_the_first_question_makes_it(root, base, asked):
    tip = grow(root, ["begin", "AUTH1: do it", "more"])
    assert found(root, tip, base) == plain(root, tip) == [git(root, "rev-parse", "main^")]
    assert tip_of(base) == tip
    assert len(asked) == 2


def test_the_same_question_reads_nothing_more(root, base, asked):
    tip = grow(root, ["begin", "AUTH1: do it", "more"])
    found(root, tip, base)
    asked.clear()
    assert len(found(root, tip, base)) == 1
    assert asked == []


def test_new_commits_alone_are_read(root, base, asked):
    old = grow(root, ["begin", "AUTH1: do it", "more"])
    found(root, old, base)
    new = grow(root, ["and more", "AUTH1: do it again"], begin=old, start=1_800_000_000)
    asked.clear()
    assert len(found(root, new, base)) == 2
    assert asked == [("--reverse", new, f"^{old}")]
    assert tip_of(base) == new


def test_old_commits_do_not_have_to_be_readable_to_follow(root, base):
    old = grow(root, ["begin", *(f"part {number}" for number in range(9))])
    found(root, old, base)
    first = git(root, "rev-list", "--max-parents=0", "main")
    new = grow(root, ["more", "AUTH1: do it"], begin=old, start=1_800_000_000)
    (root / ".git/objects" / first[:2] / first[2:]).unlink()
    with pytest.raises(GitFailed):
        plain(root, new)
    assert found(root, new, base) == [new]


def test_a_side_branch_is_looked_at_without_following_it(root, base, asked):
    main = grow(root, ["begin", "AUTH1: do it", "more"])
    side = grow(root, ["AUTH1: do it", "x"], branch="side", begin="main^^", start=1_800_000_000)
    assert found(root, main, base) == plain(root, main)
    asked.clear()
    assert found(root, side, base) == [git(root, "rev-parse", "side^")]
    assert asked == [(side, f"^{main}")]
    assert tip_of(base) == main


def test_a_branch_far_away_is_followed_there_and_back(root, base, monkeypatch):
    monkeypatch.setattr(message_index, "_MANY", 2)
    main = grow(root, ["begin", "AUTH1: do it", "more", "AUTH1: again"])
    side = grow(
        root, ["x", "AUTH1: do it", "y"], branch="side", begin="main~3", start=1_800_000_000
    )
    for tip in (main, side, main, side, git(root, "rev-parse", "main^"), main):
        there = git(root, "rev-list", tip).split()
        assert (
            set(plain(root, tip)) <= set(found(root, tip, base)) <= set(there)
        )  # it may point at more, never at less
        assert tip_of(base) == tip


def test_a_tip_that_is_gone_is_no_matter(root, base):
    tip = grow(root, ["begin", "AUTH1: do it"])
    gone = grow(root, ["AUTH1: lost", "x"], branch="side", begin="main", start=1_800_000_000)
    found(root, gone, base)
    git(root, "branch", "-D", "side")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "--quiet", "--prune=now")
    assert Writer(root).commit_of(gone) is None
    assert found(root, tip, base) == [tip]
    assert tip_of(base) == tip


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def old_format(path):
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("UPDATE about SET value = '0 ()' WHERE key = 'format'")
        opened.commit()


def other_tables(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("CREATE TABLE about (something TEXT)")
        opened.execute("CREATE TABLE mine (something TEXT)")


def of_another_repository(path):
    other = path.parent / "other"
    git(path.parent, "init", "--quiet", "--initial-branch=main", str(other))
    tip = grow(other, ["begin", "nothing", "AUTH1: elsewhere"], start=1_600_000_000)
    path.unlink()
    message_index.find(Writer(other), tip, [NEEDLES], path)


def without_words(path):
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("DROP TABLE words")
        opened.commit()


DAMAGE = {
    "cut off": cut,
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"garbage" * 3000),
    "zeros in the middle": lambda path: path.write_bytes(path.read_bytes()[:4096] + bytes(8192)),
    "another format": old_format,
    "another program's": other_tables,
    "another repository's": of_another_repository,
    "a table is missing": without_words,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_one_changes_no_answer(root, base, damage):
    tip = grow(root, ["begin", "AUTH1: do it", "more"])
    expected = plain(root, tip)
    found(root, tip, base)
    for suffix in ("-wal", "-shm"):
        base.with_name(base.name + suffix).unlink(missing_ok=True)
    DAMAGE[damage](base)
    assert found(root, tip, base) == expected
    assert found(root, tip, base) == expected
    if damage not in ("a folder", "a table is missing"):
        assert tip_of(base) == tip


def test_other_bundles_make_it_anew(root, base):
    tip = grow(root, ["begin", "docs/OPS: list\n\nAUTH1 is in it.\n\nThe end."])
    assert found(root, tip, base) == []
    assert found(root, tip, base, bundles=("docs/OPS:",)) == [tip]


def test_a_place_that_cannot_be_written_is_no_matter(root, tmp_path):
    tip = grow(root, ["begin", "AUTH1: do it"])
    (tmp_path / "file").write_text("in the way")
    assert found(root, tip, tmp_path / "file" / "history.sqlite") == [tip]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_no_matter(root, base):
    tip = grow(root, ["begin", "AUTH1: do it"])
    base.parent.mkdir()
    base.parent.chmod(0o500)
    assert found(root, tip, base) == [tip]


def test_a_file_that_somebody_holds_is_no_matter(root, base, monkeypatch):
    monkeypatch.setattr(message_index, "_BUSY_SECONDS", 0.1)
    old = grow(root, ["begin", "AUTH1: do it"])
    found(root, old, base)
    with closing(sqlite3.connect(base)) as opened:
        opened.execute("PRAGMA journal_mode=DELETE")
    new = grow(root, ["AUTH1: again"], begin=old, start=1_800_000_000)
    with closing(sqlite3.connect(base)) as holder:
        holder.execute("BEGIN EXCLUSIVE")  # for as long as the question takes
        assert found(root, new, base) == [old, new]


# Real processes, and their ends.

BUILD = """
import sys
from pathlib import Path
from dos.git.repository import Reader
from dos.git import message_index
from dos.verify.naming import UnitName
message_index._AT_ONCE = 500
root, tip, path, mode = sys.argv[1:]
def progress(count):
    if mode == "wait":
        print("half way", flush=True)
        sys.stdin.read()
needles = UnitName("AUTH", "AUTH1").needles()
print(message_index.find(Reader(Path(root)), tip, [needles], Path(path), progress=progress)[0])
"""


def build(root, tip, path, mode="go"):
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(root), tip, str(path), mode],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    root = tmp_path_factory.mktemp("long")
    git(root, "init", "--quiet", "--initial-branch=main")
    texts = [
        "AUTH1: do it" if number == 2_000 else f"PART{number % 9}: part {number}"
        for number in range(5_600)
    ]
    tip = grow(root, texts)
    return root, tip, plain(root, tip)


@pytest.mark.soak
def test_many_processes_make_it_at_once(long, base):
    root, tip, expected = long
    processes = [build(root, tip, base) for _ in range(4)]
    assert [process.communicate()[0].strip() for process in processes] == [str(expected)] * 4
    assert [process.returncode for process in processes] == [0] * 4
    assert tip_of(base) == tip
    assert found(root, tip, base) == expected


@pytest.mark.soak
def test_one_that_was_killed_while_it_made_it_is_no_matter(long, base):
    root, tip, expected = long
    for _ in range(2):
        process = build(root, tip, base, "wait")
        assert process.stdout.readline() == "half way\n"
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert found(root, tip, base) == expected
    assert tip_of(base) == tip


def test_while_one_makes_it_another_answers_without(long, base, monkeypatch):
    monkeypatch.setattr(message_index, "_BUSY_SECONDS", 0.1)
    root, tip, expected = long
    process = build(root, tip, base, "wait")
    assert process.stdout.readline() == "half way\n"
    assert found(root, tip, base) == expected
    assert process.communicate("")[0].strip() == str(expected)


# The places that it is used from.


def answers(root, *, uses_index=True, unit=UNIT):
    verdict = verifier.verify(World(root), [unit], Ask(uses_index=uses_index))[0]
    return verdict.answer.value, verdict.sha


def test_work_trees_on_other_branches_share_it(root, tmp_path):
    grow(root, ["begin", "AUTH1: do it", "more"])
    grow(
        root, ["x", "AUTH1: do it differently"], branch="side", begin="main^^", start=1_800_000_000
    )
    grow(root, ["y"], branch="bare", begin="main^^", start=1_800_000_000)
    git(root, "reset", "--hard", "--quiet")
    (root / ".git/dos").mkdir()
    places = [root]
    for branch in ("side", "bare"):
        git(root, "worktree", "add", "--quiet", str(tmp_path / branch), branch)
        places.append(tmp_path / branch)
    for at in (*places, *reversed(places)):
        assert answers(at) == answers(at, uses_index=False)
    assert {answers(at)[0] for at in places} == {"SHIPPED", "NOT_SHIPPED"}
    assert [path.name for path in (root / ".git/dos").glob("*.sqlite")] == ["history.sqlite"]


def test_who_is_newest_does_not_depend_on_when_it_was_read(root):
    """Both ships stand; the branch with the older one is merged after the other was indexed."""
    begun = grow(root, ["begin"])
    grow(root, ["AUTH1: on the side"], branch="side", begin=begun, start=1_700_001_000)
    newest = grow(root, ["AUTH1: on main"], begin=begun, start=1_700_002_000)
    git(root, "reset", "--hard", "--quiet")
    (root / ".git/dos").mkdir()
    assert answers(root) == ("SHIPPED", newest)
    git(root, "merge", "--quiet", "-m", "Merge it", "side")
    assert answers(root, uses_index=False) == ("SHIPPED", newest)
    assert answers(root) == ("SHIPPED", newest)


def test_longer_hashes_are_kept_whole(tmp_path):
    completed = subprocess.run(
        [
            "git",
            "init",
            "--quiet",
            "--object-format=sha256",
            "--initial-branch=main",
            str(tmp_path / "work"),
        ],
        capture_output=True,
    )
    if completed.returncode != 0:
        pytest.skip("this git has no repositories with sha256")
    tip = grow(tmp_path / "work", ["begin", "AUTH1: do it"])
    assert len(tip) == 64
    git(tmp_path / "work", "reset", "--hard", "--quiet")
    (tmp_path / "work/.git/dos").mkdir()
    for _ in range(2):
        assert answers(tmp_path / "work") == ("SHIPPED", tip)


@pytest.mark.parametrize(
    ("written", "looked_for"),
    [
        ("STRASSE9: x", "straße9"), ("Straße9: x", "STRASSE9"), ("ÉTÉ1: x", "été1"),
        ("ΣΊΣΥΦΟΣ1: x", "σίσυφος1"), ("任务1: x", "任务1"), ("İ1: x", "i̇1"), ("ﬁ1: x", "FI1"),
        ("K1: x", "k1"), ("x\n\nUnit: ÜBER/ÜBER1", "über1"),
    ],
)  # fmt: skip
def test_words_are_found_in_any_case(root, base, written, looked_for):
    tip = grow(root, ["begin", written])
    assert message_index.find(Writer(root), tip, [[words(looked_for)]], base) == [[tip]]
    assert message_index.find(Writer(root), tip, [[words(looked_for)]], None) == [[tip]]


def test_messages_in_no_encoding_are_found(root, base):
    tip = grow(root, ["begin", b"AUTH1: \xff\xfe \xe9t\xe9", b"\xff\xff"])
    assert found(root, tip, base) == plain(root, tip) == [git(root, "rev-parse", "main^")]


def test_every_naming_is_found_by_the_words_that_are_kept():
    message = "x\n\nfar from the end\n\n  * AUTH1: do it\n\nUnit: AUTH/AUTH1\n"
    assert UnitName(*UNIT).find_in(Message.parse(message)) is not None
    assert any(needle <= message_index.indexed_words(message) for needle in NEEDLES)


def run(root, *words_, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "dos", "verify", *UNIT, *words_],
        cwd=root, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("setup", ["dos.toml", ".git/dos"])
def test_in_a_workspace_it_lies_in_the_state_directory(root, tmp_path, setup):
    grow(root, ["begin", "AUTH1: do it"])
    git(root, "reset", "--hard", "--quiet")
    (root / setup).mkdir() if setup == ".git/dos" else (root / setup).touch()
    run(root, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (root / ".git/dos/history.sqlite").is_file()
    assert not (tmp_path / "cache").exists()


def test_elsewhere_it_lies_in_the_cache(root, tmp_path):
    tip = grow(root, ["begin", "AUTH1: do it"])
    git(root, "reset", "--hard", "--quiet")
    run(root, XDG_CACHE_HOME=str(tmp_path / "cache"))
    (made,) = (tmp_path / "cache").rglob("*.sqlite")
    assert tip_of(made) == tip
    assert not (root / ".git/dos").exists()


def test_without_a_cache_there_is_none(root, tmp_path, monkeypatch):
    grow(root, ["begin", "AUTH1: do it"])
    git(root, "reset", "--hard", "--quiet")
    before = sorted(tmp_path.rglob("*"))
    run(root, XDG_CACHE_HOME="relative")
    (tmp_path / "file").touch()
    run(root, XDG_CACHE_HOME=str(tmp_path / "file"))
    (tmp_path / "file").unlink()
    assert sorted(tmp_path.rglob("*")) == before
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert files.message_index_path(workspace(root)) is None


@pytest.mark.parametrize("setup", ["", "dos.toml", ".git/dos"])
def test_without_an_index_nothing_is_written(root, tmp_path, setup):
    grow(root, ["begin", "AUTH1: do it"])
    git(root, "reset", "--hard", "--quiet")
    if setup:
        (root / setup).mkdir() if setup == ".git/dos" else (root / setup).touch()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    run(root, "--no-index", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_workspace_whose_state_directory_is_in_the_way_still_answers(root):
    grow(root, ["begin", "AUTH1: do it"])
    git(root, "reset", "--hard", "--quiet")
    (root / "dos.toml").touch()
    (root / ".git/dos").write_text("a file")
    run(root)


def test_one_of_a_repository_that_was_moved_away_is_not_believed(root, tmp_path):
    """Another repository at the place of one that was asked before, with the same cache."""
    grow(root, ["begin", "AUTH1: do it"])
    git(root, "reset", "--hard", "--quiet")
    assert answers(root)[0] == "SHIPPED"
    shutil.rmtree(root)
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(root))
    grow(root, ["begin", "nothing"], start=1_600_000_000)
    git(root, "reset", "--hard", "--quiet")
    assert answers(Path(root)) == ("NOT_SHIPPED", "")
