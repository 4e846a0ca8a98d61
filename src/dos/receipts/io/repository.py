"""Reads from git what ties a receipt to this repository; nothing here believes the receipt.

A repository is identified by its first commits, which every full clone has and no other repository
shares. A shallow clone does not have them, so there the id is Unknown.
"""

from dos.git.repository import Reader
from dos.receipts.check import RepositoryState
from dos.receipts.receipt import Receipt, repository_digest
from dos.regions import lane_holds, region
from dos.unknown import Unknown

# The last commit that was asked about, and the first commits below it.
_walked = [("", frozenset[str]())]


def repository_id(git: Reader, commit: str) -> str | Unknown:
    """Return the digest of the first commits below a commit; Unknown in a shallow clone."""
    if git.run("rev-parse", "--is-shallow-repository").strip() == "true":
        return Unknown("the clone is shallow, and does not reach back to the first commit")
    return repository_digest(_first_commits(git, commit))


def _first_commits(git: Reader, commit: str) -> frozenset[str]:
    """Return the root commits below a commit, walking only what is new since the last call.

    What lies below a commit never changes; what came on top may join an unrelated history.
    """
    known, roots = _walked[0]
    above = []
    if known and git.is_ancestor(known, commit):
        above.append(f"^{known}")
    else:
        roots = frozenset()
    roots = roots.union(git.run("rev-list", "--max-parents=0", commit, *above).split())
    _walked[0] = commit, roots
    return roots


def tree_of(git: Reader, commit: str) -> str | None:
    """Return the tree of a commit, or None for a commit that is not here."""
    return git.object_of(f"{commit}^{{tree}}")


def read_repository_state(git: Reader, receipt: Receipt) -> RepositoryState:
    """Return what this clone knows of a receipt's commit.

    Only for a receipt whose signature holds: nothing of any other may reach git.
    """
    tree = None
    if git.commit_of(receipt.commit) == receipt.commit:
        tree = tree_of(git, receipt.commit)
    if tree is None:
        return RepositoryState(repo="", tree=None, on_target=False, base_holds=False, strays=())
    return RepositoryState(
        repo=repository_id(git, receipt.commit),
        tree=tree,
        on_target=_on_target(git, receipt),
        base_holds=_base_holds(git, receipt),
        strays=tuple(_strays(git, receipt)),
    )


def survives(git: Reader, base: str, commit: str, branch: str) -> bool:
    """Whether the branch has changed none of the paths that the commit changed since its base.

    Paths are compared, not lines: a later edit of the same file counts as a change.
    """
    return not set(git.paths_between(base, commit)) & set(git.paths_between(commit, branch))


def _on_target(git: Reader, receipt: Receipt) -> bool | Unknown:
    """Whether the target branch holds the commit, here or as a remote had it.

    A clone has the branch from a remote, and may have no branch of that name.
    """
    if not receipt.target:
        return True
    name = receipt.target.removeprefix("refs/heads/")
    candidates = {receipt.target}
    for remote in git.run("remote show").split():
        candidates.add(f"refs/remotes/{remote}/{name}")
    listing = git.run("for-each-ref", "--format=%(refname)", "refs/heads/", "refs/remotes/")
    refs = candidates.intersection(listing.split())
    if not refs:
        return Unknown(f"this clone has no branch {name}")
    return any(git.is_ancestor(receipt.commit, ref) for ref in refs)


def _base_holds(git: Reader, receipt: Receipt) -> bool:
    """Whether the receipt's commits are exactly those from its base to its commit."""
    if not receipt.base:
        return not receipt.commits
    if git.commit_of(receipt.base) != receipt.base:
        return False
    if not git.is_ancestor(receipt.base, receipt.commit):
        return False
    if not receipt.commits:
        return True
    return git.commits_between(receipt.base, receipt.commit) == list(receipt.commits)


def _strays(git: Reader, receipt: Receipt) -> list[str]:
    """Return the changed paths outside the receipt's region."""
    if not (receipt.paths_in_region and receipt.base and git.commit_of(receipt.base)):
        return []
    lane = region(receipt.region)
    changed = git.paths_between(receipt.base, receipt.commit)
    return [path for path in changed if not lane_holds(lane, path, receipt.region_root)]
