"""The submodules of a worktree: git leaves their folders empty in a new one.

What the main checkout has fetched already is taken from there, so that a worktree can be made without a network.
"""

from pathlib import Path

from dos.git.repository import Writer
from dos.text import printable_path

_GITLINK = "160000"


def check_out(inside: Writer, fetched: Path) -> str:
    """Put every submodule, and theirs, at the commit that the tree names; empty, or which one could not be had and why.

    `fetched` is where the main checkout keeps the repositories of its submodules (`.git/modules`).
    """
    if not (inside.tree / ".gitmodules").exists():
        return ""
    wanted = _recorded(inside)
    for name, path in inside.submodules().items():
        commit = wanted.get(path)
        if commit is None:
            continue  # .gitmodules tells of it, and the tree does not hold it
        if not _is_at(inside.tree / path, commit) and (
            problem := _fetch(inside, name, path, commit, fetched / name)
        ):
            return problem
        if problem := check_out(Writer(inside.tree / path), fetched / name / "modules"):
            return problem
    return ""


def _recorded(inside: Writer) -> dict[str, str]:
    """Path -> the commit that the tree names."""
    entries = inside.run("ls-files", "--stage", "-z").split("\0")
    fields = (entry.partition("\t") for entry in entries if entry.startswith(_GITLINK))
    return {path: state.split(" ")[1] for state, _, path in fields}


def _is_at(folder: Path, commit: str) -> bool:
    return (folder / ".git").exists() and Writer(folder).commit_of("HEAD") == commit


def _fetch(inside: Writer, name: str, path: str, commit: str, fetched: Path) -> str:
    """Empty, or why it could not be had."""
    if not (inside.tree / path / ".git").exists() and _holds(fetched, commit):
        _copy(inside, name, path, fetched)
        if _is_at(inside.tree / path, commit):
            return ""
    done = inside.once(
        "submodule", "--quiet", "update", "--init", "--force", "--checkout", "--", path
    )
    if done.returncode == 0 and _is_at(inside.tree / path, commit):
        return ""
    said = (done.stderr.strip().splitlines() or ["git did not say why"])[-1]
    return f"the submodule {printable_path(path)} could not be checked out at {commit[:9]}: {said}"


def _holds(repository: Path, commit: str) -> bool:
    return (repository / "HEAD").exists() and Writer(repository).commit_of(commit) is not None


def _copy(inside: Writer, name: str, path: str, fetched: Path) -> None:
    """From the repository that the main checkout has of it; its remote stays the real one.

    Git lets no submodule be cloned from a path of this machine, since a hostile `.gitmodules` could name any: this one
    is named by us.
    """
    settings = (
        "protocol.file.allow=always",
        f"submodule.{name}.url={fetched}",
        f"submodule.{name}.active=true",
    )
    words = [word for setting in settings for word in ("-c", setting)]
    done = inside.once(*words, "submodule", "--quiet", "update", "--init", "--checkout", "--", path)
    if done.returncode != 0:
        return
    copied = Writer(inside.tree / path)
    url = Writer(fetched).attempt("config", "--get", "remote.origin.url").stdout.strip()
    if url:
        copied.run("remote", "set-url", "origin", url)
    # What is published is what a remote has: not the branches of the main checkout.
    for ref in copied.run("for-each-ref", "--format=%(refname)", "refs/remotes/").split():
        copied.attempt("update-ref", "-d", ref)
    copied.once("fetch", "--quiet", str(fetched), "+refs/remotes/*:refs/remotes/*")
