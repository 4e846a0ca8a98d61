"""Does a branch contain a commit? Git's own record of it."""

import re

from dos.errors import GitFailed
from dos.git import commits
from dos.git.commits import named_commit as named
from dos.git.repository import Reader
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.world import World

NAME, RUNG = "git", Accountability.OS_RECORDED
HEAD = "HEAD"
SHOWN = 9
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")


def witness(world: World, subject: str) -> EvidenceFacts:
    """`COMMIT` in HEAD, or `COMMIT:BRANCH`."""
    commit, _, target = subject.strip().partition(":")
    target = target or HEAD
    try:
        return _looked_up(world.git, subject, commit, target)
    except GitFailed as error:
        return no_signal(NAME, RUNG, subject, error.message)


def _looked_up(git: Reader, subject: str, commit: str, target: str) -> EvidenceFacts:
    if isinstance(tip := named(git, target), Unknown):
        return no_signal(NAME, RUNG, subject, tip.why)
    if isinstance(sha := named(git, commit), Unknown):
        return no_signal(NAME, RUNG, subject, sha.why)
    if _leads_from(git, commit, target):
        return no_signal(
            NAME, RUNG, subject, f"{target} always contains {commit}: that is no evidence"
        )
    inside = commits.is_ancestor(git, sha, tip)
    if isinstance(inside, Unknown):
        return no_signal(NAME, RUNG, subject, inside.why)
    if inside:
        return attest(NAME, RUNG, subject, f"{target} contains {sha[:SHOWN]}")
    if git.run("rev-parse", "--is-shallow-repository").strip() == "true":
        return no_signal(
            NAME, RUNG, subject, f"{target} does not show {sha[:SHOWN]}, and the clone is shallow"
        )
    return refute(NAME, RUNG, subject, f"{target} does not contain {sha[:SHOWN]}")


def _leads_from(git: Reader, commit: str, target: str) -> bool:
    """A name that is made from the target's own, such as HEAD~2, is in it by its making."""
    if _HASH.fullmatch(commit):
        return False
    start = re.split(r"[~^@{]", commit)[0] or HEAD
    return _full_name(git, start) == _full_name(git, target)


def _full_name(git: Reader, name: str) -> str:
    if git.object_of(name) is None:
        return name
    lines = git.run("rev-parse", "--symbolic-full-name", "--end-of-options", name).split()
    return lines[-1] if lines else name
