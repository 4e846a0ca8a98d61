"""What a hostile lane can send is refused, in bounded time and memory, and leaves no trace."""

import os
import shutil
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from lane_repository import (
    OFFSET_DELTA,
    SMALL,
    Lanes,
    Repository,
    commit_content,
    copying_delta,
    entry,
    object_id,
    offset_of_delta,
    pack,
    pack_command,
    pack_header,
    tree_content,
)
from msgspec import structs

from dos.handover.io.receive import Received
from dos.handover.refusal import Refused, Rule

LONGEST_SECONDS = 60.0  # on a busy machine; the limit of each hand-over is lower


@pytest.fixture
def lanes(tmp_path) -> Lanes:
    return Lanes(tmp_path)


# HEAD


@pytest.mark.parametrize("head", ["main", "--all", "HEAD", "0" * 39])
def test_a_wanted_commit_that_is_no_id_starts_no_git(lanes, head):
    assert lanes.send(["true"], head).rule == Rule.CLAIM


# The sender


@pytest.mark.parametrize("ending", ["exit 1", "kill -9 $$", "exit 128"])
def test_a_git_of_the_lane_that_fails_hands_nothing_over(lanes, ending):
    """It may have sent a valid pack of nothing, and HEAD may be the base."""
    before = lanes.stored()
    (lanes.home / "empty").write_bytes(pack([]))
    for head in (lanes.base, lanes.lane.commit(a="1\n")):
        answer = lanes.send(["sh", "-c", f"cat {lanes.home}/empty; {ending}"], head)
        refusal = lanes.assert_refused(answer, before)
        assert refusal.rule == Rule.SENDER and refusal.retryable


def test_a_lane_whose_history_has_a_hole_cannot_be_sent(lanes):
    lanes.lane.commit(a="1\n")
    lanes.lane.commit(a="2\n")
    blob = lanes.lane.git("rev-parse", "HEAD~1:a")
    (lanes.lane.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert lanes.refused().rule == Rule.SENDER


def test_a_sender_that_never_ends_is_refused_in_time(lanes):
    head = lanes.lane.commit(a="1\n")
    before = lanes.stored()
    limits = structs.replace(SMALL, seconds=1.0)
    for script in ("sleep 1000", f"cat {packed(lanes, head)}; exec sleep 1000"):
        began = time.monotonic()
        answer = lanes.send(["sh", "-c", script], head, (), limits)
        lanes.assert_refused(answer, before)
        assert time.monotonic() - began < LONGEST_SECONDS


def test_a_pack_without_end_is_refused_at_its_limit(lanes):
    """Random files one after the other, as many as git has memory for."""
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from lane_repository import entry
out = sys.stdout.buffer
out.write(b"PACK" + (2).to_bytes(4, "big") + (2**20).to_bytes(4, "big"))
while True:
    out.write(entry("blob", os.urandom(500_000)))
"""
    before = lanes.stored()
    limits = structs.replace(SMALL, pack_bytes=3_000_000)
    answer = lanes.send([sys.executable, "-c", program], lanes.base, (), limits)
    refusal = lanes.assert_refused(answer, before)
    assert refusal.rule == Rule.LIMIT and not refusal.retryable, refusal


@pytest.mark.parametrize("count", [2**24, 2**30, 2**32 - 1])
def test_a_pack_that_announces_more_objects_than_fit_is_refused(lanes, count):
    refusal = refused_bytes(lanes, pack([entry("blob", b"x")], count=count))
    assert refusal.rule in (Rule.LIMIT, Rule.PACK) and not refusal.retryable


# The pack


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a pack at all, but some text\n" * 100,
        b"PACK",
        os.urandom(10_000),
        b"\0" * 100_000,
        b"PACK\0\0\0\x02\0\0\0\x01" + b"\xff" * 100,
    ],
    ids=["nothing", "text", "beginning", "random", "zeros", "bad entry"],
)
def test_what_is_no_pack_is_refused(lanes, data):
    refusal = refused_bytes(lanes, data)
    assert refusal.rule == Rule.PACK and not refusal.retryable


def test_a_pack_that_is_cut_off_anywhere_is_refused(lanes):
    head = lanes.lane.commit(**{"src/a.py": "1\n" * 100})
    data = packed(lanes, head).read_bytes()
    for length in (13, len(data) // 2, len(data) - 20, len(data) - 1):
        assert refused_bytes(lanes, data[:length], head).rule == Rule.PACK


def test_a_pack_with_a_changed_byte_is_refused(lanes):
    head = lanes.lane.commit(**{"src/a.py": "1\n" * 100})
    data = bytearray(packed(lanes, head).read_bytes())
    for at in range(5, len(data), len(data) // 6):
        data[at] ^= 1
        assert refused_bytes(lanes, bytes(data), head).rule in (Rule.PACK, Rule.LIMIT)
        data[at] ^= 1


def test_bytes_after_the_pack_are_refused(lanes):
    head = lanes.lane.commit(a="1\n")
    data = packed(lanes, head).read_bytes()
    for more in (b"x", b"x" * 100_000, data):
        assert refused_bytes(lanes, data + more, head).rule == Rule.PACK


def test_a_forged_index_in_the_lane_changes_nothing_of_what_is_taken(lanes):
    """Our git makes its own index; the lane's git that reads a forged one sends what it reads."""
    head = lanes.lane.commit(secret="honest\n")
    lanes.lane.git("repack", "-adq")
    [index] = (lanes.lane.root / ".git/objects/pack").glob("*.idx")
    index.chmod(0o644)
    data = bytearray(index.read_bytes())
    # Exchange the places of two objects, and make the checksum of the index fit.
    count = int.from_bytes(data[8 + 255 * 4 : 8 + 256 * 4], "big")
    at = 8 + 1024 + count * 24
    data[at : at + 4], data[at + 4 : at + 8] = data[at + 4 : at + 8], data[at : at + 4]
    import hashlib

    data[-20:] = hashlib.sha1(data[:-20]).digest()
    index.write_bytes(data)
    before = lanes.stored()
    answer = lanes.hand_over(head=head)
    lanes.assert_refused(answer, before)


def test_a_forged_object_of_the_lane_does_not_cross_under_its_old_name(lanes):
    head = lanes.lane.commit(a="honest\n")
    blob = lanes.lane.git("rev-parse", "HEAD:a")
    file = lanes.lane.root / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"blob 5\0EVIL\n"))
    refusal = lanes.refused(head=head)
    assert refusal.rule in (Rule.SENDER, Rule.PACK, Rule.INCOMPLETE)


def test_objects_that_a_lane_borrows_elsewhere_are_judged_like_all_others(lanes, tmp_path):
    """A lane can name another repository in its alternates, as it could copy its files: walls
    keep it from reading, not this. What crosses is complete and within the rules."""
    other = Repository(tmp_path / "other")
    other.commit(secret="s3cret\n")
    alternates = lanes.lane.root / ".git/objects/info/alternates"
    alternates.write_text(alternates.read_text() + f"{other.root}/.git/objects\n")
    tree = other.git("rev-parse", "HEAD^{tree}")
    head = lanes.lane.commit_tree(tree, lanes.base)
    assert lanes.take(head=head) == head
    assert lanes.user.git("show", f"{head}:secret") == "s3cret"
    blob = other.put("blob", b"/etc/passwd")
    bad = lanes.lane.commit_tree(other.tree(("120000", b"link", blob)), lanes.base)
    assert lanes.refused(head=bad).rule == Rule.LINK


def test_an_object_that_was_left_out_is_missed(lanes):
    blob = b"1\n"
    inner = tree_content([("100644", b"f", object_id("blob", blob))])
    outer = tree_content([("40000", b"d", object_id("tree", inner))])
    commit = commit_content(object_id("tree", outer), [lanes.base])
    contents = [("commit", commit), ("tree", outer), ("tree", inner), ("blob", blob)]
    head = object_id("commit", commit)
    for left_out in range(1, 4):
        some = [entry(*pair) for number, pair in enumerate(contents) if number != left_out]
        assert refused_bytes(lanes, pack(some), head).rule in (Rule.PACK, Rule.INCOMPLETE)
    assert refused_bytes(lanes, pack([]), head).rule == Rule.INCOMPLETE
    answer = lanes.send_bytes(pack([entry(*pair) for pair in contents]), head)
    assert isinstance(answer, Received), answer
    answer.close()


def test_an_object_that_the_user_has_without_all_below_it_is_no_base_for_work(lanes):
    """The pack is complete in itself; what it refers to in the repository has a hole."""
    inner = tree_content([("100644", b"gone", "1" * 40)])
    lanes.user.put("tree", inner)
    outer = tree_content([("40000", b"d", object_id("tree", inner))])
    commit = commit_content(object_id("tree", outer), [lanes.base])
    data = pack([entry("commit", commit), entry("tree", outer)])
    assert refused_bytes(lanes, data, object_id("commit", commit)).rule == Rule.INCOMPLETE
    older = lanes.user.put("commit", commit_content("2" * 40, ["3" * 40]))
    tree = lanes.user.git("rev-parse", "HEAD^{tree}")
    commit = commit_content(tree, [lanes.base, older])
    data = pack([entry("commit", commit)])
    assert refused_bytes(lanes, data, object_id("commit", commit)).rule == Rule.INCOMPLETE


def test_objects_that_no_commit_needs_are_refused(lanes):
    head = lanes.lane.commit(a="1\n")
    blob = lanes.lane.put("blob", b"smuggled")
    commit = lanes.lane.commit_tree(lanes.lane.git("rev-parse", "HEAD^{tree}"), lanes.base)
    tag = f"object {head}\ntype commit\ntag x\ntagger L <l@e.invalid> 1700000000 +0000\n\nx\n"
    for more in (blob, commit, lanes.lane.put("tag", tag.encode())):
        script = (
            f"(echo {head}; echo {more}; echo ^{lanes.base}) | git pack-objects --revs --stdout"
        )
        before = lanes.stored()
        refusal = lanes.assert_refused(lanes.send(["sh", "-c", script], head), before)
        assert refusal.rule == Rule.SURPLUS


# History


def test_work_that_does_not_contain_the_base_does_not_land(lanes):
    lanes.user.commit(newer="1\n")
    lanes.rebase_lane()
    tree = lanes.lane.git("rev-parse", "HEAD^{tree}")
    orphan = lanes.lane.commit_tree(tree)
    beside = lanes.lane.commit_tree(tree, lanes.user.git("rev-parse", "HEAD~1"))
    for head in (orphan, beside, lanes.user.git("rev-parse", "HEAD~1")):
        assert lanes.refused(head=head).rule == Rule.ANCESTRY


def test_a_graft_in_the_lane_does_not_make_an_orphan_a_descendant(lanes):
    orphan = lanes.lane.commit_tree(lanes.lane.git("rev-parse", "HEAD^{tree}"))
    (lanes.lane.root / ".git/info").mkdir(exist_ok=True)
    (lanes.lane.root / ".git/info/grafts").write_text(f"{orphan} {lanes.base}\n")
    assert lanes.refused(head=orphan).rule == Rule.ANCESTRY


def test_a_replacement_in_the_lane_does_not_cross(lanes):
    honest = lanes.lane.commit(a="1\n")
    evil = lanes.lane.commit_tree(lanes.lane.git("rev-parse", "HEAD^{tree}"))
    lanes.lane.git("update-ref", f"refs/replace/{honest}", evil)
    assert lanes.take(head=honest) == honest
    lanes.user.git("merge-base", "--is-ancestor", lanes.base, honest)


def test_an_octopus_is_refused(lanes):
    tree = lanes.lane.git("rev-parse", "HEAD^{tree}")
    sides = [lanes.lane.commit_tree(tree, lanes.base, lanes.base) for _ in range(2)]
    sides.append(lanes.lane.commit(a="1\n"))
    head = lanes.lane.commit_tree(tree, lanes.base, *sides)
    refusal = lanes.refused(head=head)
    assert refusal.rule == Rule.LIMIT and "parents" in refusal.reason


def test_a_million_parents_are_refused(lanes):
    tree = lanes.lane.git("rev-parse", "HEAD^{tree}")
    commit = commit_content(tree, [lanes.base] * 1_000_000)
    began = time.monotonic()
    refusal = refused_bytes(lanes, pack([entry("commit", commit)]), object_id("commit", commit))
    assert refusal.rule == Rule.LIMIT and time.monotonic() - began < LONGEST_SECONDS


def test_too_many_commits_are_refused(lanes):
    for number in range(4):
        lanes.lane.commit(str(number))
    refusal = lanes.refused(limits=structs.replace(SMALL, commits=3))
    assert refusal.rule == Rule.LIMIT and "commits" in refusal.reason


# Trees


def with_entry(lanes: Lanes, mode: str, name: bytes, content: bytes = b"x\n") -> str:
    """A commit on the base with one entry, whatever it is called."""
    lane = lanes.lane
    if mode == "160000":
        sha = "1" * 40
    elif mode == "40000":
        sha = lane.tree(("100644", b"f", lane.put("blob", content)))
    else:
        sha = lane.put("blob", content)
    return lane.commit_tree(lane.tree((mode, name, sha)), lanes.base)


@pytest.mark.parametrize("mode", ["100644", "40000"])
@pytest.mark.parametrize(
    "name",
    [
        b"..",
        b".",
        b".git",
        b".GIT",
        b".Git ",
        b".git.",
        b"git~1",
        b"GIT~1",
        b".git::$INDEX_ALLOCATION",
        ".g\u200cit".encode(),
        "\ufeff.git".encode(),
        b"a\\.git\\hooks",
        b"a/b",
        b".gitmodules ",
        b".GITMODULES",
        b"gitmod~1",
        b"gi7eba~1",
    ],
)
def test_a_name_that_some_system_takes_for_another_is_refused(lanes, mode, name):
    assert lanes.refused(head=with_entry(lanes, mode, name)).rule in (Rule.NAME, Rule.PACK)


@pytest.mark.parametrize("mode", ["100666", "100777", "160000", "140000", "10644", "107644"])
def test_a_mode_that_git_does_not_write_is_refused(lanes, mode):
    """100664 is one that git once wrote; a new entry has it no more."""
    refusal = lanes.refused(head=with_entry(lanes, mode, b"entry"))
    assert refusal.rule in (Rule.MODE, Rule.SUBMODULE, Rule.PACK, Rule.SENDER, Rule.INCOMPLETE)
    assert not refusal.retryable or refusal.rule == Rule.SENDER


@pytest.mark.parametrize(
    "target",
    [
        b"/etc/passwd",
        b"..",
        b"../x",
        b"src/../../x",
        b"src/../README",
        b".git/config",
        b".GIT",
        b"a/../../..",
        b"",
        b"x" * 5_000,
        b"a\0b",
    ],
)
def test_a_link_that_leaves_the_tree_is_refused(lanes, target):
    assert lanes.refused(head=with_entry(lanes, "120000", b"link", target)).rule == Rule.LINK


@pytest.mark.parametrize(
    "names",
    [
        (b"README", b"readme"),
        ("\u00e9t\u00e9".encode(), "e\u0301te\u0301".encode()),
        (b"STRASSE", "stra\u00dfe".encode()),
        (b"Src", b"src"),
    ],
)
def test_names_that_are_one_on_another_system_are_refused(lanes, names):
    lane = lanes.lane
    blob = lane.put("blob", b"1\n")
    tree = lane.tree(*(("100644", name, blob) for name in sorted(names)))
    refusal = lanes.refused(head=lane.commit_tree(tree, lanes.base))
    assert refusal.rule == Rule.COLLISION


def test_a_new_name_may_not_collide_with_one_that_the_base_has(lanes):
    lanes.lane.commit(readme="1\n")
    assert lanes.refused().rule == Rule.COLLISION


def test_a_bad_tree_in_the_middle_of_the_history_is_refused(lanes):
    middle = with_entry(lanes, "120000", b"link", b"/etc/passwd")
    head = lanes.lane.commit_tree(lanes.lane.git("rev-parse", "HEAD^{tree}"), middle)
    assert lanes.refused(head=head).rule == Rule.LINK


def test_a_bad_tree_of_saved_work_is_refused(lanes):
    saved = with_entry(lanes, "120000", b"link", b"/etc/passwd")
    assert lanes.refused(saved=(saved,)).rule == Rule.LINK


@pytest.mark.parametrize("depth", [20_000, 257])
def test_folders_that_are_nested_too_deep_are_refused(lanes, depth):
    blob = b"1\n"
    entries = [entry("blob", blob)]
    sha = object_id("blob", blob)
    mode = "100644"
    for _ in range(depth + 1):
        content = tree_content([(mode, b"d", sha)])
        entries.append(entry("tree", content))
        sha = object_id("tree", content)
        mode = "40000"
    commit = commit_content(sha, [lanes.base])
    entries.append(entry("commit", commit))
    refusal = refused_bytes(lanes, pack(entries), object_id("commit", commit))
    assert refusal.rule == Rule.LIMIT and "levels" in refusal.reason and len(refusal.reason) < 600


def test_the_deepest_folder_that_is_allowed_is_taken(lanes):
    lanes.lane.write("/".join(["d"] * SMALL.depth) + "/f")
    lanes.lane.commit()
    lanes.take()


def test_a_path_that_is_too_long_is_refused(lanes):
    lanes.lane.write("/".join(["a" * 200] * 6))
    lanes.lane.commit()
    refusal = lanes.refused()
    assert refusal.rule == Rule.LIMIT and "bytes long" in refusal.reason


def test_a_few_folders_that_stand_for_billions_of_files_are_refused(lanes):
    lane = lanes.lane
    sha = lane.put("blob", b"1\n")
    mode = "100644"
    for _ in range(10):
        sha = lane.tree(*((mode, b"%d" % number, sha) for number in range(10)))
        mode = "40000"
    began = time.monotonic()
    limits = structs.replace(SMALL, paths=20_000)
    refusal = lanes.refused(head=lane.commit_tree(sha, lanes.base), limits=limits)
    assert refusal.rule == Rule.LIMIT and "paths" in refusal.reason
    assert time.monotonic() - began < LONGEST_SECONDS


# Submodules


def test_a_new_submodule_is_refused(lanes):
    head = with_entry(lanes, "160000", b"lib")
    assert lanes.refused(head=head).rule == Rule.SUBMODULE


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x",
        "file:///etc",
        "/etc",
        "../other",
        "./x",
        "-oProxyCommand=x",
        "ssh://-oProxyCommand=x/y",
        "http://example.invalid/x",
        "https://user:token@example.invalid/x",
        "https://example.invalid/x%0ahost=y",
        "fd::17/x",
        "host::x",
    ],
)
def test_a_submodule_is_fetched_only_from_another_host(lanes, url):
    lanes.lane.commit(**{".gitmodules": f'[submodule "l"]\n\tpath = l\n\turl = "{url}"\n'})
    assert lanes.refused().rule in (Rule.SUBMODULE, Rule.PACK)


@pytest.mark.parametrize(
    "text",
    [
        '[submodule "l"]\n\tpath = -x\n',
        '[submodule "../../l"]\n\tpath = l\n',
        '[submodule "l"]\n\tupdate = !touch x\n',
        "[core]\n\tfsmonitor = x\n",
        '[submodule "l"\n',
    ],
)
def test_other_settings_of_submodules_are_refused(lanes, text):
    lanes.lane.commit(**{".gitmodules": text})
    assert lanes.refused().rule in (Rule.SUBMODULE, Rule.PACK)


def test_many_versions_of_gitmodules_are_refused(lanes):
    for number in range(22):
        text = f'[submodule "l"]\n\tpath = l\n\turl = https://h.invalid/{number}\n'
        lanes.lane.commit(**{".gitmodules": text})
    assert lanes.refused().rule == Rule.LIMIT


def test_gitmodules_that_is_a_link_is_refused(lanes):
    head = with_entry(lanes, "120000", b".gitmodules", b"README")
    assert lanes.refused(head=head).rule in (Rule.MODE, Rule.PACK)


# Sizes


def measured(lanes: Lanes, data: Path, head: str) -> tuple[str, int, float]:
    """Hand over in a process of its own: the rule, the most memory of a git in bytes, seconds."""
    script = Path(__file__).parent / "measured_receive.py"
    words = (lanes.user.root, data, head, lanes.base)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, script, *map(str, words)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    rule, kilobytes = done.stdout.split()
    return rule, int(kilobytes) * 1024, time.monotonic() - began


def compressed_zeros(size: int) -> bytes:
    """What zlib makes of zeros: one block over and over, without compressing all of them."""
    piece = 10_000_000
    compress = zlib.compressobj(9)
    start = compress.compress(bytes(piece)) + compress.flush(zlib.Z_FULL_FLUSH)
    block = compress.compress(bytes(piece)) + compress.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    checksum = (size % 65521) << 16 | 1
    return start + block * (size // piece - 1) + end + checksum.to_bytes(4, "big")


def test_the_zeros_of_the_next_test_are_what_zlib_reads():
    assert zlib.decompress(compressed_zeros(30_000_000)) == bytes(30_000_000)


def test_a_delta_that_grows_to_gigabytes_is_refused_without_the_memory(lanes):
    """Some hundred bytes: each delta repeats the one before it."""
    content = b"A" * 60_000
    first = entry("blob", content)
    entries = [first]
    size = len(content)
    for factor in (250, 250, 4):
        delta = copying_delta(size, size // min(size, 0xFFFFFF) * min(size, 0xFFFFFF) * factor)
        size *= factor
        head = pack_header(OFFSET_DELTA, len(delta)) + offset_of_delta(len(entries[-1]))
        entries.append(head + zlib.compress(delta))
    data = lanes.home / "bomb"
    data.write_bytes(pack(entries))
    assert data.stat().st_size < 1_000
    rule, memory, seconds = measured(lanes, data, lanes.base)
    assert rule == Rule.LIMIT
    assert memory < SMALL.memory_bytes * 1.2 and seconds < LONGEST_SECONDS


def test_three_gigabytes_in_three_megabytes_are_refused_without_the_memory(lanes):
    size = 3_000_000_000
    data = lanes.home / "large"
    data.write_bytes(pack([pack_header(3, size) + compressed_zeros(size)]))
    assert data.stat().st_size < 4_000_000
    rule, memory, seconds = measured(lanes, data, lanes.base)
    assert rule == Rule.LIMIT
    assert memory < SMALL.memory_bytes * 1.2 and seconds < LONGEST_SECONDS


def test_an_object_over_the_limit_is_refused_although_it_fits_the_memory(lanes):
    lanes.lane.write("large", bytes(SMALL.object_bytes + 1))
    lanes.lane.commit()
    assert lanes.refused().rule == Rule.LIMIT


def test_all_objects_together_have_a_limit(lanes):
    for number in range(3):
        lanes.lane.write(f"file{number}", bytes([number]) * 1_000_000)
    lanes.lane.commit()
    limits = structs.replace(SMALL, total_bytes=2_000_000)
    assert lanes.refused(limits=limits).rule == Rule.LIMIT
    limits = structs.replace(SMALL, objects=3)
    assert lanes.refused(limits=limits).rule == Rule.LIMIT


# When our own git fails


@pytest.mark.parametrize("command", ["index-pack", "cat-file"])
@pytest.mark.parametrize("way", ["KILL", "SEGV"])
def test_a_check_that_dies_is_no_lie_and_can_be_repeated(
    lanes, tmp_path, monkeypatch, command, way
):
    head = lanes.lane.commit(a="1\n")
    data = packed(lanes, head).read_bytes()
    before = lanes.stored()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{dying(tmp_path, command, way)}:{os.environ['PATH']}")
        refusal = lanes.assert_refused(lanes.send_bytes(data, head), before)
    assert refusal.rule == Rule.UNCHECKED and refusal.retryable
    assert "could not be checked" in refusal.reason
    assert lanes.take() == head


def dying(folder: Path, command: str, way: str) -> Path:
    """A git that dies by a signal at one command."""
    program = folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *" {command} "*) kill -{way} $$ ;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    program.chmod(0o755)
    return program.parent


def test_what_a_killed_process_left_is_removed_by_the_next(lanes):
    """Killed while the pack comes in, and between the move and the ref."""
    head = lanes.lane.commit(a="1\n")
    data = packed(lanes, head)
    script = Path(__file__).parent / "measured_receive.py"
    words = [sys.executable, str(script), str(lanes.user.root)]
    with subprocess.Popen(
        [*words, "/dev/stdin", head, lanes.base], stdin=subprocess.PIPE
    ) as waiting:
        folder = lanes.user.root / ".git/dos/handover"
        wait_until(lambda: folder.exists() and any(folder.glob("*/objects/pack/*")))
        waiting.send_signal(signal.SIGKILL)
    assert list(folder.iterdir()) != []
    stopped = subprocess.run([*words, str(data), head, lanes.base, "die"])
    assert stopped.returncode == -signal.SIGKILL
    packs = lanes.user.root / ".git/objects/pack"
    assert len(list(packs.glob("*.keep"))) == 1
    assert lanes.take() == head
    assert len(list(packs.glob("*.pack"))) == 1


def test_the_folder_of_a_living_process_is_left_alone(lanes):
    first_head = lanes.lane.commit(a="1\n")
    first = lanes.hand_over()
    assert isinstance(first, Received)
    other = lanes.new_lane("other")
    lanes.lane, first_lane = other, lanes.lane
    second_head = other.commit(b="1\n")
    second = lanes.hand_over()
    assert isinstance(second, Received)
    for answer in (first, second):
        with answer:
            answer.move_in()
            lanes.user.git("update-ref", f"refs/heads/{answer.head}", answer.head)
    assert {first_head, second_head} == {first.head, second.head}
    lanes.user.git("fsck", "--strict")
    lanes.assert_clean()
    assert first_lane.head == first_head


def test_a_move_that_was_cut_off_before_the_index_leaves_no_pack(lanes):
    lanes.lane.commit(a="1\n")
    before = lanes.stored()
    answer = lanes.hand_over()
    assert isinstance(answer, Received)
    [index] = (lanes.user.root / ".git/dos/handover").glob("*/objects/pack/*.idx")
    index.unlink()
    with answer, pytest.raises(FileNotFoundError):
        answer.move_in()
    assert lanes.stored() == before
    lanes.assert_clean()


def test_a_disk_without_space_is_no_lie(lanes):
    """A file where the folder should be: the system refuses to make it."""
    (lanes.user.root / ".git/dos").write_text("")
    head = lanes.lane.commit(a="1\n")
    answer = lanes.hand_over(head=head)
    assert isinstance(answer, Refused) and answer.rule == Rule.UNCHECKED and answer.retryable


def wait_until(condition) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def packed(lanes: Lanes, head: str) -> Path:
    """A file with what the lane's git sends."""
    done = subprocess.run(
        pack_command([head], lanes.base), cwd=lanes.lane.root, capture_output=True, check=True
    )
    path = lanes.home / "packed"
    path.write_bytes(done.stdout)
    return path


def refused_bytes(lanes: Lanes, data: bytes, head: str = "") -> Refused:
    before = lanes.stored()
    return lanes.assert_refused(lanes.send_bytes(data, head or lanes.base), before)
