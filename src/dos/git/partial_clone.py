"""Partial clones: git fetches what they lack when it is needed, a lane cannot.

So everything that a lane starts with is fetched before.
"""

from dos.errors import NotReady
from dos.git.process import ReadCommand
from dos.git.repository import Reader, Writer
from dos.text import plural

_SETTING = r"^remote\..*\.promisor$"
_LISTING: ReadCommand = "rev-list"
# As git itself fetches what is missing: exactly these objects, and no ref.
_FETCH = (
    "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
    "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no",
    "--filter=blob:none", "--stdin",
)  # fmt: skip
MOST_ROUNDS = 100  # a fetch of folders may show that others are missing


def promisor_remotes(git: Reader) -> list[str]:
    """Return the remotes that a partial clone gets missing objects from; none in other clones."""
    remotes = []
    for entry in git.attempt("config --get-regexp", "--null", "--bool", _SETTING).stdout.split(
        "\0"
    ):
        name, _, value = entry.partition("\n")
        if value == "true":
            remotes.append(name.removeprefix("remote.").removesuffix(".promisor"))
    return remotes


def missing_objects(git: Reader, commit: str) -> list[str]:
    """Return the files and folders of a commit that are not in the repository, as far as known.

    What is in a folder that is missing is not known.
    """
    words = ("--objects", "--no-walk", "--missing=print", commit, "--")
    lines = git.run(_LISTING, *words).splitlines()
    return [line[1:] for line in lines if line.startswith("?")]


def fetch_missing(git: Writer, commit: str) -> None:
    """Fetch what a partial clone lacks of a commit; raises NotReady where it cannot be had."""
    remotes = promisor_remotes(git)
    if not remotes:
        return
    problem = ""
    for _ in range(MOST_ROUNDS):
        missing = missing_objects(git, commit)
        if not missing:
            return
        problem = _fetch(git, remotes, missing)
        if problem:
            break
    hint = f"Try: git -C {git.tree} {complete_command(remotes[0])}"
    what = f"this partial clone lacks {plural(len(missing), 'object')} of {commit[:9]}"
    raise NotReady(f"{what}: {problem}. {hint}", hint=hint)


def complete_command(remote: str) -> str:
    """Return the git command that makes a partial clone a complete one."""
    return f"fetch --refetch --no-filter {remote}"


def _fetch(git: Writer, remotes: list[str], objects: list[str]) -> str:
    """Fetch objects from the first remote that has them; return why none does, or empty."""
    problem = ""
    for remote in remotes:
        feed = "".join(f"{name}\n" for name in objects)
        done = git.attempt(*_FETCH, remote, feed=feed)
        if done.returncode == 0:
            return ""
        lines = done.stderr.strip().splitlines() or ["git gave no reason"]
        problem = f"{remote} cannot be reached: {lines[0].removeprefix('fatal: ')}"
    return problem
