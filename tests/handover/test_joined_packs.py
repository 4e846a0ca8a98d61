"""Packs that hand-overs leave are joined, and nobody who reads them notices."""

import subprocess
from pathlib import Path

import pytest
from lane_tree import PreparedLane, prepare_lane
from sample_repository import Repository

from dos.git.repository import Writer
from dos.handover.io.repack import join_packs

LIMIT = 3


@pytest.fixture
def packed(repository) -> Repository:
    """A repository in which git does its maintenance, at a few packs."""
    repository.git("config", "maintenance.auto", "true")
    repository.git("config", "gc.autoPackLimit", str(LIMIT))
    repository.git("repack", "-adq")
    return repository


def packs(repository: Repository) -> list[Path]:
    return sorted((repository.root / ".git" / "objects" / "pack").glob("*.pack"))


def hand_over(repository: Repository, made: PreparedLane, number: int) -> str:
    """Commit in a lane, take it over, and land it."""
    (made.path / "one" / f"{number}.txt").write_text(f"{number}\n" * 50)
    command = f"git add --all && git commit -qm 'Commit {number}'"
    subprocess.run(command, shell=True, cwd=made.path, check=True)
    assert made.lane.take_over(made.base, run_id="RUN", why="test") == []
    head = made.lane.delivered_head()
    assert head
    repository.git("update-ref", "refs/heads/main", head)
    made.lane.settle(landed=True)
    return head


def test_many_hand_overs_leave_few_packs(packed):
    git = Writer(packed.root)
    joined = 0
    for number in range(9):
        hand_over(packed, prepare_lane(packed), number)
        joined += join_packs(git)
        assert len(packs(packed)) <= LIMIT
    assert 0 < joined < 9
    assert len(packed.subjects()) == 10
    packed.git("fsck", "--full", "--strict")


def test_without_it_each_hand_over_leaves_a_pack(packed):
    before = len(packs(packed))
    for number in range(LIMIT):
        hand_over(packed, prepare_lane(packed), number)
    assert len(packs(packed)) == before + LIMIT


def test_a_lane_works_on_while_packs_are_joined(packed):
    """Its git has packs open that are gone afterwards."""
    for number in range(LIMIT + 1):
        hand_over(packed, prepare_lane(packed), number)
    made = prepare_lane(packed)
    blobs = [packed.git("rev-parse", f"main:one/{number}.txt") for number in range(LIMIT + 1)]
    with subprocess.Popen(
        ["git", "cat-file", "--batch"],
        cwd=made.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdin and reader.stdout
        before = packs(packed)
        print(blobs[0], file=reader.stdin, flush=True)
        first = [reader.stdout.readline() for _ in range(52)]
        assert first[1] == "0\n"
        assert join_packs(Writer(packed.root))
        assert not set(packs(packed)) & set(before[:1])
        for number, blob in enumerate(blobs):
            print(blob, file=reader.stdin, flush=True)
            lines = [reader.stdout.readline() for _ in range(52)]
            assert "missing" not in lines[0] and lines[1] == f"{number}\n"
        reader.stdin.close()
    head = hand_over(packed, made, 99)
    assert packed.git("rev-parse", "main") == head
    packed.git("fsck", "--full", "--strict")


def test_what_no_ref_reaches_yet_is_kept(packed):
    """A commit that dos has just made, such as a rebased one, is on no ref for a moment."""
    tree = packed.git("rev-parse", "HEAD^{tree}")
    loose = packed.git("commit-tree", tree, "-m", "On no ref")
    for number in range(LIMIT + 1):
        hand_over(packed, prepare_lane(packed), number)
    assert join_packs(Writer(packed.root))
    assert packed.git("cat-file", "-t", loose) == "commit"


@pytest.mark.parametrize("setting", ["gc.auto=0", "gc.autoPackLimit=0", "maintenance.auto=false"])
def test_a_user_who_switched_maintenance_off_is_obeyed(packed, setting):
    for number in range(LIMIT + 1):
        hand_over(packed, prepare_lane(packed), number)
    before = packs(packed)
    packed.git("config", *setting.split("="))
    assert not join_packs(Writer(packed.root))
    assert packs(packed) == before


def test_a_pack_that_is_being_taken_over_stays(packed):
    for number in range(LIMIT + 1):
        hand_over(packed, prepare_lane(packed), number)
    kept = packs(packed)[0]
    kept.with_suffix(".keep").touch()
    join_packs(Writer(packed.root))
    assert kept.exists()
