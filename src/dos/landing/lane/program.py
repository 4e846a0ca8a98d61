"""The program that runs inside a lane: it hands the lane's work out, and resets the lane.

A lane's repository is its agent's: filters, hooks and indexes in it are whatever the agent made of
them. So git is run on it only by this program, which has the agent's rights and no others. It is
started as `python -I -S program.py COMMAND` in the lane's folder and imports nothing of dos. Its
orders are JSON on standard input; its answer is JSON after its length, followed by a pack where
there is something to hand over. The answer is a claim of the lane, and is treated as one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

# It is started several times for each unit: what few orders need is imported there, and `typing`,
# `tempfile` and `shutil` alone would double the time of a start.
TYPE_CHECKING = False  # that of `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    Json = dict[str, Any]

SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false",
    "-c", "gc.auto=0", "-c", "submodule.recurse=false", "-c", "advice.graftFileDeprecated=false",
)  # fmt: skip
AS_DOS = ("-c", "user.name=dos", "-c", "user.email=dos@localhost", "-c", "commit.gpgSign=false")
STATUS = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all")
UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard", "--directory")
# Of a rebase or cherry-pick in progress, which `git reset` leaves.
UNFINISHED = ("rebase-merge", "rebase-apply", "sequencer")
LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock")
PAUSES = (0.0, 0.02, 0.1, 0.4)  # in seconds, before each try of a git that gives no answer
LENGTH_DIGITS = 10  # of the length of an answer, which comes before it
MOST_STASHES = 100
MOST_REFS = 1000
# Spaces before the path of a status entry: of a changed path, of an unmerged one.
SPACES = {b"1": 8, b"u": 10}
GIT = ".git"
INDEX = os.path.join(GIT, "index")
FAILED = 1  # the exit code of an order that could not be performed


class Failed(Exception):
    """Git, or the folder, cannot be worked with."""


def run(*words: str, feed: bytes = b"", answers: tuple[int, ...] = (0,)) -> bytes:
    """Return what git printed; raises Failed when it gives no answer, also at a second try.

    A git that was killed, or met a full disk for a moment, answers the next time. Every command
    here can be repeated.
    """
    for pause in PAUSES:
        time.sleep(pause)
        done = subprocess.run(["git", *SAFE, *words], input=feed, capture_output=True)
        if done.returncode in answers:
            return done.stdout
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    reason = lines[-1] if lines else f"exit {done.returncode}"
    raise Failed(f"git {words[0]}: {reason}")


def commit_of(name: str) -> str:
    """Return the commit that a name stands for; empty: none."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return run(*words, answers=(0, 1)).decode().strip()


def records(output: bytes) -> list[bytes]:
    return [record for record in output.split(b"\0") if record]


def remove(*paths: str) -> None:
    """Remove folders of any depth: Python's own way ends at a thousand levels."""
    found = [path for path in paths if os.path.lexists(path)]
    if found:
        subprocess.run(["rm", "-rf", "--", *found], check=True)


def check_files() -> None:
    """Raise Failed where git would work on other files, or wait for ever for a pipe."""
    if os.path.islink(GIT) or not os.path.isdir(GIT):
        raise Failed(f"{GIT} is no folder")
    for name in ("HEAD", "config", "index", "packed-refs", "shallow"):
        path = os.path.join(GIT, name)
        if os.path.lexists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            raise Failed(f"{path} is no file")


def unlock() -> None:
    """Remove the locks of git processes that were ended with their agent."""
    for name in LOCKS:
        path = os.path.join(GIT, name)
        if os.path.lexists(path):
            os.unlink(path)


# Handing over


def collect(order: Json) -> None:
    """Save everything that is not ignored as commits, and hand over what the base does not have."""
    check_files()
    unlock()
    base = order["base"]
    head = commit_of("HEAD")
    answer: Json = {"head": head, "saved": [], "aside": [], "problem": ""}
    for commit in autostashes():
        answer["saved"].append({"commit": commit, "kind": "autostash", "onto": ""})
    if head:
        # Unlike a checkout, this works in the middle of a merge too.
        run("update-ref", "--no-deref", "HEAD", head)
    for commit, kind in other_commits(head, base):
        answer["saved"].append({"commit": commit, "kind": kind, "onto": ""})
    try:
        changed, answer["aside"] = changes()
        for folder in answer["aside"]:
            os.chmod(folder["path"], 0o700)  # one that is closed to its owner cannot be moved
        if changed:
            commit = snapshot(head, answer["aside"], order["message"])
            if commit:
                saved = {"commit": commit, "kind": "changes", "onto": head or base}
                answer["saved"].append(saved)
    except Failed as error:
        answer["problem"] = str(error)
    hand_over(answer, base)


def peek(order: Json) -> None:
    """Hand the commits over that are there now, with a digest of what is not committed."""
    check_files()
    head = commit_of("HEAD")
    state = ""
    if order["status"]:
        import hashlib

        state = hashlib.sha256(run(*STATUS, "--ignore-submodules=none")).hexdigest()
    answer = {"head": head, "saved": [], "aside": [], "problem": "", "state": state}
    if head in ("", order["known"]):
        print_answer(answer)
    else:
        hand_over(answer, order["base"])


def hand_over(answer: Json, base: str) -> None:
    """Print the answer, then a pack of its commits without what the base has."""
    commits = [saved["commit"] for saved in answer["saved"]]
    if answer["head"]:
        commits.insert(0, answer["head"])
    wanted = [commit for commit in dict.fromkeys(commits) if commit != base]
    answer["pack"] = bool(wanted)
    if not wanted:
        print_answer(answer)
        return
    # Packed before the answer: a git that dies can be started again.
    with unnamed_file() as pack:
        write_pack(pack, wanted, base)
        print_answer(answer)
        pack.seek(0)
        print_file(pack)


def unnamed_file() -> BinaryIO:
    """A new file in the repository that has no name any more."""
    path = os.path.join(GIT, f"pack-{os.urandom(8).hex()}")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return os.fdopen(descriptor, "w+b")


def print_file(file: BinaryIO) -> None:
    """Print the rest of a file."""
    while piece := file.read(1 << 20):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def large(order: Json) -> None:
    """Hand over the content of a large file, of which git has a pointer alone."""
    digest = order["digest"]
    path = os.path.join(GIT, "lfs", "objects", digest[:2], digest[2:4], digest)
    with open(path, "rb") as file:
        print_answer({})
        print_file(file)


def write_pack(pack: BinaryIO, wanted: list[str], base: str) -> None:
    """Write a pack of commits without what the base has to a file."""
    revisions = "".join(f"{commit}\n" for commit in [*wanted, f"^{base}"])
    words = ("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "--quiet")
    for pause in PAUSES:
        time.sleep(pause)
        pack.seek(0)
        pack.truncate()
        done = subprocess.run(["git", *SAFE, *words], input=revisions.encode(), stdout=pack)
        if done.returncode == 0:
            return
    raise Failed(f"git pack-objects: exit {done.returncode}")


def autostashes() -> Iterator[str]:
    """Return what an unfinished rebase had stashed."""
    for name in UNFINISHED:
        path = os.path.join(GIT, name, "autostash")
        if os.path.isfile(path):
            with open(path) as file:
                commit = commit_of(file.read(100).strip())
            if commit:
                yield commit


def other_commits(head: str, base: str) -> Iterator[tuple[str, str]]:
    """Return stashes, and commits of branches that neither the head nor the base has."""
    if commit_of("refs/stash"):
        words = ("rev-list", "--walk-reflogs", f"--max-count={MOST_STASHES}", "refs/stash")
        for commit in run(*words).decode().split():
            yield from ((part, "stash") for part in stash_parts(commit))
    known = [f"--no-merged={commit}" for commit in dict.fromkeys((head, base)) if commit]
    branches = ("for-each-ref", f"--count={MOST_REFS}", "--format=%(objectname)", *known)
    for commit in run(*branches, "refs/heads/").decode().split():
        if commit != head:
            yield commit, "branch"


def stash_parts(stash: str) -> list[str]:
    """Return commits that hold all of a stash: one with untracked files has three parents."""
    untracked = commit_of(f"{stash}^3")
    if not untracked:
        return [stash]
    words = ("commit-tree", f"{stash}^{{tree}}", "-p", f"{stash}^1", "-m", "Salvaged by dos: stash")
    return [run(*AS_DOS, *words).decode().strip(), untracked]


def changes() -> tuple[bool, list[Json]]:
    """Return whether a file changed, and the folders that a commit cannot hold, put in order."""
    aside: list[Json] = []
    changed = False
    for entry in records(run(*STATUS, "--ignore-submodules=none")):
        kind, _, rest = entry.partition(b" ")
        if kind == b"?" and rest.endswith(b"/"):
            aside.append({"path": os.fsdecode(rest[:-1]), "kind": "repository"})
        elif kind in SPACES and rest.split(b" ")[1].startswith(b"S"):
            state = rest.split(b" ")[1]
            path = os.fsdecode(entry.split(b" ", SPACES[kind])[-1])
            is_edited = b"M" in state or b"U" in state
            if os.path.lexists(os.path.join(path, GIT)) and (is_edited or is_unpublished(path)):
                stand_alone(path)
                aside.append({"path": path, "kind": "submodule"})
            changed = changed or not is_edited
        else:
            changed = True
    return changed, aside


def is_unpublished(path: str) -> bool:
    """Whether no remote of a submodule has the commit that it is at."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_DIR")}
    own.pop("GIT_WORK_TREE", None)
    words = ("-C", path, "for-each-ref", "--count=1", "--contains", "HEAD", "refs/remotes/")
    done = subprocess.run(["git", *SAFE, *words], capture_output=True, env=own)
    return not done.stdout.strip()


def stand_alone(path: str) -> None:
    """Make a repository of its own of a submodule, so that it can be moved away whole."""
    pointer = os.path.join(path, GIT)
    if not os.path.isfile(pointer):
        return
    with open(pointer) as file:
        target = file.read(4096).removeprefix("gitdir:").strip()
    directory = os.path.join(path, target)
    if not os.path.isdir(directory):
        return
    config = os.path.join(directory, "config")
    run("config", "--file", config, "--unset-all", "core.worktree", answers=(0, 5))
    os.unlink(pointer)
    import shutil

    shutil.move(directory, pointer)


def snapshot(head: str, aside: list[Json], message: str) -> str:
    """Commit every file that is not ignored, on no branch; empty where nothing differs."""
    left_out = [f":(exclude,literal,top){folder['path']}" for folder in aside]
    run("add", "--all", "--", ".", *left_out)
    tree = run("write-tree").decode().strip()
    parents: list[str] = []
    if head:
        if run("rev-parse", f"{head}^{{tree}}").decode().strip() == tree:
            return ""
        parents = ["-p", head]
    return run(*AS_DOS, "commit-tree", tree, *parents, "-m", message).decode().strip()


# Resetting


def reset(order: Json) -> None:
    """Make the repository anew around its files, and bring these to the commit.

    Objects, refs, settings, hooks, excludes and the index of earlier agents are gone afterwards,
    and so are their submodules. Ignored files stay: they are caches.
    """
    clear_submodules()
    if os.path.islink(GIT) or not os.path.isdir(GIT):
        remove(GIT)
        os.mkdir(GIT)
    remove(*(os.path.join(GIT, name) for name in os.listdir(GIT)))
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        os.makedirs(os.path.join(GIT, folder))
    for name, text in order["files"].items():
        path = os.path.join(GIT, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        if name.startswith("hooks/"):
            os.chmod(path, 0o755)
    for entry in os.scandir():
        # Git neither shows nor removes a pipe, and waits for ever for one with a name of its own.
        if not (entry.is_symlink() or entry.is_file() or entry.is_dir()):
            os.unlink(entry.name)
    kept = order["kept"]
    # The index of the last reset: git then reads only files that changed. In one that an agent
    # wrote, files that it changed can be marked as unchanged.
    if order["index"] and os.path.isfile(kept) and copy_index(kept, INDEX) != order["index"]:
        os.unlink(INDEX)
    run("reset", "--quiet", "--hard", order["commit"])
    run("clean", "-fdq")
    print_answer({"index": copy_index(INDEX, kept) if kept else ""})


def copy_index(source: str, target: str) -> str:
    """Copy an index with its time, by which git knows what changed since; return its digest."""
    import hashlib

    with open(source, "rb") as file:
        content = file.read()
    with open(target, "wb") as file:
        file.write(content)
    changed = os.stat(source).st_mtime_ns
    os.utime(target, ns=(changed, changed))
    return hashlib.sha256(content).hexdigest()


def clear_submodules() -> None:
    """Remove the files of submodules: their repositories go with the lane's."""
    if not os.path.isfile(".gitmodules"):
        return
    try:
        entries = records(run("ls-files", "--stage", "-z"))
    except Failed:
        return  # what is left of them is in nobody's way: they are checked out by force
    links = [entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")]
    remove(*(os.fsdecode(path) for path in links))


def mark(_order: Json) -> None:
    """Hide folders that the setup made from git, and return all that it made.

    An agent's `git add --all` would commit `node_modules`.
    """
    made = [os.fsdecode(path) for path in records(run(*UNTRACKED))]
    for path in made:
        if path.endswith("/") and not os.path.lexists(os.path.join(path, GIT)):
            with open(os.path.join(path, ".gitignore"), "w") as file:
                file.write("*\n")
    print_answer({"made": made})


def print_answer(answer: Json) -> None:
    text = json.dumps(answer).encode()
    sys.stdout.buffer.write(f"{len(text):{LENGTH_DIGITS}d}".encode() + text)
    sys.stdout.buffer.flush()


COMMANDS: dict[str, Callable[[Json], None]] = {
    "collect": collect,
    "peek": peek,
    "large": large,
    "reset": reset,
    "mark": mark,
}


def main() -> int:
    """Perform one order; what cannot be done is one line on standard error, and exit code 1."""
    try:
        COMMANDS[sys.argv[1]](json.load(sys.stdin))
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
