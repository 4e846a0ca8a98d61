"""Show which lane could be granted, given the live leases.

No lease is taken; `dos lease-lane acquire` takes one. If the named lane is not free, a free one is
offered instead; with --exact the request is refused. --force grants the lane despite a refusal and
records that in the journal.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Struct

from dos.errors import BadInput
from dos.journal.events.fleet import DecisionForced
from dos.journal.store import Store
from dos.lanes import admission
from dos.lanes.arbitrate import Answer, ArbiterRequest, Decision, judge
from dos.lanes.io.gather import arbiter_evidence, roster
from dos.lanes.io.parts import config_for
from dos.lanes.preference import LaneCandidate
from dos.lease import Lease
from dos.machine import process
from dos.regions import Mode, region
from dos.text import join_some, quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"acquire": 0, "refuse": 1, "contract_error": 2}
MOST_BUDGET_DIGITS = 9


class Args(Struct, kw_only=True):
    """The request, and the leases and budgets to decide it with."""

    lane: Annotated[str, Option(help="requested lane (default: any)", metavar="LANE")] = ""
    kind: Annotated[
        str,
        Option(
            help="kind of lane: cluster, keyword, global or another",
            metavar="KIND",
            may_be_empty=True,
        ),
    ] = ""
    tree: Annotated[
        list[str], Option(help="paths of a lane that declares none", metavar="GLOB")
    ] = []
    mode: Annotated[
        str,
        Option(help="shared for readers, else exclusive", choices=("shared", "exclusive")),
    ] = "exclusive"
    exact: Annotated[bool, Option(help="offer no other lane")] = False
    force: Annotated[bool, Option(help="grant the lane despite a refusal, and record it")] = False
    leases: Annotated[
        str | None,
        Option(help="live leases to use instead of the journal's; [] for none", metavar="JSON"),
    ] = None
    class_budget: Annotated[
        list[str],
        Option(
            help="at most N live leases of a lane kind; can be repeated",
            metavar="KIND=N",
            repeatable=True,
        ),
    ] = []


def run(args: Args, context: Context) -> Reply:
    """Decide about the request, and record the decision only if --force overruled a refusal."""
    ask = build_request(
        lane=args.lane,
        kind=args.kind,
        tree=args.tree,
        mode=args.mode,
        exact=args.exact,
        force=args.force,
    )
    evidence = arbiter_evidence(
        context.world,
        config_for(context.policy_world, args.lane),
        instead=args.leases,
        budgets=budgets(args.class_budget),
    )
    decision = judge(
        ask, evidence.live, evidence.roster, predicates=evidence.predicates, config=context.policy
    )
    if args.force:
        _record_force(context, decision)
    hint: dict[str, str] = {}
    if decision.exit_code == 1 and args.leases is None:
        hint = reap_hint(blocking_leases(context, context.world.journal, ask))
    return Reply(
        code=decision.exit_code,
        data=decision.to_json() | hint,
        plain=sentence(decision),
        stderr=warning_text(decision, hint),
        next_action=interpretation(decision, hint),
        always_json=True,
    )


def _record_force(context: Context, decision: Decision) -> None:
    """Record a grant that --force made over a refusal, before the reply is printed."""
    overruled = decision.outcome is Answer.ACQUIRE and decision.reason_class
    if not overruled or decision.auto_picked:
        return
    forced = DecisionForced(
        lane=decision.lane,
        reason_class=decision.reason_class,
        reason=decision.reason,
        host=process.host(),
    )
    context.journal.record("decisions", forced)


def build_request(
    *, lane: str, kind: str, tree: list[str], mode: str, exact: bool = False, force: bool = False
) -> ArbiterRequest:
    """Return the request for the arbiter; raises BadInput for a name that cannot be one."""
    if lane:
        validated_name(lane, "lane name")
    if kind:
        validated_name(kind, "lane kind")
    return ArbiterRequest(
        lane=lane, kind=kind, tree=tuple(tree), mode=Mode(mode.upper()), exact=exact, force=force
    )


def budgets(options: list[str]) -> dict[str, int]:
    """Parse KIND=N options. KIND=0 is left out: it sets no cap and lifts no configured one."""
    caps: dict[str, int] = {}
    for text in options:
        kind, equals, digits = text.rpartition("=")
        is_number = digits.strip().isdecimal() and len(digits) <= MOST_BUDGET_DIGITS
        if not equals or not kind.strip() or not is_number:
            raise BadInput(
                f"--class-budget {quote(text)} is not KIND=N",
                hint="For example: --class-budget cluster=2",
            )
        if int(digits):
            caps[validated_name(kind.strip(), "lane kind")] = int(digits)
    return caps


def blocking_leases(context: Context, journal: Store, ask: ArbiterRequest) -> list[Lease]:
    """Return the live leases that block the named lane; all of them if no lane is named."""
    live = journal.leases(lapsed=False)
    if not ask.lane:
        return live
    lanes = roster(context.world, config_for(context.policy_world, ask.lane))
    lane = lanes.canonical(ask.lane) or ask.lane
    candidate = LaneCandidate(
        lane=lane,
        kind=ask.kind,
        region=region(ask.tree or lanes.tree(lane)),
        mode=ask.mode,
        exclusive=lanes.runs_alone(lane),
        part_of=lanes.parts.get(lane, ""),
    )
    return [lease for lease in live if admission.judge_pair(candidate, lease)]


def reap_hint(leases: Sequence[Lease]) -> dict[str, str]:
    """Return the command that frees the lane, as the JSON key `hint`, if a holder has exited."""
    for lease in leases:
        if process.holder_has_exited(lease):
            holder = f"the process of {lease.holder!r}, who holds {lease.lane!r}"
            return {"hint": f"`dos lease-lane reap` frees the lane: {holder}, has exited"}
    return {}


def sentence(decision: Decision) -> str:
    """Return the decision as one sentence, which `--output plain` prints."""
    if decision.outcome is Answer.REFUSE:
        return f"Wait: {decision.reason}."
    paths = ", ".join(decision.tree)
    return f"You can start in lane {decision.lane!r}, which is {paths}: {decision.reason}."


def warning_text(decision: Decision, hint: Mapping[str, str]) -> str:
    """Return what stderr shows beside the decision: an unknown lane, or the hint to reap."""
    if decision.exit_code == 2:
        fix = "`dos man lane` lists the lanes; [lanes] in dos.toml declares them."
        return f"error: {decision.reason}\n  hint: {fix}"
    if hint:
        return f"  hint: {hint['hint']}"
    return ""


def interpretation(decision: Decision, hint: Mapping[str, str]) -> str:
    """Return the next action for an agent: GO or STOP, and the command that helps."""
    if decision.outcome is Answer.ACQUIRE:
        paths = ", ".join(decision.tree)
        return f"GO: change only {paths}; take the lane with `dos lease-lane acquire` first."
    if decision.exit_code == 2:
        return "STOP: there is no such lane; `dos man lane` lists the lanes."
    if hint:
        return f"STOP: change nothing here; {hint['hint']}."
    if decision.free_clusters:
        free = join_some(decision.free_clusters)
        return f"STOP: change nothing here; ask for one of {free}."
    return "STOP: change nothing; wait for a lane."
