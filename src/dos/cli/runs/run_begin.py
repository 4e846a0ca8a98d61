"""Declare the goal and the steps of a run before it starts.

Without --run-id a new run id is generated. Called again for the same run, it adds steps and ends a
suspension; removing a step, or changing what it has to touch, needs --approve. With --resumes the
new run continues the work of another run; of all runs that try, only one succeeds.
"""

import time
from collections.abc import Sequence
from secrets import randbits
from typing import Annotated

from msgspec import Struct, structs

from dos import run_ids
from dos.cli.lanes import caller
from dos.cli.runs import lookup
from dos.errors import BadInput, Conflict, Refused
from dos.journal import run_state
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import RunMinted
from dos.journal.events.runs import ExtentChanged, IntentDeclared, RunResumed
from dos.journal.run_state import RunState
from dos.lanes.io.parts import config_for
from dos.regions import region
from dos.runs import resume
from dos.runs.io.evidence import gather_resume
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"begun": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    """What the run declares, or the run that it resumes."""

    goal: Annotated[str, Option(help="goal of the run, one sentence", metavar="TEXT")] = ""
    plan: Annotated[str, Option(help="plan that it works on", metavar="PLAN")] = ""
    phase: Annotated[str, Option(help="phase of the plan", metavar="PHASE")] = ""
    step: Annotated[
        list[str], Option(help="step, in order; can be repeated", metavar="STEP", repeatable=True)
    ] = []
    region: Annotated[
        list[str],
        Option(
            help="paths that the step's commit has to touch; can be repeated",
            metavar="STEP=GLOB",
            repeatable=True,
        ),
    ] = []
    lane: Annotated[str, Option(help="lane whose files only this run changes", metavar="LANE")] = ""
    start_sha: Annotated[str, Option(help="commit before the first step (HEAD)", metavar="REF")] = (
        ""
    )
    run_id: Annotated[str, Option(help="run id (default: a new one)", metavar="RID")] = ""
    resumes: Annotated[str, Option(help="run whose work to continue", metavar="RID")] = ""
    approve: Annotated[
        str,
        Option(help="who approves fewer steps, or resuming a diverged run", metavar="WHO"),
    ] = ""
    fence: Annotated[
        int | None, Option(help="with --resumes: fence of the lease you hold", metavar="N")
    ] = None


def run(args: Args, context: Context) -> Reply:
    """Declare the work of a new or an existing run, or of the successor of a run.

    The text is the run id alone, so that scripts can use it.
    """
    if args.run_id:
        run_ids.validated_run_id(args.run_id)
    if args.approve:
        validated_name(args.approve, "name of who approves")
    if args.resumes:
        intent = _resume(args, context)
    else:
        intent = _declare(args, context)
    data = {
        "run_id": intent.run_id,
        "goal": intent.goal,
        "plan": intent.plan,
        "phase": intent.phase,
        "lane": intent.lane,
        "start_sha": intent.start_sha,
        "declared_steps": intent.steps,
        "resumes": intent.resumes or None,
    }
    return Reply(
        text=intent.run_id,
        data=data,
        next_action=f"dos run claim {intent.run_id} STEP, then verify it.",
    )


# A run that declares its own work


def _declare(args: Args, context: Context) -> IntentDeclared:
    """Declare the run's own work, or add to what it declared before."""
    if args.fence is not None:
        raise BadInput(
            "--fence names the lease of a run that is resumed", hint="Add --resumes RID."
        )
    intent = _intent(args, context)
    if not args.run_id:
        return _declare_new_run(args, context, intent)
    state = run_state.read(context.world.journal, args.run_id)
    if not (state.start_sha or intent.start_sha):
        intent = structs.replace(intent, start_sha=_head(context))
    # Mistakes are reported before a journal is created for them.
    _declaration_facts(state, intent, args)
    before = run_state.change(
        context.journal,
        args.run_id,
        lambda run: _declaration_facts(run, intent, args),
        fence=lookup.own_fence(args.run_id),
    )
    return _merged(before, intent)


def _declare_new_run(args: Args, context: Context, intent: IntentDeclared) -> IntentDeclared:
    """Mint a run and declare its work in one transaction.

    A run that the launcher exported in the environment becomes its parent.
    """
    _check_not_empty(intent)
    parent = caller.run_id("")
    root = ""
    if parent:
        root = run_state.read(context.world.journal, parent).root_id
    minted = _mint(args.lane, parent, root)
    start_sha = intent.start_sha or _head(context)
    intent = structs.replace(intent, run_id=minted.run_id, start_sha=start_sha)
    context.journal.append_all(run_state.entries(minted.run_id, [minted, intent], at_version=0))
    return intent


def _intent(args: Args, context: Context) -> IntentDeclared:
    """Return the event for what the options declare; raises BadInput for a step named twice."""
    steps = [validated_name(step, "step") for step in args.step]
    for index, step in enumerate(steps):
        if step in steps[:index]:
            raise BadInput(
                f"the step {quote(step)} is named twice", hint="Name each step once, in order."
            )
    return IntentDeclared(
        run_id=args.run_id,
        goal=lookup.validated_text(args.goal, "goal"),
        plan=lookup.validated_text(args.plan, "plan"),
        phase=lookup.validated_text(args.phase, "phase"),
        lane=_declared_lane(args, context),
        start_sha=lookup.optional_commit_hash(context, args.start_sha),
        steps=steps,
        regions=_regions(args.region, steps),
    )


def _declared_lane(args: Args, context: Context) -> str:
    """Return the lane as dos.toml declares it; raises BadInput for a lane that it does not."""
    if not args.lane:
        return ""
    validated_name(args.lane, "lane name")
    lane = config_for(context.policy_world, args.lane).canonical_lane(args.lane)
    if lane:
        return lane
    known = ", ".join(context.policy.known_lanes())
    raise BadInput(
        f"there is no lane {quote(args.lane)}; the lanes are {known}",
        hint="`dos man lane` lists them.",
    )


def _check_not_empty(intent: IntentDeclared) -> None:
    """Raise BadInput for a declaration without any work, which could never be verified."""
    if not (intent.goal or intent.plan or intent.steps):
        raise BadInput(
            "the run has neither a goal nor a plan nor steps",
            hint='For example: dos run begin --goal "ship it" --step s1 --step s2',
        )


def _regions(options: Sequence[str], steps: Sequence[str]) -> dict[str, list[str]]:
    """Parse STEP=GLOB options. A step may contain "=", so the longest step that fits is meant."""
    globs_by_step: dict[str, list[str]] = {}
    for text in options:
        matches = [step for step in steps if text.startswith(f"{step}=")]
        if not matches:
            raise BadInput(
                f"--region {quote(text)} names none of the steps",
                hint="Write it as STEP=GLOB, with a --step STEP.",
            )
        step = max(matches, key=len)
        globs_by_step.setdefault(step, []).append(text.removeprefix(f"{step}="))
    for globs in globs_by_step.values():
        region(globs)  # raises BadInput for a glob that cannot be one
    return globs_by_step


def _declaration_facts(run: RunState, intent: IntentDeclared, args: Args) -> list[Fact]:
    """Return the events that this declaration adds to what the run declared before.

    Steps can be added at any time. To remove one, or to change what it has to touch, takes an
    approval, because a run could otherwise declare less until it counts as complete.
    """
    if not run.has_intent:
        _check_not_empty(intent)
    if run.successor:
        lookup.check_open(args.run_id, run)
    if run.start_sha and args.start_sha:
        raise BadInput(
            f"{args.run_id} already began at {run.start_sha[:9]}, which cannot change",
            hint="Leave --start-sha out.",
        )
    removed = [step for step in run.steps if intent.steps and step not in intent.steps]
    changed = [
        step
        for step, globs in intent.regions.items()
        if step in run.steps and globs != run.regions.get(step, [])
    ]
    if not removed and not changed:
        return [intent]
    if not args.approve:
        what = f"changes what {', '.join(changed)} has to touch"
        if removed:
            what = f"removes {', '.join(removed)}"
        raise Refused(
            f"this {what}, which {args.run_id} declared before",
            hint="Say who approves it: --approve NAME.",
        )
    kept = {step: globs for step, globs in run.regions.items() if step in intent.steps}
    extent = ExtentChanged(
        run_id=args.run_id,
        steps=intent.steps,
        regions=kept | intent.regions,
        approved_by=args.approve,
    )
    return [extent, structs.replace(intent, steps=[], regions={})]


def _merged(before: RunState, intent: IntentDeclared) -> IntentDeclared:
    """Return all that the run has declared so far: what is new replaces what was declared before.

    Only the commit that the run began at stays as it was first declared.
    """
    return structs.replace(
        intent,
        goal=intent.goal or before.goal,
        plan=intent.plan or before.plan,
        phase=intent.phase or before.phase,
        lane=intent.lane or before.lane,
        start_sha=before.start_sha or intent.start_sha,
        steps=intent.steps or before.steps,
    )


# A run that resumes another


def _resume(args: Args, context: Context) -> IntentDeclared:
    """Declare the successor of a run.

    Both streams are written in one transaction: of all successors that try, one is recorded.
    """
    own_work = (args.goal, args.plan, args.phase, args.step, args.region, args.lane, args.start_sha)
    if any(own_work):
        raise BadInput(
            "a run that resumes another takes over its goal and its remaining steps",
            hint="Give only --resumes RID.",
        )
    before = run_ids.validated_run_id(args.resumes)
    predecessor = lookup.open_run(context, before)
    minted = _mint(predecessor.lane, before, predecessor.root_id)
    successor = args.run_id or minted.run_id
    while True:
        predecessor = lookup.check_open(before, run_state.read(context.journal, before))
        new = run_state.read(context.journal, successor)
        if new.has_intent:
            raise Refused(
                f"{successor} has already declared work",
                hint="Leave --run-id out to use a new run id.",
            )
        resumed, intent = _takeover_facts(args, context, predecessor, successor)
        facts: list[Fact] = [intent]
        if not new.version:
            facts = [structs.replace(minted, run_id=successor), intent]
        entries = run_state.entries(
            before, [resumed], at_version=predecessor.version, fence=args.fence
        )
        entries += run_state.entries(successor, facts, at_version=new.version)
        try:
            context.journal.append_all(entries)
        except Conflict:
            continue  # the predecessor changed meanwhile; another run may have resumed it
        return intent


def _takeover_facts(
    args: Args, context: Context, predecessor: RunState, successor: str
) -> tuple[RunResumed, IntentDeclared]:
    """Return the events that hand over the work; raises Refused if the run cannot be resumed.

    The successor gets the steps that are left and the commit to resume from. A run that still
    holds its lane is not resumed: two processes would do the same work.
    """
    before = args.resumes
    for lease in context.journal.leases(lapsed=False):
        if lease.run_id == before:
            raise Refused(
                f"{before} still holds lane {lease.lane!r} under fence {lease.fence}",
                hint="Wait until it ends, or `dos lease-lane reap` if its process has exited.",
            )
    verdict = resume.judge(gather_resume(context.world, context.journal, before, predecessor))
    approved_by = ""
    if verdict.answer is not resume.Answer.RESUMABLE:
        approved_by = _approval(args, verdict)
    resumed = RunResumed(
        run_id=before, successor=successor, fence=args.fence, approved_by=approved_by
    )
    steps = list(verdict.residual) if predecessor.steps else []
    intent = IntentDeclared(
        run_id=successor,
        goal=predecessor.goal,
        plan=predecessor.plan,
        phase=predecessor.phase,
        lane=predecessor.lane,
        start_sha=lookup.commit_hash(context, verdict.resume_sha or "HEAD"),
        steps=steps,
        regions={step: globs for step, globs in predecessor.regions.items() if step in steps},
        resumes=before,
    )
    return resumed, intent


def _approval(args: Args, verdict: resume.Verdict) -> str:
    """Return who approved that a diverged run is resumed; raises Refused for any other run."""
    is_diverged = verdict.answer is resume.Answer.DIVERGED
    if is_diverged and args.approve:
        return args.approve
    hint = f"`dos resume --run-id {args.resumes}` shows more."
    if is_diverged:
        hint = f"Look at it; then `dos run begin --resumes {args.resumes} --approve NAME`."
    raise Refused(f"{args.resumes} is {verdict.answer}: {verdict.reason}", hint=hint)


def _mint(lane: str, parent: str, root: str = "") -> RunMinted:
    """Return the event for a new run; its root is the given one, else the parent."""
    now_ms = time.time_ns() // 1_000_000
    identity = run_ids.mint(
        now_ms,
        randbits(run_ids.ENTROPY_BITS),
        lane or "run",
        parent=parent or None,
        root=root or parent or None,
    )
    return RunMinted(**structs.asdict(identity))


def _head(context: Context) -> str:
    """Return the full hash of the commit that is checked out."""
    return lookup.commit_hash(context, "HEAD")
