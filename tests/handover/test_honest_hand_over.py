"""Honest work of every kind crosses from a lane into the user's repository."""

import os
import shutil
import subprocess

import pytest
from lane_repository import SMALL, Lanes, Repository, pack_command, run

from dos.git.repository import Writer
from dos.handover.io.receive import Received
from dos.handover.refusal import Refused


@pytest.fixture
def lanes(tmp_path) -> Lanes:
    return Lanes(tmp_path)


def test_commits_of_a_lane_are_in_the_repository_afterwards(lanes):
    first = lanes.lane.commit(**{"src/a.py": "a = 1\n"})
    second = lanes.lane.commit(**{"src/b.py": "b = 1\n"})
    answer = lanes.hand_over()
    assert isinstance(answer, Received)
    assert (answer.head, answer.commits) == (second, (first, second))
    with answer:
        answer.move_in()
        lanes.user.git("update-ref", "refs/heads/work", second)
    assert lanes.user.git("show", "work:src/b.py") == "b = 1"
    lanes.user.git("fsck", "--strict")
    lanes.assert_clean()


def test_nothing_enters_before_it_is_moved_in_nor_when_it_is_discarded(lanes):
    before = lanes.stored()
    head = lanes.lane.commit(a="1\n")
    answer = lanes.hand_over()
    assert isinstance(answer, Received) and lanes.stored() == before
    answer.close()
    assert lanes.stored() == before and Writer(lanes.user.root).commit_of(head) is None
    lanes.assert_clean()


def test_a_merge_with_two_parents_is_taken(lanes):
    lanes.lane.git("checkout", "-q", "-b", "side")
    lanes.lane.commit(side="1\n")
    lanes.lane.git("checkout", "-q", "--detach", lanes.base)
    lanes.lane.commit(own="1\n")
    lanes.lane.git("merge", "-q", "--no-edit", "side")
    assert lanes.take() == lanes.lane.head


def test_a_lane_that_ran_gc_and_has_packed_refs_is_taken(lanes):
    lanes.lane.git("checkout", "-q", "-b", "work")
    for number in range(5):
        lanes.lane.commit(**{f"file{number}": f"{number}\n" * 200})
    lanes.lane.git("gc", "-q", "--aggressive", "--prune=now")
    assert not (lanes.lane.root / ".git/refs/heads/work").exists()
    assert lanes.take() == lanes.lane.head


def test_renames_deletions_exec_bits_and_empty_commits_are_taken(lanes):
    lanes.lane.git("mv", "src", "lib")
    lanes.lane.commit("Move a folder")
    lanes.lane.git("rm", "-q", "README")
    lanes.lane.commit("Delete")
    lanes.lane.write("tool.sh", "#!/bin/sh\n")
    (lanes.lane.root / "tool.sh").chmod(0o755)
    lanes.lane.commit("Add a program")
    lanes.lane.commit("Nothing")
    head = lanes.take()
    listing = lanes.user.git("ls-tree", "-r", head)
    assert "lib/main.py" in listing and "README" not in listing and "100755" in listing


def test_a_file_that_becomes_a_folder_and_back_is_taken(lanes):
    (lanes.lane.root / "README").unlink()
    lanes.lane.commit(**{"README/a": "1\n"})
    shutil.rmtree(lanes.lane.root / "src")
    lanes.lane.commit(src="1\n")
    lanes.take()


def test_links_inside_the_tree_are_taken(lanes):
    (lanes.lane.root / "src/read").symlink_to("../README")
    (lanes.lane.root / "all").symlink_to("src")
    (lanes.lane.root / "dangling").symlink_to("src/not/there")
    lanes.lane.commit()
    lanes.take()


def test_a_link_that_leaves_may_stay_where_the_base_has_it(lanes):
    (lanes.user.root / "etc").symlink_to("/etc")
    lanes.user.commit("Link out")
    lanes.rebase_lane()
    lanes.lane.commit(a="1\n")
    lanes.take()


def test_names_that_collide_already_do_not_matter(lanes):
    blob = lanes.user.put("blob", b"x\n")
    tree = lanes.user.tree(
        ("100644", b"README", blob), ("100644", b"other", blob), ("100644", b"readme", blob)
    )
    lanes.user.git("reset", "-q", "--hard", lanes.user.commit_tree(tree, lanes.base))
    lanes.rebase_lane()
    lanes.lane.write("README", "changed\n")
    lanes.lane.commit(new="1\n")
    lanes.take()


@pytest.mark.parametrize("name", ["käse", "日本語/ファイル", "e\u0301te", "-dash", "a b\tc", "x~1"])
def test_unusual_names_are_taken(lanes, name):
    lanes.lane.commit(**{name: "1\n"})
    lanes.take()


def test_names_that_are_not_utf8_are_taken(lanes):
    (lanes.lane.root / os.fsdecode(b"caf\xe9")).write_text("1\n")
    lanes.lane.commit()
    lanes.take()


def test_git_files_that_belong_into_a_repository_are_taken(lanes):
    files = {".gitignore": "*.o\n", ".gitattributes": "* text\n", ".github/x.yml": "on: push\n"}
    lanes.lane.commit(**files, **{"digit": "1\n", "x.git/config": "1\n", "git~2": "1\n"})
    lanes.take()


def test_a_large_file_that_is_allowed_is_taken(lanes):
    lanes.lane.write("large.bin", os.urandom(SMALL.object_bytes - 1))
    lanes.lane.commit()
    lanes.take()


def test_a_lane_without_new_commits_has_nothing_to_move_in(lanes):
    before = lanes.stored()
    answer = lanes.hand_over()
    assert isinstance(answer, Received) and (answer.head, answer.commits) == (lanes.base, ())
    with answer:
        answer.move_in()
    assert lanes.stored() == before


def test_the_same_work_can_be_handed_over_twice(lanes):
    lanes.lane.commit(a="1\n")
    assert lanes.take() == lanes.take()


def test_a_revert_that_brings_old_files_back_is_taken(lanes):
    lanes.lane.git("rm", "-rq", "src")
    lanes.lane.commit("Delete")
    lanes.lane.git("revert", "--no-edit", "HEAD")
    assert lanes.user.git("rev-parse", f"{lanes.take()}^{{tree}}") == lanes.user.git(
        "rev-parse", "HEAD^{tree}"
    )


def test_work_on_top_of_a_merge_of_an_older_commit_is_taken(lanes):
    old = lanes.base
    lanes.user.commit(newer="1\n")
    lanes.rebase_lane()
    lanes.lane.git("checkout", "-q", "-b", "side", old)
    lanes.lane.commit(side="1\n")
    lanes.lane.git("checkout", "-q", "--detach", lanes.base)
    lanes.lane.git("merge", "-q", "--no-edit", "side")
    lanes.take()


def test_a_commit_that_the_user_has_beside_the_base_can_be_merged(lanes):
    lanes.user.git("checkout", "-q", "-b", "other")
    other = lanes.user.commit(other="1\n")
    lanes.user.git("checkout", "-q", "main")
    lanes.lane.commit(own="1\n")
    lanes.lane.git("merge", "-q", "--no-edit", other)
    answer = lanes.hand_over()
    assert isinstance(answer, Received)
    assert other in answer.commits, "it is part of what would land"
    answer.close()


def test_saved_work_need_not_contain_the_base(lanes):
    lanes.lane.write("README", "not committed\n")
    stash = lanes.lane.git("stash", "create")
    orphan = lanes.lane.commit_tree(lanes.lane.git("rev-parse", "HEAD^{tree}"))
    answer = lanes.hand_over(saved=(stash, orphan))
    assert isinstance(answer, Received), answer
    with answer:
        answer.move_in()
        lanes.user.git("update-ref", "refs/dos/salvage/r/1", stash)
        lanes.user.git("update-ref", "refs/dos/salvage/r/2", orphan)
    assert lanes.user.git("show", f"{stash}:README") == "not committed"


def test_work_that_strayed_from_the_base_can_be_saved(lanes):
    tree = lanes.lane.git("rev-parse", "HEAD^{tree}")
    orphan = lanes.lane.commit_tree(tree)
    answer = lanes.send(pack_command([orphan], lanes.base), None, [orphan])
    assert isinstance(answer, Received), answer
    answer.close()


def test_a_submodule_can_be_moved_to_another_commit(lanes, tmp_path):
    library = Repository(tmp_path / "library")
    first, second = library.commit(a="1\n"), library.commit(a="2\n")
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    lanes.user.git(*words, str(library.root), "library")
    lanes.user.git("-C", "library", "checkout", "-q", first)
    lanes.user.commit("Add a submodule")
    lanes.rebase_lane()
    lanes.lane.git("update-index", "--cacheinfo", f"160000,{second},library")
    lanes.lane.git("commit", "-q", "-m", "Move it")
    head = lanes.take()
    assert second in lanes.user.git("ls-tree", head)


@pytest.mark.parametrize(
    "url", ["https://example.invalid/x.git", "git@example.invalid:x/y", "ssh://git@h.invalid/x"]
)
def test_the_url_of_a_submodule_can_be_changed_to_another_host(lanes, url):
    text = '[submodule "lib"]\n\tpath = lib\n\turl = ../lib.git\n'
    lanes.user.write(".gitmodules", text)
    lanes.user.commit("Begin")
    lanes.rebase_lane()
    lanes.lane.write(".gitmodules", text.replace("../lib.git", url))
    lanes.lane.commit()
    lanes.take()


def test_a_relative_url_that_the_base_has_may_stay(lanes):
    text = '[submodule "lib"]\n\tpath = lib\n\turl = ../lib.git\n'
    lanes.user.write(".gitmodules", text)
    lanes.user.commit("Begin")
    lanes.rebase_lane()
    lanes.lane.write(".gitmodules", text + "\tbranch = main\n")
    lanes.lane.commit()
    lanes.take()


def test_a_repository_with_sha256_is_taken(tmp_path):
    lanes = Lanes(tmp_path, object_format="sha256")
    lanes.lane.commit(**{"src/a.py": "1\n"})
    assert len(lanes.take()) == 64


def test_a_base_of_a_shallow_clone_is_enough(lanes, tmp_path):
    lanes.user.commit(second="1\n")
    clone = tmp_path / "shallow"
    run(tmp_path, "clone", "-q", "--depth=1", f"file://{lanes.user.root}", str(clone))
    lanes.user.root = clone
    lanes.base = run(clone, "rev-parse", "HEAD")
    lanes.lane = lanes.new_lane("shallow-lane")
    lanes.lane.commit(a="1\n")
    lanes.take()


def test_a_partial_clone_that_has_the_files_of_the_base_is_enough(lanes, tmp_path):
    lanes.user.write("README", "older\n")
    lanes.user.commit("Older")
    lanes.user.write("README", "newer\n")
    lanes.user.commit("Newer")
    lanes.user.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    words = ("clone", "-q", "--filter=blob:none", f"file://{lanes.user.root}", str(clone))
    run(tmp_path, *words)
    lanes.user.root = clone
    lanes.base = run(clone, "rev-parse", "HEAD")
    lanes.lane = lanes.new_lane("partial-lane")
    head = lanes.lane.commit(**{"src/a.py": "1\n"})
    answer = lanes.hand_over()
    assert isinstance(answer, Received), answer
    with answer:
        answer.move_in()
        lanes.user.git("update-ref", "refs/heads/work", head)
    assert lanes.user.git("show", f"{head}:src/a.py") == "1"


def test_a_thin_pack_is_completed(lanes):
    lanes.user.write("long.txt", "".join(f"line {number}\n" for number in range(2000)))
    lanes.user.commit("Long")
    lanes.rebase_lane()
    with (lanes.lane.root / "long.txt").open("a") as file:
        file.write("one more\n")
    head = lanes.lane.commit()
    script = 'printf "%s\\n" "$@" | git pack-objects --thin --revs --stdout -q'
    answer = lanes.send(["sh", "-c", script, "sh", head, f"^{lanes.base}"], head)
    assert isinstance(answer, Received), answer
    with answer:
        answer.move_in()
        lanes.user.git("update-ref", "refs/heads/work", head)
    lanes.user.git("fsck", "--strict")


def test_a_repository_in_a_folder_with_a_difficult_name_is_taken(tmp_path):
    home = tmp_path / 'a:b "c" \\d'
    home.mkdir()
    lanes = Lanes(home)
    lanes.lane.commit(a="1\n")
    lanes.take()


def test_a_gc_of_the_user_before_the_ref_is_written_loses_nothing(lanes):
    head = lanes.lane.commit(a="1\n")
    answer = lanes.hand_over()
    assert isinstance(answer, Received)
    with answer:
        answer.move_in()
        lanes.user.git("gc", "-q", "--prune=now")
        lanes.user.git("update-ref", "refs/heads/work", head)
    lanes.user.git("gc", "-q", "--prune=now")
    assert lanes.user.git("show", "work:a") == "1"
    lanes.assert_clean()


def test_two_git_processes_are_enough(lanes, tmp_path, monkeypatch):
    real = shutil.which("git")
    calls = tmp_path / "calls"
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/git"
    script.write_text(f'#!/bin/sh\necho "$*" >> {calls}\nexec {real} "$@"\n')
    script.chmod(0o755)
    head = lanes.lane.commit(**{"src/a.py": "1\n"})
    data = subprocess.run(
        pack_command([head], lanes.base), cwd=lanes.lane.root, capture_output=True
    ).stdout
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    answer = lanes.send_bytes(data, head)
    assert not isinstance(answer, Refused), answer
    answer.close()
    assert len(calls.read_text().splitlines()) == 2
