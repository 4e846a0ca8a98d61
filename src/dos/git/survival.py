"""What became of a commit's work after it: who took it back, where a file went."""

from dos.git import changes, commits, log
from dos.git.objects import Commit, Objects, TreeEntry
from dos.git.repository import Reader

MOST_MOVES = 20


class LaterHistory:
    """What a tip shows of a commit's work. It notes what it is asked: an answer can change with nothing else."""

    def __init__(self, git: Reader, objects: Objects, sha: str, tip: Commit) -> None:
        self._git, self._objects, self._sha, self._tip = git, objects, sha, tip
        self.paths: set[str] = set()  # that were looked at, in the tip and in what leads to it
        self.is_walked = False  # what came after the commit was asked for

    def entry_at(self, path: str) -> TreeEntry | None:
        """What the tip has at a path."""
        self.paths.add(path)
        return self._objects.entry_at(self._tip.tree, path)

    def reverted_by(self) -> str:
        """The commit that says it takes this one back, unless that one was taken back in turn."""
        self.is_walked = True
        return commits.reverted_by(commits.reverts(self._git, self._sha, self._tip.sha), self._sha)

    def last_touching(self, path: str) -> str:
        """The newest commit that touched a path since; else the merge that left it out."""
        self.is_walked = True
        since = self._tip.sha, f"^{self._sha}"
        found = next(log.commit_names(self._git, "-1", *since, path=path), "")
        return found or next(
            log.commit_names(self._git, "--reverse", "--ancestry-path", "--merges", *since), ""
        )

    def moved_to(self, path: str) -> tuple[str, str]:
        """Where a file that is not at its place any more is now; else the newest commit that took it away."""
        self.is_walked = True
        waiting, newest = [(self._sha, path)], ""
        for _ in range(MOST_MOVES):
            if not waiting:
                break
            begin, path = waiting.pop(0)
            for deleted in self._deletions(begin, path):
                newest = newest or deleted
                target = self._move(deleted, path)
                if target and self.entry_at(target):
                    return target, ""
                if target:
                    waiting.append((deleted, target))
        return "", newest

    def touched_by(self, sha: str) -> list[str]:
        """The files that a commit left changed or new."""
        commit = self._objects.commit(sha)
        parent = self._objects.commit(commit.parents[0]) if commit and commit.parents else None
        if commit is None or parent is None:
            return []
        return [
            each.path
            for each in changes.tree_changes(self._objects, parent.tree, commit.tree)
            if each.new_blob
        ]

    def _deletions(self, sha: str, path: str) -> list[str]:
        """Newest first; on the branch itself a merge may have done it."""
        words = ("--diff-filter=D", "--no-renames", f"-{MOST_MOVES}", self._tip.sha, f"^{sha}")
        found = [*log.commit_names(self._git, "--first-parent", "-m", *words, path=path)]
        return list(dict.fromkeys([*found, *log.commit_names(self._git, *words, path=path)]))

    def _move(self, sha: str, path: str) -> str:
        commit = self._objects.commit(sha)
        parent = self._objects.commit(commit.parents[0]) if commit and commit.parents else None
        if commit is None or parent is None:
            return ""
        changed = changes.tree_changes(self._objects, parent.tree, commit.tree)
        return next((each.path for each in changed if each.old_path == path), "")
