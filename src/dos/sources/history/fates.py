"""What became of a commit's work after it: who took it back, where a file went."""

from dos.sources import commits
from dos.sources.git import Git
from dos.sources.history import log, trees
from dos.sources.history.objects import Commit, Objects

MOST_MOVES = 20


def reverted_by(git: Git, sha: str, tip: str) -> str:
    """The commit that says it takes this one back, unless that one was taken back in turn."""
    return commits.reverted_by(commits.reverts(git, sha, tip), sha)


def last_touching(git: Git, sha: str, tip: str, path: str) -> str:
    """The newest commit that touched a path since; else the merge that left it out."""
    found = next(log.names(git, "-1", tip, f"^{sha}", path=path), "")
    return found or next(log.names(git, "--reverse", "--ancestry-path", "--merges", tip, f"^{sha}"), "")


def moved_to(git: Git, objects: Objects, sha: str, tip: Commit, path: str) -> tuple[str, str]:
    """Where a file that is not at its place any more is now; else the newest commit that took it away."""
    waiting, newest = [(sha, path)], ""
    for _ in range(MOST_MOVES):
        if not waiting:
            break
        begin, path = waiting.pop(0)
        for deleted in _deletions(git, begin, tip.sha, path):
            newest = newest or deleted
            target = _move(objects, deleted, path)
            if target and objects.at(tip.tree, target):
                return target, ""
            if target:
                waiting.append((deleted, target))
    return "", newest


def touched_by(objects: Objects, sha: str) -> list[str]:
    """The files that a commit left changed or new."""
    commit = objects.commit(sha)
    parent = objects.commit(commit.parents[0]) if commit and commit.parents else None
    if commit is None or parent is None:
        return []
    return [each.path for each in trees.changes(objects, parent.tree, commit.tree) if each.new_blob]


def _deletions(git: Git, sha: str, tip: str, path: str) -> list[str]:
    """Newest first; on the branch itself a merge may have done it."""
    words = ("--diff-filter=D", "--no-renames", f"-{MOST_MOVES}", tip, f"^{sha}")
    found = [*log.names(git, "--first-parent", "-m", *words, path=path)]
    return list(dict.fromkeys([*found, *log.names(git, *words, path=path)]))


def _move(objects: Objects, sha: str, path: str) -> str:
    commit = objects.commit(sha)
    parent = objects.commit(commit.parents[0]) if commit and commit.parents else None
    if commit is None or parent is None:
        return ""
    return next((each.path for each in trees.changes(objects, parent.tree, commit.tree) if each.old_path == path), "")
