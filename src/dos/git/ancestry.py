"""Whether one commit is built on another, and whether history here can be believed: by the commits themselves.

A parent is believed when the raw commit names it. Nothing that lies beside the commits can add one.
"""

from heapq import heappop, heappush

from dos.git.history_cache import cut_off_at
from dos.git.objects import Objects, is_hash
from dos.git.repository import Reader
from dos.workspace import find


def follows(git: Reader, old: str, new: str) -> bool:
    """Whether the commit `new` is `old` or was built on it: to move a branch from one to the other takes nothing away.

    Git's no is a no. Its yes is walked through, commit by commit, the newest first: a landing is a few steps long.
    """
    base, tip = git.commit_of(old), git.commit_of(new)
    if base is None or tip is None or not git.is_ancestor(base, tip):
        return False
    seen, waiting = {tip}, [(0, tip)]
    with Objects(git) as objects:
        while waiting:
            _, name = heappop(waiting)
            if name == base:
                return True
            commit = objects.commit(name)
            for parent in commit.parents if commit else ():
                if parent not in seen:
                    seen.add(parent)
                    heappush(waiting, (-commit.committed if commit else 0, parent))
    return False


def hidden(git: Reader, base: str = "", head: str = "") -> str:
    """Why git does not show all of the history that is here; empty when it does.

    A `shallow` file says which commits have no parents. One that git made itself names commits whose parents are
    not here, and none of what was committed since (`base`..`head`).
    """
    named = [word for word in cut_off_at(find(git.tree)).split() if is_hash(word)]
    if not named:
        return ""
    new = set(git.commits_between(base, head)) if base else set[str]()
    with Objects(git) as objects:
        for name in named:
            commit = objects.commit(name)
            parents = commit.parents if commit else ()
            if parents and (name in new or all(objects.commit(parent) for parent in parents)):
                return (
                    f"git's own file `shallow` was changed: it hides what {name[:9]} was built on"
                )
    return ""
