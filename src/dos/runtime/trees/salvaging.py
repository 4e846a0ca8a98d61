"""Taking saved work back, or letting go of it. No branch is moved by either."""

import shutil
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput, GitFailed
from dos.records.names import counted, listed, on_one_line
from dos.runtime import landing
from dos.runtime.trees import salvaged
from dos.runtime.trees.salvaged import Saved
from dos.sources.git import AS_DOS, Reader, Writer


class Applied(Struct, frozen=True, kw_only=True):
    files: list[str]  # that are changed by it, or would be
    conflicts: list[str]  # where both sides changed the same: then nothing was done
    in_the_way: str = ""  # of the user's; then nothing was done either

    @property
    def fits(self) -> bool:
        return not self.conflicts and not self.in_the_way


def apply(tree: Path, saved: Saved, *, dry_run: bool = False) -> Applied:
    """Bring the change into the work tree, staged and uncommitted: all of it, or none."""
    if not saved.commit:
        raise BadInput(
            f"{saved.ref} is a folder that git could not hold, so it cannot be applied as a change",
            hint=f"Look what is in it, and copy what you want: ls -A {saved.ref}",
        )
    top = Writer(Path(Reader(tree).run("rev-parse", "--show-toplevel").removesuffix("\n")))
    head = top.commit_of("HEAD")
    if head is None:
        raise BadInput(f"{top.tree} has no commit to apply anything to", hint="Commit something first.")
    merged, conflicts = _merged(top, salvaged.base_of(top, saved.commit), head, saved.commit)
    files = top.paths_between(head, merged)
    if conflicts:
        return Applied(files=files, conflicts=conflicts)
    in_the_way = _in_the_way(top, head, files)
    if not in_the_way and not dry_run and files:
        try:
            top.run("read-tree", "-m", "-u", head, merged)
        except GitFailed as error:
            in_the_way = error.message
    return Applied(files=files, conflicts=[], in_the_way=in_the_way)


def _merged(git: Writer, base: str, ours: str, theirs: str) -> tuple[str, list[str]]:
    """The tree of both changes, and the paths at which they meet. Nothing but objects is written."""
    from_base = git.run(*AS_DOS, "commit-tree", f"{base}^{{tree}}", "-m", "base").strip()
    sides = [
        git.run(*AS_DOS, "commit-tree", f"{side}^{{tree}}", "-p", from_base, "-m", "side").strip()
        for side in (ours, theirs)
    ]
    done = git.attempt("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides)
    tree, *names = [each for each in done.stdout.split("\0") if each]
    return tree, [on_one_line(name) for name in names] or (["somewhere"] if done.returncode else [])


def _in_the_way(tree: Writer, head: str, files: list[str]) -> str:
    if begun := landing.unfinished(tree):
        return f"{tree.tree} is in the middle of something ({begun})"
    if edited := sorted(set(files) & set(tree.dirty_paths())):
        return f"it changes {listed([on_one_line(path) for path in edited])}, which nobody has committed yet"
    hidden = landing.in_no_commit(tree, head, files)
    return f"{listed([on_one_line(path) for path in hidden])} is there already, in no commit" if hidden else ""


def drop(tree: Path, saved: Saved) -> str:
    """Let go of it; how it can be had back."""
    if saved.commit:
        if refused := Writer(tree).swap_ref(saved.ref, None, saved.commit):
            raise GitFailed(refused)
        return f"git update-ref {saved.ref} {saved.commit} ''"  # unless other work has that name by now
    path = Path(saved.ref)
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    return ""


def measure(saved: Saved) -> str:
    """How much it is, for people."""
    size, unit = float(saved.bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size >= 1000:
            size, unit = size / 1000, larger
    return f"{counted(saved.files, 'file')}, {size:.0f} {unit}"
