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
from dos.regions import region
from dos.runs import resume
from dos.runs.io import resume as evidence
from dos.text import quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"begun": 0, "refused": 1, "contract_error": 2, "lock-busy": 4}


class Args(Struct, kw_only=True):
    goal: Annotated[str, Option(help="what it is for, in a sentence", metavar="TEXT")] = ""
    plan: Annotated[str, Option(help="the plan it works on", metavar="PLAN")] = ""
    phase: Annotated[str, Option(help="and the part of it", metavar="PHASE")] = ""
    step: Annotated[
        list[str], Option(help="a step, in order; can be repeated", metavar="STEP", repeatable=True)
    ] = []
    region: Annotated[
        list[str],
        Option(
            help="what the commit of a step has to touch; can be repeated",
            metavar="STEP=GLOB",
            repeatable=True,
        ),
    ] = []
    lane: Annotated[
        str, Option(help="the lane whose files are the run's alone", metavar="LANE")
    ] = ""
    start_sha: Annotated[
        str, Option(help="the commit before the first step (HEAD)", metavar="REF")
    ] = ""
    run_id: Annotated[str, Option(help="the run; made up when not given", metavar="RID")] = ""
    resumes: Annotated[str, Option(help="go on with what this run left to do", metavar="RID")] = ""
    approve: Annotated[
        str, Option(help="who allows to do less, or to go on over others' work", metavar="WHO")
    ] = ""
    fence: Annotated[
        int | None, Option(help="with --resumes: the lease that you hold", metavar="N")
    ] = None


def run(args: Args, context: Context) -> Reply:
    if args.run_id:
        run_ids.validated_run_id(args.run_id)
    if args.approve:
        validated_name(args.approve, "name of who approves")
    intent = _successor(args, context) if args.resumes else _declared(args, context)
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


# A run of its own


def _declared(args: Args, context: Context) -> IntentDeclared:
    if args.fence is not None:
        raise BadInput(
            "--fence says under which lease another run is gone on with", hint="Add --resumes RID."
        )
    intent = _intent(args, context)
    if not args.run_id:
        _check_not_empty(intent)
        parent = caller.run_id("")
        minted = _minted(
            args.lane,
            parent,
            run_state.read(context.world.journal, parent).root_id if parent else "",
        )
        intent = structs.replace(
            intent, run_id=minted.run_id, start_sha=intent.start_sha or _head(context)
        )
        context.journal.append_all(run_state.entries(minted.run_id, [minted, intent], at_version=0))
        return intent
    known = run_state.read(context.world.journal, args.run_id)
    if not (known.start_sha or intent.start_sha):
        intent = structs.replace(intent, start_sha=_head(context))
    _again(known, intent, args)  # what is wrong is said before a journal is made
    fence = lookup.own_fence(args.run_id)
    before = run_state.change(
        context.journal, args.run_id, lambda run: _again(run, intent, args), fence=fence
    )
    return _whole(before, intent)


def _intent(args: Args, context: Context) -> IntentDeclared:
    lane = ""
    if args.lane:
        validated_name(args.lane, "lane name")
        lane = context.policy.canonical_lane(args.lane) or ""
        if not lane:
            known = ", ".join(context.policy.known_lanes())
            raise BadInput(
                f"there is no lane {quote(args.lane)}; the lanes are {known}",
                hint="`dos man lane` lists them.",
            )
    steps = [validated_name(step, "step") for step in args.step]
    if twice := next((step for place, step in enumerate(steps) if step in steps[:place]), None):
        raise BadInput(
            f"the step {quote(twice)} is named twice", hint="Name each step once, in order."
        )
    return IntentDeclared(
        run_id=args.run_id,
        goal=lookup.validated_text(args.goal, "goal"),
        plan=lookup.validated_text(args.plan, "plan"),
        phase=lookup.validated_text(args.phase, "phase"),
        lane=lane,
        start_sha=lookup.commit_hash(context, args.start_sha) if args.start_sha else "",
        steps=steps,
        regions=_regions(args.region, steps),
    )


def _check_not_empty(intent: IntentDeclared) -> None:
    if not (intent.goal or intent.plan or intent.steps):
        raise BadInput(
            "the run has neither a goal nor a plan nor steps",
            hint='For example: dos run begin --goal "ship it" --step s1 --step s2',
        )


def _regions(given: Sequence[str], steps: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in given:
        step = max((step for step in steps if text.startswith(f"{step}=")), key=len, default=None)
        if step is None:
            raise BadInput(
                f"--region {quote(text)} names none of the steps",
                hint="Write it as STEP=GLOB, with a --step STEP.",
            )
        found.setdefault(step, []).append(text.removeprefix(f"{step}="))
    for globs in found.values():
        region(globs)
    return found


def _again(run: RunState, intent: IntentDeclared, args: Args) -> list[Fact]:
    """What declaring writes, given what was declared before."""
    if not run.has_intent:
        _check_not_empty(intent)
    if run.successor:
        lookup.check_open(args.run_id, run)
    if run.start_sha and args.start_sha:
        raise BadInput(
            f"{args.run_id} began at {run.start_sha[:9]} already, and that stays",
            hint="Leave --start-sha out.",
        )
    less = [step for step in run.steps if intent.steps and step not in intent.steps]
    other = [
        step
        for step in intent.regions
        if step in run.steps and intent.regions[step] != run.regions.get(step, [])
    ]
    if (less or other) and not args.approve:
        what = (
            f"leaves out {', '.join(less)}"
            if less
            else f"changes what {', '.join(other)} has to touch"
        )
        raise Refused(
            f"this {what}, as {args.run_id} declared before",
            hint="Say who allows it: --approve NAME.",
        )
    if less or other:
        kept = {step: globs for step, globs in run.regions.items() if step in intent.steps}
        extent = ExtentChanged(
            run_id=args.run_id,
            steps=intent.steps,
            regions=kept | intent.regions,
            approved_by=args.approve,
        )
        return [extent, structs.replace(intent, steps=[], regions={})]
    return [intent]


def _whole(before: RunState, intent: IntentDeclared) -> IntentDeclared:
    """All that is declared now."""
    return structs.replace(
        intent,
        goal=intent.goal or before.goal,
        plan=intent.plan or before.plan,
        phase=intent.phase or before.phase,
        lane=intent.lane or before.lane,
        start_sha=before.start_sha or intent.start_sha,
        steps=intent.steps or before.steps,
    )


# A run that goes on with another's work


def _successor(args: Args, context: Context) -> IntentDeclared:
    if (
        args.goal
        or args.plan
        or args.phase
        or args.step
        or args.region
        or args.lane
        or args.start_sha
    ):
        raise BadInput(
            "a run that goes on has the goal and the steps that are left",
            hint="Give only --resumes RID.",
        )
    before = run_ids.validated_run_id(args.resumes)
    left = lookup.open_run(context, before)
    minted = _minted(left.lane, before, left.root_id)
    successor = args.run_id or minted.run_id
    while True:
        left = lookup.check_open(before, run_state.read(context.journal, before))
        new = run_state.read(context.journal, successor)
        if new.has_intent:
            raise Refused(
                f"{successor} has work of its own",
                hint="Leave --run-id out, and a new run is made up.",
            )
        resumed, intent = _claim(args, context, left, successor)
        facts = [intent] if new.version else [structs.replace(minted, run_id=successor), intent]
        entries = run_state.entries(before, [resumed], at_version=left.version, fence=args.fence)
        entries += run_state.entries(successor, facts, at_version=new.version)
        try:
            context.journal.append_all(entries)
        except Conflict:
            continue  # somebody wrote of the run meanwhile: perhaps that it is gone on with
        return intent


def _claim(
    args: Args, context: Context, left: RunState, successor: str
) -> tuple[RunResumed, IntentDeclared]:
    before = args.resumes
    for lease in context.journal.leases(lapsed=False):
        if lease.run_id == before:
            raise Refused(
                f"{before} still holds lane {lease.lane!r} under fence {lease.fence}",
                hint="Let it end, or `dos lease-lane reap` when it is dead.",
            )
    verdict = resume.judge(evidence.gather(context.world, context.journal, before, left))
    allowed = verdict.answer is resume.Answer.RESUMABLE
    if not allowed and not (args.approve and verdict.answer is resume.Answer.DIVERGED):
        hint = f"Look at it; then `dos run begin --resumes {before} --approve NAME`."
        raise Refused(
            f"{before} is {verdict.answer}: {verdict.reason}",
            hint=hint
            if verdict.answer is resume.Answer.DIVERGED
            else f"`dos resume --run-id {before}` says more.",
        )
    resumed = RunResumed(
        run_id=before,
        successor=successor,
        fence=args.fence,
        approved_by="" if allowed else args.approve,
    )
    steps = list(verdict.residual) if left.steps else []
    intent = IntentDeclared(
        run_id=successor,
        goal=left.goal,
        plan=left.plan,
        phase=left.phase,
        lane=left.lane,
        start_sha=lookup.commit_hash(context, verdict.resume_sha or "HEAD"),
        steps=steps,
        regions={step: globs for step, globs in left.regions.items() if step in steps},
        resumes=before,
    )
    return resumed, intent


def _minted(lane: str, parent: str, root: str = "") -> RunMinted:
    now_ms = time.time_ns() // 1_000_000
    made = run_ids.mint(
        now_ms,
        randbits(run_ids.ENTROPY_BITS),
        lane or "run",
        parent=parent or None,
        root=root or parent or None,
    )
    return RunMinted(**structs.asdict(made))


def _head(context: Context) -> str:
    return lookup.commit_hash(context, "HEAD")
