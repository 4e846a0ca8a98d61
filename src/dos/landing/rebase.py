"""Rebases measured work onto the target branch, and describes the conflict if it fails."""

from dos.errors import GitUnanswered
from dos.fleet.effects import NotLanded, Worktree
from dos.git.repository import AS_DOS, Reader, Writer
from dos.landing.trees.check_tree import CheckTree
from dos.landing.trees.check_trees import CheckTrees
from dos.text import join_some, plural, printable_path, replace_undecodable
from dos.units.unit import Landing

REBASE_TRIES = 3  # of a rebase whose git process died
MOST_LINES = 40
LONGEST_LINE = 160
# The user's configuration must not move other branches, squash commits or reuse old resolutions.
_PLAIN_REBASE = (
    "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false", "-c", "rerere.enabled=false",
)  # fmt: skip
_PLAIN_DIFF = (
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--diff-filter=U",
    "--unified=1",
)
_HEADERS = ("index ", "mode ", "--- ", "+++ ", "new file mode ", "deleted file mode ")


def prepare_landing(
    git: Reader,
    trees: CheckTrees,
    unit: str,
    worktree: Worktree,
    head: str,
    *,
    newest: str | None = "",
) -> Landing | NotLanded:
    """Return the commit to land: the measured head, rebased if the target branch has moved.

    `newest` is the target's commit where the target is a remote branch; the default means the
    branch of this repository, and None that the branch is gone. The rebase is done in a check
    tree, so no agent's files or settings take part in it.
    """
    target = newest
    if newest == "":
        target = git.commit_of(f"refs/heads/{worktree.target}")
    if target is None:
        return NotLanded(reason=f"the target branch {worktree.target!r} no longer exists")
    new = head
    if target != worktree.base:
        with trees.without_setup(head) as tree:
            refused = _rebase(tree, worktree, target, head)
            if refused:
                return refused
            new = tree.git.run("rev-parse", "HEAD").strip()
    return Landing(unit=unit, branch=worktree.target, base=target, commit=new)


def _rebase(tree: CheckTree, worktree: Worktree, target: str, head: str) -> NotLanded | None:
    """Rebase the head onto `target`; None on success, else why it cannot be."""
    inside = tree.git
    for tries_left in reversed(range(REBASE_TRIES)):
        try:
            done = inside.attempt(
                *AS_DOS, *_PLAIN_REBASE, "rebase", "--quiet", "--onto", target, worktree.base
            )
            break
        except GitUnanswered as error:
            # It is unknown how far the rebase came, so start over from the measured head.
            tree.move(head)
            if not tries_left:
                return NotLanded(reason=error.message, retryable=True)
    if done.returncode == 0:
        return None
    conflict = describe_conflict(inside)
    summary = f"it cannot be rebased onto {worktree.target!r}, which has moved to {target[:9]}"
    detail = conflict or _last_line(done.stderr)
    return NotLanded(reason=f"{summary}: {detail}", conflict=bool(conflict))


def describe_conflict(inside: Writer) -> str:
    """Return the files in conflict and the lines that both sides changed, for the next attempt.

    The text is empty when no file is in conflict: then the rebase failed for another reason.
    """
    names = inside.run("diff", "-z", "--name-only", "--diff-filter=U").split("\0")
    files = sorted(set(names) - {""})
    if not files:
        return ""
    listed = join_some([_as_text(printable_path(path)) for path in files])
    summary = f"{plural(len(files), 'file')} in conflict: {listed}"
    lines = []
    for line in inside.run(*_PLAIN_DIFF).split("\n"):
        if line and not line.startswith(_HEADERS):
            lines.append(_as_text(line))
    room = MOST_LINES - 1
    if len(lines) > room:
        omitted = len(lines) - room + 1
        lines = [*lines[: room - 1], f"({omitted} lines more)"]
    return "\n".join([summary, *lines])


def _as_text(line: str) -> str:
    """Return the line as valid text of bounded length: the journal stores only text."""
    text = replace_undecodable(line)
    if len(text) <= LONGEST_LINE:
        return text
    return text[: LONGEST_LINE - 1] + "…"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines() or ["no reason given"]
    return lines[-1]
