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
from dos.lanes import admission, arbitrate
from dos.lanes.arbitrate import Answer, Ask, Decision
from dos.lanes.io import gather as evidence
from dos.lanes.io.gather import arbiter_evidence
from dos.lanes.preference import Candidate
from dos.lease import Lease
from dos.machine import process
from dos.regions import Mode, region
from dos.text import join_some, quote, validated_name
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply


def blocking_leases(context: Context, journal: Store, ask: Ask) -> list[Lease]:
    """The live leases that the named lane meets; all of them, for a request that names none."""
    live = journal.leases(lapsed=False)
    if not ask.lane:
        return live
    roster = evidence.roster(context.world, context.policy)
    lane = roster.canonical(ask.lane) or ask.lane
    wanted = Candidate(
        lane=lane,
        kind=ask.kind,
        region=region(ask.tree or roster.tree(lane)),
        mode=ask.mode,
        exclusive=roster.runs_alone(lane),
    )
    return [lease for lease in live if admission.judge_pair(wanted, lease)]


def reap_hint(leases: Sequence[Lease]) -> dict[str, str]:
    """What to type when somebody in the way is dead, under the key it has in JSON; nothing when nobody is."""
    gone = next((lease for lease in leases if process.gone(lease)), None)
    if gone is None:
        return {}
    who = f"the process of {gone.holder!r}, who holds {gone.lane!r}"
    return {"hint": f"`dos lease-lane reap` frees the lane: {who}, is gone"}


EXITS = {"acquire": 0, "refuse": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    lane: Annotated[
        str, Option(help="the lane that is asked for; any when not given", metavar="LANE")
    ] = ""
    kind: Annotated[
        str,
        Option(help="cluster, keyword, global or another kind", metavar="KIND", may_be_empty=True),
    ] = ""
    tree: Annotated[
        list[str], Option(help="the paths, where the lane has none of its own", metavar="GLOB")
    ] = []
    mode: Annotated[
        str, Option(help="readers may share: shared or exclusive", choices=("shared", "exclusive"))
    ] = "exclusive"
    exact: Annotated[bool, Option(help="this lane or none")] = False
    force: Annotated[
        bool, Option(help="grant the named lane over a refusal, and write that down")
    ] = False
    leases: Annotated[
        str | None,
        Option(help="the live leases, instead of the journal's; [] for none", metavar="JSON"),
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
    ask = build_request(
        lane=args.lane,
        kind=args.kind,
        tree=args.tree,
        mode=args.mode,
        exact=args.exact,
        force=args.force,
    )
    seen = arbiter_evidence(
        context.world, context.policy, instead=args.leases, budgets=budgets(args.class_budget)
    )
    decision = arbitrate.judge(
        ask, seen.live, seen.roster, predicates=seen.predicates, config=context.policy
    )
    if (
        args.force
        and decision.outcome is Answer.ACQUIRE
        and decision.reason_class
        and not decision.auto_picked
    ):
        # Before the answer: nobody goes on by force without a trace.
        forced = DecisionForced(
            lane=decision.lane,
            reason_class=decision.reason_class,
            reason=decision.reason,
            host=process.host(),
        )
        context.journal.record("decisions", forced)
    hint = {}
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


def build_request(
    *, lane: str, kind: str, tree: list[str], mode: str, exact: bool = False, force: bool = False
) -> Ask:
    if lane:
        validated_name(lane, "lane name")
    if kind:
        validated_name(kind, "lane kind")
    return Ask(
        lane=lane, kind=kind, tree=tuple(tree), mode=Mode(mode.upper()), exact=exact, force=force
    )


def budgets(given: list[str]) -> dict[str, int]:
    """KIND=N, each; 0 is no cap, and takes none away that is configured."""
    caps: dict[str, int] = {}
    for text in given:
        kind, equals, number = text.rpartition("=")
        if not equals or not kind.strip() or not number.strip().isdecimal() or len(number) > 9:
            raise BadInput(
                f"the class budget {quote(text)} is not KIND=N",
                hint="For example: --class-budget cluster=2",
            )
        if int(number):
            caps[validated_name(kind.strip(), "lane kind")] = int(number)
    return caps


def sentence(decision: Decision) -> str:
    if decision.outcome is Answer.REFUSE:
        return f"Wait: {decision.reason}."
    where = ", ".join(decision.tree)
    return f"You can start in the lane {decision.lane!r}, which is {where}: {decision.reason}."


def warning_text(decision: Decision, hint: Mapping[str, str]) -> str:
    if decision.exit_code == 2:
        return f"error: {decision.reason}\n  hint: `dos man lane` lists the lanes; [lanes] in dos.toml declares them."
    return f"  hint: {hint['hint']}" if hint else ""


def interpretation(decision: Decision, hint: Mapping[str, str]) -> str:
    if decision.outcome is Answer.ACQUIRE:
        return f"GO: change only {', '.join(decision.tree)}; take the lane with `dos lease-lane acquire` first."
    if decision.exit_code == 2:
        return "STOP: there is no such lane; `dos man lane` lists those that there are."
    if hint:
        return f"STOP: change nothing here; {hint['hint']}."
    free = join_some(decision.free_clusters)
    return (
        f"STOP: change nothing here; ask for one of {free}."
        if free
        else "STOP: change nothing; wait for a lane."
    )
