"""What ties a receipt to a repository, read from git anew: nothing here believes the receipt."""

from dos.git.repository import Reader
from dos.receipts.check import RepositoryState
from dos.receipts.receipt import Receipt, repository_digest
from dos.regions import lane_holds, region
from dos.unknown import Unknown

_walked = [
    ("", frozenset[str]())
]  # the commit that was asked about last, and the first commits below it


def repository_id(git: Reader, commit: str) -> str | Unknown:
    """The digest of the first commits below a commit; a clone that is cut off does not know them."""
    if git.run("rev-parse", "--is-shallow-repository").strip() == "true":
        return Unknown("the clone is shallow, and does not reach back to the first commit")
    return repository_digest(_first_commits(git, commit))


def _first_commits(git: Reader, commit: str) -> frozenset[str]:
    """What lies below a commit never changes, so it is walked once; what came on top may be an unrelated history."""
    known, roots = _walked[0]
    if not known or not git.is_ancestor(known, commit):
        known, roots = "", frozenset()
    above = [f"^{known}"] if known else []
    roots = roots.union(git.run("rev-list", "--max-parents=0", commit, *above).split())
    _walked[0] = commit, roots
    return roots


def tree_of(git: Reader, commit: str) -> str | None:
    return git.object_of(f"{commit}^{{tree}}")


def read_repository_state(git: Reader, receipt: Receipt) -> RepositoryState:
    """For a receipt whose signature holds: of any other, nothing is handed to git."""
    tree = tree_of(git, receipt.commit) if git.commit_of(receipt.commit) == receipt.commit else None
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
    """Nothing that was changed from the base to the commit has been changed again on the branch."""
    return not set(git.paths_between(base, commit)) & set(git.paths_between(commit, branch))


def _on_target(git: Reader, receipt: Receipt) -> bool | Unknown:
    """Here, or as one of the remotes had it: whoever clones has the branch from there."""
    if not receipt.target:
        return True
    name = receipt.target.removeprefix("refs/heads/")
    meant = {
        receipt.target,
        *(f"refs/remotes/{remote}/{name}" for remote in git.run("remote show").split()),
    }
    places = meant.intersection(
        git.run("for-each-ref", "--format=%(refname)", "refs/heads/", "refs/remotes/").split()
    )
    if not places:
        return Unknown(f"this clone has no branch {name}")
    return any(git.is_ancestor(receipt.commit, ref) for ref in places)


def _base_holds(git: Reader, receipt: Receipt) -> bool:
    if not receipt.base:
        return not receipt.commits
    if git.commit_of(receipt.base) != receipt.base or not git.is_ancestor(
        receipt.base, receipt.commit
    ):
        return False
    return not receipt.commits or git.commits_between(receipt.base, receipt.commit) == list(
        receipt.commits
    )


def _strays(git: Reader, receipt: Receipt) -> list[str]:
    if not (receipt.paths_in_region and receipt.base and git.commit_of(receipt.base)):
        return []
    lane = region(receipt.region)
    changed = git.paths_between(receipt.base, receipt.commit)
    return [path for path in changed if not lane_holds(lane, path, receipt.region_root)]
