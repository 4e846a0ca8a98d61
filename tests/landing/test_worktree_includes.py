"""Ignored files that `.worktreeinclude` lists are in the worktree when an agent starts."""

import os
from pathlib import Path

import pytest
from lane_tree import open_lane, prepare_lane
from sample_repository import Repository

from dos.errors import BadInput
from dos.git.repository import Writer
from dos.landing.trees import worktree_files


def prepare(repository: Repository) -> list[str]:
    """What was not copied into a lane that is prepared, each with the reason."""
    made = prepare_lane(repository)
    return worktree_files.copy_included_files(made.lane.git, made.lane.inside).left_out


def lane(repository: Repository) -> Path:
    prepare(repository)
    return open_lane(repository.root).folder


def ignore(repository: Repository, *patterns: str) -> None:
    (repository.root / ".gitignore").write_text("".join(f"{pattern}\n" for pattern in patterns))
    repository.commit_all("Ignore")


def include(repository: Repository, *patterns: str) -> None:
    (repository.root / ".worktreeinclude").write_text(
        "".join(f"{pattern}\n" for pattern in patterns)
    )


def put(repository: Repository, *names: str, text: str = "secret\n") -> None:
    for name in names:
        path = repository.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def brought(repository: Repository) -> set[str]:
    """The files in the lane that are in no commit."""
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
    return {path for path in Writer(lane(repository)).run(*words).split("\0") if path}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], set()),
        (["# a comment", "", ".env"], {".env"}),
        (["*.env"], {".env", "a.env", "b.env", "one/deep/c.env"}),
        (["*.env", "!b.env"], {".env", "a.env", "one/deep/c.env"}),
        (["/*.env"], {".env", "a.env", "b.env"}),
        (["one/**/c.env"], {"one/deep/c.env"}),
        (["cache/"], {"cache/x/y", "cache/z"}),
        (["cache/*", "!cache/z"], {"cache/x/y"}),
        (
            ["cache/", "!cache/z"],
            {"cache/x/y", "cache/z"},
        ),  # of a folder that is taken nothing can be left out
        (["plain.txt", "one/keep", "docs/**"], set()),  # not ignored, or tracked
        (["nowhere"], set()),
    ],
)
def test_what_is_listed_and_ignored_is_brought(repository, patterns, expected):
    ignore(repository, "*.env", "cache/")
    include(repository, *patterns)
    put(repository, ".env", "a.env", "b.env", "one/deep/c.env", "cache/x/y", "cache/z", "plain.txt")
    assert brought(repository) == expected
    assert prepare_lane(repository).salvaged == [], "and it is nobody's work"


def test_without_a_list_nothing_is_brought(repository):
    ignore(repository, "*.env")
    put(repository, "a.env")
    assert brought(repository) == set()


STRANGE = [
    "line\nend.env",
    'a "quoted".env',
    "back\\slash.env",
    "tab\t.env",
    "ünï.env",
    "-dash.env",
    " blank .env",
]


def test_names_of_any_kind_are_brought(repository):
    ignore(repository, "*.env")
    include(repository, "*.env")
    put(repository, *STRANGE)
    not_text = os.fsencode(repository.root) + b"/\xff.env"
    Path(os.fsdecode(not_text)).write_text("x")
    assert brought(repository) == {*STRANGE, os.fsdecode(b"\xff.env")}


def test_a_link_is_brought_as_a_link(repository, tmp_path):
    ignore(repository, "*.env")
    include(repository, "*.env")
    (tmp_path / "outside").write_text("elsewhere\n")
    (repository.root / "a.env").symlink_to(tmp_path / "outside")
    (repository.root / "dangling.env").symlink_to("nowhere")
    made = lane(repository)
    assert (made / "a.env").readlink() == tmp_path / "outside"
    assert (made / "dangling.env").readlink() == Path("nowhere")


def test_modes_are_kept(repository):
    ignore(repository, "*.env")
    include(repository, "*.env")
    put(repository, "a.env", "b.env")
    (repository.root / "a.env").chmod(0o600)
    (repository.root / "b.env").chmod(0o755)
    made = lane(repository)
    assert ((made / "a.env").stat().st_mode & 0o777, (made / "b.env").stat().st_mode & 0o777) == (
        0o600,
        0o755,
    )


def test_the_next_unit_finds_what_the_main_tree_has_now(repository):
    ignore(repository, "*.env")
    include(repository, "*.env")
    put(repository, "a.env")
    made = lane(repository)
    (made / "a.env").write_text("changed by an agent\n")
    prepare(repository)
    assert (made / "a.env").read_text() == "secret\n"
    put(repository, "a.env", text="newer\n")
    prepare(repository)
    assert (made / "a.env").read_text() == "newer\n"


def test_a_file_that_is_tracked_in_the_lane_is_not_overwritten(repository):
    """It was taken out of git here and is ignored now, and the target branch still has it."""
    put(repository, "a.env", text="tracked\n")
    repository.commit_all("A file")
    repository.git("rm", "--quiet", "--cached", "a.env")
    (repository.root / ".git" / "info" / "exclude").write_text("*.env\n")
    put(repository, "a.env", text="mine\n")
    include(repository, "*.env")
    made = lane(repository)
    assert (made / "a.env").read_text() == "tracked\n"
    assert prepare(repository) == ["a.env: tracked in the lane"]
    assert worktree_files.copy_included_files(Writer(repository.root), Writer(made)).left_out == [
        "a.env: tracked in the lane"
    ]


def test_what_the_lane_does_not_ignore_is_not_brought_or_it_would_be_committed_there(repository):
    (repository.root / ".gitignore").write_text("*.env\n")  # and nobody has committed that yet
    put(repository, "a.env")
    include(repository, "*.env")
    made = lane(repository)
    assert not (made / "a.env").exists()
    assert worktree_files.copy_included_files(Writer(repository.root), Writer(made)).left_out == [
        "a.env: not ignored in the lane"
    ]


def test_nothing_is_written_through_a_link_that_the_lane_has(repository, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (repository.root / "cache").symlink_to(tmp_path / "elsewhere")
    repository.commit_all("A link")
    repository.git("rm", "--quiet", "--cached", "cache")
    (repository.root / "cache").unlink()
    (repository.root / ".git" / "info" / "exclude").write_text("cache\n")
    put(repository, "cache/a")
    include(repository, "cache")
    made = lane(repository)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert worktree_files.copy_included_files(Writer(repository.root), Writer(made)).left_out == [
        "cache/a: a parent in the lane is not a folder"
    ]


def test_a_repository_inside_of_an_ignored_folder_is_left_out_and_named(repository):
    ignore(repository, "cache/")
    put(repository, "cache/nested/a", "cache/b")
    repository.git("init", "--quiet", "cache/nested")
    include(repository, "cache/")
    assert brought(repository) == {"cache/b"}
    writer = Writer(lane(repository))
    assert worktree_files.copy_included_files(Writer(repository.root), writer).left_out == [
        "cache/nested/: a nested repository"
    ]


def test_what_cannot_be_read_is_left_out_and_named(repository):
    if os.geteuid() == 0:
        pytest.skip("root can read everything")
    ignore(repository, "*.env")
    put(repository, "a.env", "b.env")
    (repository.root / "a.env").chmod(0)
    include(repository, "*.env")
    made = lane(repository)
    assert (made / "b.env").exists()
    assert worktree_files.copy_included_files(Writer(repository.root), Writer(made)).left_out == [
        "a.env: Permission denied"
    ]


def test_more_than_anybody_wants_copied_is_refused_by_name(repository, monkeypatch):
    ignore(repository, "cache/", "*.env")
    put(repository, "cache/large", text="x" * 100)
    put(repository, "a.env")
    include(repository, "cache/", "*.env")
    monkeypatch.setattr(worktree_files, "MOST_BYTES", 100)
    with pytest.raises(BadInput, match=r"2 files .* most of it in cache"):
        prepare(repository)
    monkeypatch.setattr(worktree_files, "MOST_BYTES", 1000)
    assert brought(repository) == {"cache/large", "a.env"}


def test_a_workspace_below_the_top_of_its_repository_uses_the_list_at_the_top(repository):
    ignore(repository, "*.env")
    include(repository, "*.env")
    put(repository, "a.env", "one/b.env")
    path = lane(repository)
    found = worktree_files.copy_included_files(Writer(repository.root / "one"), Writer(Path(path)))
    assert (
        found.copied == []
        and (Path(path) / "one" / "b.env").exists()
        and (Path(path) / "a.env").exists()
    )


def test_a_copy_that_is_broken_off_leaves_nothing_that_would_be_saved(repository, monkeypatch):
    ignore(repository, "*.env")
    include(repository, "*.env")
    put(repository, "a.env")

    class Killed(BaseException):
        pass

    def killed(*arguments):
        raise Killed

    with monkeypatch.context() as broken, pytest.raises(Killed):
        broken.setattr(worktree_files.shutil, "copy2", killed)
        prepare(repository)
    assert prepare_lane(repository).salvaged == []
    assert brought(repository) == {"a.env"}
