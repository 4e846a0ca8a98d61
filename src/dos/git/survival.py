"""What later commits did to the work of a commit: reverts, deletions and moved files."""

from dos.git import changes, commits, log
from dos.git.changes import FileChange
from dos.git.objects import Commit, Objects, TreeEntry
from dos.git.repository import Reader

MOST_MOVES = 20


class LaterHistory:
    """What a tip shows of a commit's work.

    It notes which paths were looked at and whether the history was walked: an answer can change
    only with those, so a cached verdict stays valid while they are the same.
    """

    def __init__(self, git: Reader, objects: Objects, sha: str, tip: Commit) -> None:
        self._git = git
        self._objects = objects
        self._sha = sha
        self._tip = tip
        self.paths: set[str] = set()  # looked at, in the tip and in the commits before it
        self.is_walked = False  # whether the commits after this one were read

    def entry_at(self, path: str) -> TreeEntry | None:
        """Return what the tip has at a path."""
        self.paths.add(path)
        return self._objects.entry_at(self._tip.tree, path)

    def reverted_by(self) -> str:
        """Return the commit that says it reverts this one, unless that was reverted in turn."""
        self.is_walked = True
        reverting = commits.reverts(self._git, self._sha, self._tip.sha)
        return commits.reverted_by(reverting, self._sha)

    def last_touching(self, path: str) -> str:
        """Return the newest later commit that touched a path, else the merge that left it out."""
        self.is_walked = True
        since = (self._tip.sha, f"^{self._sha}")
        touching = next(log.commit_names(self._git, "-1", *since, path=path), "")
        if touching:
            return touching
        merges = ("--reverse", "--ancestry-path", "--merges")
        return next(log.commit_names(self._git, *merges, *since), "")

    def moved_to(self, path: str) -> tuple[str, str]:
        """Return where a file that is gone from its path is now, or the commit that deleted it.

        One of the two is empty. Moves are followed up to `MOST_MOVES` times.
        """
        self.is_walked = True
        waiting = [(self._sha, path)]
        newest = ""
        for _ in range(MOST_MOVES):
            if not waiting:
                break
            begin, path = waiting.pop(0)
            for deletion in self._deletions(begin, path):
                newest = newest or deletion
                target = self._target_of_move(deletion, path)
                if target and self.entry_at(target):
                    return target, ""
                if target:
                    waiting.append((deletion, target))
        return "", newest

    def changed_by(self, sha: str) -> list[FileChange]:
        """Return the files that a commit changed or added."""
        return [change for change in self._changes_of(sha) if change.new_blob]

    def touching(self, path: str) -> list[str]:
        """Return the newest later commits that touched a path, newest first."""
        self.is_walked = True
        words = (f"-{MOST_MOVES}", self._tip.sha, f"^{self._sha}")
        return list(log.commit_names(self._git, *words, path=path))

    def _deletions(self, sha: str, path: str) -> list[str]:
        """Return the later commits that deleted a path, newest first.

        Those on the branch itself come first: there a merge may have done it.
        """
        words = ("--diff-filter=D", "--no-renames", f"-{MOST_MOVES}", self._tip.sha, f"^{sha}")
        on_branch = log.commit_names(self._git, "--first-parent", "-m", *words, path=path)
        anywhere = log.commit_names(self._git, *words, path=path)
        return list(dict.fromkeys([*on_branch, *anywhere]))

    def _target_of_move(self, sha: str, path: str) -> str:
        for change in self._changes_of(sha):
            if change.old_path == path:
                return change.path
        return ""

    def _changes_of(self, sha: str) -> list[FileChange]:
        """Return what a commit changed against its first parent; nothing for a root commit."""
        commit = self._objects.commit(sha)
        if commit is None or not commit.parents:
            return []
        parent = self._objects.commit(commit.parents[0])
        if parent is None:
            return []
        return changes.tree_changes(self._objects, parent.tree, commit.tree)
