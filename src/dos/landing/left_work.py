"""Work that an agent finished and forgot to commit or to name: mended for it, or laid before the next agent."""

from collections.abc import Callable, Mapping

from dos.git.repository import AS_DOS, Writer
from dos.units.unit import Unit

_MESSAGE = """Work on {name}

{title}

Its agent ended without a commit. dos committed what it had left, which the acceptance command was then run on.

Unit: {name}
Committed-by: dos
"""
_NAMED = """{said}

Its agent did not name the unit. dos added the name, once the acceptance command had passed.

Unit: {name}
Named-by: dos
"""


def commit(inside: Writer, saved: str, unit: Unit, identity: Mapping[str, str]) -> str:
    """Commit the files of a saved commit on top of the head, with the unit's trailer; the new commit.

    The author is whoever the agents commit as; the committer is dos. It can be repeated.
    """
    if inside.object_of("HEAD^{tree}") == inside.object_of(f"{saved}^{{tree}}"):
        return inside.run("rev-parse", "HEAD").strip()  # git made it, and died before it said so
    inside.run("read-tree", "--reset", "-u", saved)
    message = _MESSAGE.format(name=unit.name, title=" ".join(unit.title.split()) or unit.name)
    name, email = identity.get("GIT_AUTHOR_NAME"), identity.get("GIT_AUTHOR_EMAIL")
    author = (f"--author={name} <{email}>",) if name and email else ()
    inside.run(
        *AS_DOS, "commit", "--quiet", "--no-verify", "--cleanup=verbatim", *author, "-m", message
    )
    return inside.run("rev-parse", "HEAD").strip()


def name(inside: Writer, head: str, unit: Unit) -> str:
    """The commit `head` with the unit's trailer added: same files, parents and author; the committer is dos.

    It is made of the commit alone: what lies in the index, or on top of it by now, nobody has measured. MalformedObject
    where git takes a header of that commit from nobody any more.
    """
    header, _, said = inside.run("cat-file", "commit", head).partition("\n\n")
    kept = [line for line in header.split("\n") if line.startswith(("tree ", "parent ", "author "))]
    encoding = [line for line in header.split("\n") if line.startswith("encoding ")]
    committer = f"committer {inside.run(*AS_DOS, 'var', 'GIT_COMMITTER_IDENT').strip()}"
    message = _NAMED.format(said=said.strip() or unit.name, name=unit.name)
    feed = "\n".join([*kept, committer, *encoding, "", message])
    return inside.run("hash-object", "-t", "commit", "-w", "--stdin", feed=feed).strip()


def lay_out(inside: Writer, saved: str, *, base: str, is_inside: Callable[[str], bool]) -> bool:
    """Put the changes of a saved commit into a clean tree, uncommitted; False, and nothing done, where they do not fit.

    Only paths that `is_inside` admits: what was left outside of the lane would make the next work stray too. They fit
    where nobody has changed those paths since.
    """
    parent = inside.commit_of(f"{saved}^1")
    if parent is None:
        return False
    changed = [path for path in inside.paths_between(parent, saved) if is_inside(path)]
    moved = set() if parent == base else set(inside.paths_between(parent, base))
    if not changed or moved & set(changed):
        return False
    words = (
        "--literal-pathspecs",
        "restore",
        f"--source={saved}",
        "--worktree",
        "--pathspec-from-file=-",
    )
    inside.run(*words, "--pathspec-file-nul", feed="".join(f"{path}\0" for path in changed))
    return True
