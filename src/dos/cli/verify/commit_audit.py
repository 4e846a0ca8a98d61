"""Check that commits do what their subjects say.

A subject that claims a change of code needs one, a claim about tests needs a test, and no commit
may weaken the tests, whatever its subject says. The kind of change is checked, not whether it is
right.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.audit import audit
from dos.audit.audit import Answer, Limit, Policy, Sweep, Verdict
from dos.audit.io.gather import Auditor
from dos.errors import WorkspaceMissing
from dos.git import changes, files
from dos.git.changes import CommitRange as Asked
from dos.git.objects import Objects
from dos.loop import tokens
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, colour_wanted, stdout_is_utf8

EXITS = {"OK": 0, "ABSTAIN": 0, "CLAIM_UNWITNESSED": 1, "TESTS_WEAKENED": 1, "contract_error": 2}
_MARKS = {
    Answer.OK: ("✓", "+", "witnessed", "32"),
    Answer.ABSTAIN: ("·", "-", "abstain", "2"),
    Answer.CLAIM_UNWITNESSED: ("⚑", "!", "UNWITNESSED", "31"),
    Answer.TESTS_WEAKENED: ("⚑", "!", "TESTS WEAKENED", "31"),
}


class Args(Struct, kw_only=True):
    ref: Annotated[
        str, Option(help="a commit, or a range A..B or A...B", metavar="REF", positional=True)
    ] = "HEAD"
    sweep: Annotated[bool, Option(help="count instead of listing")] = False
    warn_only: Annotated[bool, Option(help="say what is found, and exit 0")] = False
    docs_ok: Annotated[bool, Option(help="let documents stand behind a claim about code")] = False


def run(args: Args, context: Context) -> Reply:
    workspace = context.lenient_world.workspace
    if workspace.common is None:
        raise WorkspaceMissing(
            f"{workspace.tree} is not in a git repository",
            hint="Give --workspace a repository, or cd into one.",
        )
    wanted = changes.parse_range(context.lenient_world.git, args.ref)
    counts, listed = Sweep(), list[Verdict]()
    for verdict in _verdicts(context, wanted, Policy(docs_ok=args.docs_ok)):
        counts.add(verdict)
        if args.sweep:
            continue
        if context.as_json:
            listed.append(verdict)
        else:
            context.print_line(_line(verdict))
    return Reply(
        code=EXITS[Answer.CLAIM_UNWITNESSED] if counts.findings and not args.warn_only else 0,
        text=_text(args, counts),
        data=counts.as_data() if args.sweep else to_builtins(listed) if context.as_json else None,
        stderr=_complaint(args, counts, is_shallow=wanted.is_range and files.is_shallow(workspace)),
        indented=True,
    )


def _verdicts(context: Context, wanted: Asked, policy: Policy) -> Iterator[Verdict]:
    workspace, git = context.lenient_world.workspace, context.lenient_world.git
    assert workspace.common is not None
    cut_off = frozenset(files.read_small_file(workspace.common / "shallow").split())
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=wanted.short, cut_off=cut_off)
        for seen in auditor.gather_all(changes.read_commits(git, wanted)):
            yield audit.judge(seen, policy)


def _line(verdict: Verdict) -> str:
    sign, plain, word, tone = _MARKS[verdict.verdict]
    mark = f"{sign if stdout_is_utf8() else plain} {word}"
    line = f"{mark}  {verdict.sha}  [{tokens.words(verdict.witness)}]  {verdict.reason}"
    return f"\x1b[{tone}m{line}\x1b[0m" if colour_wanted() else line


def _text(args: Args, counts: Sweep) -> str:
    if not counts.commits:
        return f"no commits in {args.ref}"
    if not args.sweep:
        return ""  # said line by line
    data = counts.as_data()
    kinds = [
        f"  {kind}: " + ", ".join(f"{n} {name}" for name, n in row.items())
        for kind, row in data["by_kind"].items()
    ]
    head = (
        f"{data['commits']} commits, {data['checkable']} checkable: {data['witnessed']} witnessed, "
        f"{data['unwitnessed']} unwitnessed, {data['tests_weakened']} weaken tests; drift {data['drift_rate']:.1%}"
    )
    return "\n".join([head, *kinds])


def _complaint(args: Args, counts: Sweep, *, is_shallow: bool) -> str:
    data, said = counts.as_data(), []
    if counts.findings and not args.warn_only:
        said.append(
            f"{counts.findings} of {counts.commits} commits: {data['unwitnessed']} unwitnessed, "
            f"{data['tests_weakened']} weaken tests"
        )
    if cut := data["limits"].get(Limit.SHALLOW):
        said.append(
            f"warning: {cut} of them cannot be judged: their parents are not in this shallow clone"
        )
    elif is_shallow:
        said.append(
            "warning: this clone is shallow: commits that it does not have were not looked at"
        )
    if unread := data["limits"].get(Limit.UNREAD):
        said.append(f"warning: {unread} of them changed files that are not in this clone")
    return "\n".join(said)
