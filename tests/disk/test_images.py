"""What a power cut may leave: everything that was synced, and of the rest anything a real disk
could do to it."""

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disk.recorder import Image, Kind, Operation, crash_images

FILE = 11


def found(content: bytes = b"", path: str = "f", inode: int = FILE) -> Operation:
    return Operation(kind=Kind.FOUND, path=path, inode=inode, data=content)


def create(path: str = "f", inode: int = FILE) -> Operation:
    return Operation(kind=Kind.CREATE, path=path, inode=inode)


def write(data: bytes, offset: int = 0, inode: int = FILE) -> Operation:
    return Operation(kind=Kind.WRITE, path="f", inode=inode, offset=offset, data=data)


def cut(size: int) -> Operation:
    return Operation(kind=Kind.TRUNCATE, path="f", inode=FILE, offset=size)


def sync(inode: int = FILE, error: int = 0) -> Operation:
    return Operation(kind=Kind.SYNC, path="f", inode=inode, error=error)


def folder(path: str) -> Operation:
    return Operation(kind=Kind.MAKE_DIRECTORY, path=path)


def sync_folder(path: str = "") -> Operation:
    return Operation(kind=Kind.SYNC_DIRECTORY, path=path)


def rename(path: str, target: str) -> Operation:
    return Operation(kind=Kind.RENAME, path=path, target=target)


def unlink(path: str) -> Operation:
    return Operation(kind=Kind.UNLINK, path=path)


def ack(text: str) -> Operation:
    return Operation(kind=Kind.ACK, path="ACK", data=text.encode())


def images(*operations: Operation, per_point: int = 40, seed: int = 1) -> list[Image]:
    return list(crash_images(operations, Random(seed), per_point))


def at_the_end(*operations: Operation, per_point: int = 200) -> set[tuple[tuple[str, bytes], ...]]:
    """Every state seen after the last operation; a new acknowledgement keeps them apart from
    earlier ones."""
    contents = images(*operations, ack("end"), per_point=per_point)
    return {tuple(sorted(image.files.items())) for image in contents if image.acks}


def contents_at_the_end(*operations: Operation) -> set[bytes | None]:
    return {dict(files).get("f") for files in at_the_end(*operations)}


OLD = b"a" * 512
NEW = b"b" * 512
ZERO = bytes(512)


@pytest.mark.parametrize(
    ("operations", "possible"),
    [
        pytest.param([found(OLD), write(NEW)], {OLD, NEW}, id="a sector is old or new"),
        pytest.param([found(OLD), write(NEW), sync()], {NEW}, id="a synced write is there"),
        pytest.param(
            [found(OLD * 2), write(NEW * 2)],
            {OLD * 2, NEW * 2, NEW + OLD, OLD + NEW},
            id="a write is torn at a sector",
        ),
        pytest.param(
            [found(OLD), write(b"b" * 600, 512)],
            {
                OLD,
                OLD + b"b" * 600,
                OLD + NEW,
                OLD + ZERO + b"b" * 88,
                OLD + bytes(600),
                OLD + NEW + bytes(88),
            },
            id="an append is short, holed or all zeros",
        ),
        pytest.param(
            [found(OLD * 2), write(b"x"), write(b"y", 600)],
            {
                OLD * 2,
                b"x" + OLD[1:] + OLD,
                OLD + b"a" * 88 + b"y" + b"a" * 423,
                b"x" + OLD[1:] + b"a" * 88 + b"y" + b"a" * 423,
            },
            id="writes to two sectors are reordered",
        ),
        pytest.param(
            [found(b"....."), write(b"1", 0), write(b"2", 1)],
            {b".....", b"1....", b"12..."},
            id="writes to one sector are not",
        ),
        pytest.param([found(OLD * 2), cut(512)], {OLD * 2, OLD}, id="a cut may not have happened"),
        pytest.param([found(OLD * 2), cut(0), sync()], {b""}, id="a synced cut has happened"),
        pytest.param(
            [found(OLD), cut(0), write(NEW)],
            {OLD, b"", NEW, ZERO},
            id="a write past a cut brings the cut",
        ),
        pytest.param(
            [found(OLD), write(NEW), sync(error=5), sync()],
            {OLD, NEW},
            id="a failed sync is not made good",
        ),
        pytest.param(
            [found(OLD), write(NEW), sync(error=5), write(NEW), sync()],
            {NEW},
            id="writing again after it is",
        ),
    ],
)
def test_a_file_is_left_in_just_these_states(
    operations: list[Operation], possible: set[bytes]
) -> None:
    assert contents_at_the_end(*operations) == possible


ONE = ("f", b"1")
SAVED = [create(), write(b"1"), sync()]


@pytest.mark.parametrize(
    ("operations", "possible"),
    [
        pytest.param([create()], {(), (("f", b""),)}, id="a new name may be lost"),
        pytest.param([create(), sync_folder()], {(("f", b""),)}, id="a synced directory keeps it"),
        pytest.param(SAVED, {(ONE,)}, id="a synced file keeps its own name"),
        pytest.param(
            [*SAVED, rename("f", "g")],
            {(ONE,), (("g", b"1"),)},
            id="a renamed file has one of its names",
        ),
        pytest.param(
            [*SAVED, rename("f", "g"), sync()],
            {(ONE,), (("g", b"1"),)},
            id="syncing it settles none",
        ),
        pytest.param(
            [*SAVED, rename("f", "g"), sync_folder()],
            {(("g", b"1"),)},
            id="but syncing the directory does",
        ),
        pytest.param([*SAVED, unlink("f")], {(), (ONE,)}, id="a removed file may come back"),
        pytest.param([*SAVED, unlink("f"), sync_folder()], {()}, id="a synced removal is final"),
        pytest.param(
            [
                create("t"),
                sync(),
                rename("t", "f"),
                unlink("f"),
                create("f", 12),
                write(b"2", inode=12),
                sync(12),
            ],
            {(("f", b"2"),)},
            id="a synced successor is not replaced by what it succeeded",
        ),
        pytest.param(
            [folder("d"), create("d/f"), write(b"1"), sync()],
            {(("d/f", b"1"),)},
            id="a synced file keeps its directory",
        ),
        pytest.param(
            [folder("d"), create("d/f"), sync_folder()],
            {(), (("d/f", b""),)},
            id="syncing a directory is not syncing those in it",
        ),
        pytest.param(
            [folder("d"), create("d/f"), sync(), unlink("d/f"), sync_folder()],
            {(), (("d/f", b""),)},
            id="nor what was removed in them",
        ),
        pytest.param(
            [create(), write(b"1"), rename("f", "g"), sync_folder()],
            {(("g", b""),), (("g", b"1"),), (("g", b"\0"),)},
            id="a file renamed before it was synced may be empty",
        ),
    ],
)
def test_names_are_left_in_just_these_states(
    operations: list[Operation], possible: set[tuple[tuple[str, bytes], ...]]
) -> None:
    assert at_the_end(*operations) == possible


def test_acknowledgements_up_to_the_next_operation_count_at_a_point() -> None:
    contents = images(create(), write(b"1"), ack("a"), ack("b"), write(b"2", 1), ack("c"))
    assert {image.acks for image in contents if image.point == 0} == {()}
    assert {image.acks for image in contents if image.point == 3} == {("a", "b")}
    assert {image.acks for image in contents if image.point == 5} == {("a", "b", "c")}
    assert {image.point for image in contents} == {0, 3, 5}


def test_a_log_without_operations_leaves_no_images() -> None:
    assert images() == []


def test_shared_memory_is_in_no_image() -> None:
    written = Operation(kind=Kind.WRITE, path="db-shm", inode=FILE, data=b"1")
    assert at_the_end(create("db-shm"), written, create("g", 12)) == {(), (("g", b""),)}


@pytest.mark.parametrize(
    ("operations", "complaint"),
    [
        ([write(b"1")], "nobody was seen to create"),
        ([rename("f", "g")], "nobody was seen to create"),
        ([folder("d"), rename("d", "e")], "not modelled"),
    ],
)
def test_a_log_that_cannot_be_understood_is_refused(
    operations: list[Operation], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        images(*operations)


def test_an_image_is_written_as_it_is_and_only_into_an_empty_directory(tmp_path: Path) -> None:
    image = Image(point=0, manner="", directories=("d", "d/e"), files={"d/e/f": b"1"}, acks=())
    image.write_to(tmp_path / "new")
    assert (tmp_path / "new" / "d" / "e" / "f").read_bytes() == b"1"
    with pytest.raises(FileExistsError):
        image.write_to(tmp_path / "new")


SIZE = 4 * 512
steps = st.lists(
    st.one_of(
        st.builds(
            lambda at, length, fill: write(bytes([fill]) * min(length, SIZE - at), at),
            st.integers(0, SIZE - 1),
            st.integers(1, 1500),
            st.integers(1, 255),
        ),
        st.just(sync()),
    ),
    min_size=1,
    max_size=12,
)


@given(steps, st.integers(0, 2**32))
def test_every_sector_is_one_of_its_versions_since_its_last_sync(
    operations: list[Operation], seed: int
) -> None:
    versions: list[list[list[bytes]]] = []  # after each operation: of each sector, what it may hold
    content = bytearray(SIZE)
    possible = [[bytes(512)] for _ in range(4)]
    for operation in operations:
        content[operation.offset : operation.offset + len(operation.data)] = operation.data
        newest = [bytes(content[at : at + 512]) for at in range(0, SIZE, 512)]
        if operation.kind is Kind.SYNC:
            possible = [[sector] for sector in newest]
        else:
            possible = [[*old, sector] for old, sector in zip(possible, newest, strict=True)]
        versions.append(possible)
    for image in images(found(bytes(SIZE)), *operations, per_point=3, seed=seed):
        left = image.files["f"]
        allowed = versions[image.point - 1]
        assert len(left) == SIZE
        assert all(left[at * 512 : at * 512 + 512] in allowed[at] for at in range(4)), image.manner


@given(steps, st.integers(0, 2**32))
def test_the_same_seed_leaves_the_same_images_and_none_twice(
    operations: list[Operation], seed: int
) -> None:
    first = images(found(bytes(SIZE)), *operations, per_point=3, seed=seed)
    assert first == images(found(bytes(SIZE)), *operations, per_point=3, seed=seed)
    digests = [image.digest() for image in first]
    assert len(digests) == len(set(digests))
    assert all(before.point <= after.point for before, after in pairwise(first))
