"""Check that commits do what their subjects say.

A subject that claims a change of code needs one, a claim about tests needs a test, and no commit
may weaken the tests, whatever its subject says. The kind of change is checked, not whether it is
right.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.audit import audit
from dos.audit.audit import Answer, Limit, Policy, Sweep, Verdict
from dos.audit.io.gather import Auditor
from dos.errors import WorkspaceMissing
from dos.git import changes, files
from dos.git.changes import CommitRange
from dos.git.objects import Objects
from dos.loop import tokens
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, colour_wanted, stdout_is_utf8

EXITS = {"OK": 0, "ABSTAIN": 0, "CLAIM_UNWITNESSED": 1, "TESTS_WEAKENED": 1, "contract_error": 2}
# Each answer as a line begins with it: a sign, the same in ASCII, a word, and the colour's code.
_MARKS = {
    Answer.OK: ("✓", "+", "witnessed", "32"),
    Answer.ABSTAIN: ("·", "-", "abstain", "2"),
    Answer.CLAIM_UNWITNESSED: ("⚑", "!", "UNWITNESSED", "31"),
    Answer.TESTS_WEAKENED: ("⚑", "!", "TESTS WEAKENED", "31"),
}


class Args(Struct, kw_only=True):
    """The commits, and how to report them."""

    ref: Annotated[
        str, Option(help="commit, or range A..B or A...B", metavar="REF", positional=True)
    ] = "HEAD"
    sweep: Annotated[bool, Option(help="count instead of listing")] = False
    warn_only: Annotated[bool, Option(help="report findings, and exit 0")] = False
    docs_ok: Annotated[bool, Option(help="let documents back a claim about code")] = False


def run(args: Args, context: Context) -> Reply:
    """Judge each commit and print a line for it at once; a long range shows its progress so.

    The exit code is 1 if a commit claims what it did not do or weakens tests, unless --warn-only.
    Raises WorkspaceMissing outside a repository, and BadInput for a range that git does not know.
    """
    workspace = context.lenient_world.workspace
    if workspace.common is None:
        raise WorkspaceMissing(
            f"{workspace.tree} is not in a git repository",
            hint="Give --workspace a repository, or cd into one.",
        )
    commit_range = changes.parse_range(context.lenient_world.git, args.ref)
    counts = Sweep()
    verdicts: list[Verdict] = []
    for verdict in _verdicts(context, commit_range, Policy(docs_ok=args.docs_ok)):
        counts.add(verdict)
        if args.sweep:
            continue
        if context.as_json:
            verdicts.append(verdict)
        else:
            context.print_line(_line(verdict))
    data: Any = None
    if args.sweep:
        data = counts.as_data()
    elif context.as_json:
        data = to_builtins(verdicts)
    code = 0
    if counts.findings and not args.warn_only:
        code = EXITS[Answer.CLAIM_UNWITNESSED]
    is_shallow = commit_range.is_range and files.is_shallow(workspace)
    return Reply(
        code=code,
        text=_text(args, counts),
        data=data,
        stderr=_warnings(args, counts, is_shallow=is_shallow),
        indented=True,
    )


def _verdicts(context: Context, commit_range: CommitRange, policy: Policy) -> Iterator[Verdict]:
    """Yield the verdict on each commit of the range.

    The commits at which a shallow clone ends have no parent to compare with: the auditor is told
    which they are, so that it abstains on them.
    """
    workspace = context.lenient_world.workspace
    git = context.lenient_world.git
    assert workspace.common is not None
    cut_off = frozenset(files.read_small_file(workspace.common / "shallow").split())
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=commit_range.short, cut_off=cut_off)
        for evidence in auditor.gather_all(changes.read_commits(git, commit_range)):
            yield audit.judge(evidence, policy)


def _line(verdict: Verdict) -> str:
    """Return one commit's line, coloured where stdout is a terminal that shows colours."""
    sign, ascii_sign, word, colour = _MARKS[verdict.verdict]
    if not stdout_is_utf8():
        sign = ascii_sign
    witness = tokens.words(verdict.witness)
    line = f"{sign} {word}  {verdict.sha}  [{witness}]  {verdict.reason}"
    if not colour_wanted():
        return line
    return f"\x1b[{colour}m{line}\x1b[0m"


def _text(args: Args, counts: Sweep) -> str:
    """Return what is printed after the lines: the counts of --sweep, or that nothing was found."""
    if not counts.commits:
        return f"no commits in {args.ref}"
    if not args.sweep:
        return ""  # printed line by line
    data = counts.as_data()
    lines = [
        (
            f"{data['commits']} commits, {data['checkable']} checkable: "
            f"{data['witnessed']} witnessed, "
            f"{data['unwitnessed']} unwitnessed, {data['tests_weakened']} weaken tests; "
            f"drift {data['drift_rate']:.1%}"
        )
    ]
    for kind, row in data["by_kind"].items():
        counted = ", ".join(f"{count} {name}" for name, count in row.items())
        lines.append(f"  {kind}: {counted}")
    return "\n".join(lines)


def _warnings(args: Args, counts: Sweep, *, is_shallow: bool) -> str:
    """Return what stderr shows: the findings, and which commits could not be judged."""
    data = counts.as_data()
    lines = []
    if counts.findings and not args.warn_only:
        lines.append(
            f"{counts.findings} of {counts.commits} commits: {data['unwitnessed']} unwitnessed, "
            f"{data['tests_weakened']} weaken tests"
        )
    cut_off = data["limits"].get(Limit.SHALLOW)
    if cut_off:
        lines.append(
            f"warning: {cut_off} of them cannot be judged: "
            "their parents are not in this shallow clone"
        )
    elif is_shallow:
        lines.append("warning: this clone is shallow: commits that it lacks were not checked")
    unread = data["limits"].get(Limit.UNREAD)
    if unread:
        lines.append(f"warning: {unread} of them changed files that are not in this clone")
    return "\n".join(lines)
