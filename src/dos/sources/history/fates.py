"""What became of a commit's work after it: who took it back, where a file went."""

import re

from dos.sources.git import Git
from dos.sources.history import log, trees
from dos.sources.history.objects import Objects

_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
MOST_MOVES = 20


def reverted_by(git: Git, sha: str, tip: str) -> str:
    """The commit that says it takes this one back, unless that one was taken back in turn."""
    standing: dict[str, str] = {}
    found = log.records(git, "--topo-order", "-F", "--grep=This reverts commit", tip, f"^{sha}")
    for record in found:  # newest first: whoever reverts a commit has been seen before it
        if not _named(standing, record.sha):
            standing |= {each: record.sha for each in _REVERTED.findall(record.message) if each not in standing}
    return _named(standing, sha)


def last_touching(git: Git, sha: str, tip: str, path: str) -> str:
    """The newest commit that touched a path since; else the merge that left it out."""
    found = next(log.names(git, "-1", tip, f"^{sha}", path=path), "")
    return found or next(log.names(git, "--reverse", "--ancestry-path", "--merges", tip, f"^{sha}"), "")


def moved_to(git: Git, objects: Objects, sha: str, tip: str, path: str) -> tuple[str, str]:
    """Where a file that is not at its place any more is now, and else the commit that took it away."""
    begin = sha
    for _ in range(MOST_MOVES):
        deleted = next(log.names(git, "-1", "--diff-filter=D", "--no-renames", tip, f"^{begin}", path=path), "")
        commit = objects.commit(deleted) if deleted else None
        parent = objects.commit(commit.parents[0]) if commit and commit.parents else None
        if commit is None or parent is None:
            return "", deleted
        moves = {each.old_path: each.path for each in trees.changes(objects, parent.tree, commit.tree) if each.old_path}
        if path not in moves:
            return "", deleted
        path, begin = moves[path], deleted
        here = objects.commit(tip)
        if here and objects.at(here.tree, path):
            return path, ""
    return "", ""


def _named(standing: dict[str, str], sha: str) -> str:
    return next((by for name, by in standing.items() if sha.startswith(name)), "")
