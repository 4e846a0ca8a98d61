"""Move plans whose units have shipped to their next class.

The transitions are those of [lifecycle]; git decides whether a trigger holds. The cycle writes
`classification:` into the front matter of each plan that moves, commits these documents in one
commit, and records the cycle. Documents with uncommitted changes are left alone.

Exit code 3: something is due that the cycle did not do. With --dry-run nothing is written.
"""

from typing import Annotated, Any

from msgspec import Struct, structs, to_builtins

from dos import times
from dos.approval.io.approve import approve_plan_edit
from dos.backlog.io import plan_classes
from dos.backlog.io.plan_classes import Edit
from dos.errors import BadInput
from dos.git import commits
from dos.journal import streams
from dos.journal.events.doors import LifecycleTicked
from dos.text import comparison_key, did_you_mean, plural, quote
from dos.units import lifecycle
from dos.units.lifecycle import Outcome, PlanState
from dos.units.unit import PlanMove
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, actor
from dos.verbs.listing.table import VERBS
from dos.world import World

EXITS = {"settled": 0, "due": 3, "unknown": 5, "contract_error": 2, "not_permitted": 77}


class Args(Struct, kw_only=True):
    """Which plans, and whether to write."""

    plans: Annotated[
        list[str], Option(help="only these plans", metavar="PLAN", positional=True)
    ] = []
    dry_run: Annotated[bool, Option(help="show what is due and write nothing")] = False
    now_ms: Annotated[int | None, Option(help="time to judge at (default: now)", metavar="MS")] = (
        None
    )


def run(args: Args, context: Context) -> Reply:
    """Show what is due, or do it. Raises BadInput where plans are no documents."""
    if not args.dry_run:
        from dos.verbs import permission

        # It approves the text that it writes, and only people approve.
        permission.check_permission(VERBS["lifecycle tick"], args, context)
    world = context.policy_world
    if world.config.plans.source != "documents":
        raise BadInput(
            "units come from another source than plan documents here, which have no class",
            hint="Close the units in that source instead.",
        )
    moves = lifecycle.cycle(
        _chosen(plan_classes.read_plans(world), args.plans),
        world.config.lifecycle,
        moved_ms=plan_classes.last_moves(world.journal),
        now_ms=times.now_ms(args.now_ms),
    )
    notes: list[str] = []
    commit = ""
    if not args.dry_run:
        moves, commit, notes = _make(moves, world)
        context.journal.record(streams.LIFECYCLE, LifecycleTicked(moves=moves, commit=commit))
    return Reply(
        code=_code(moves),
        text="\n".join([*_lines(moves, commit), *notes]),
        data=_data(moves, commit, dry_run=args.dry_run),
    )


def _chosen(plans: list[PlanState], names: list[str]) -> list[PlanState]:
    """Return the plans of these names, or all. Raises BadInput for a name that no plan has."""
    if not names:
        return plans
    known = {comparison_key(plan.plan) for plan in plans}
    for name in names:
        if comparison_key(name) not in known:
            raise BadInput(
                f"there is no plan {quote(name)} with units",
                hint=did_you_mean(name, sorted({plan.plan for plan in plans}), "plans"),
            )
    wanted = {comparison_key(name) for name in names}
    return [plan for plan in plans if comparison_key(plan.plan) in wanted]


def _make(moves: tuple[PlanMove, ...], world: World) -> tuple[tuple[PlanMove, ...], str, list[str]]:
    """Write and commit what is due. Return the moves with their outcomes, the commit, and notes."""
    root = world.workspace.root
    dirty = {world.workspace.tree / path for path in world.git.dirty_paths()}
    done = []
    edits = []
    for move in moves:
        if move.outcome == Outcome.DUE:
            edit = Edit(world, move)
            if root / move.document in dirty:
                edit.refusal = f"{move.document} has uncommitted changes"
            if edit.refusal:
                move = structs.replace(move, outcome=Outcome.REFUSED.value, reason=edit.refusal)
            else:
                move = structs.replace(move, outcome=Outcome.MOVED.value)
                edits.append(edit)
        done.append(move)
    notes: list[str] = []
    for edit in edits:
        edit.write()
        notes += _approve(edit, world)
    commit = ""
    if edits:
        names = [edit.document for edit in edits]
        commit = commits.commit_paths(root, names, _message(done))
    return tuple(done), commit, notes


def _approve(edit: Edit, world: World) -> list[str]:
    """Approve the text that was written; a note where a fleet will ask about it."""
    is_approved = approve_plan_edit(
        world.workspace,
        world.config,
        edit.document,
        before=edit.before,
        after=edit.after,
        by=actor(),
    )
    if is_approved:
        return []
    return [f"{edit.document} has other edits that are not approved: see `dos decisions`"]


def _message(moves: list[PlanMove]) -> str:
    """Return the message of the cycle's commit: a subject, and a line for each plan."""
    moved = [move for move in moves if move.outcome == Outcome.MOVED]
    lines = [f"{move.document}: {move.from_class} to {move.to_class}" for move in moved]
    return "\n".join([f"docs: change the class of {plural(len(moved), 'plan')}", "", *lines])


def _code(moves: tuple[PlanMove, ...]) -> int:
    outcomes = {move.outcome for move in moves}
    if outcomes & lifecycle.OPEN:
        return EXITS["due"]
    if Outcome.UNKNOWN in outcomes:
        return EXITS["unknown"]
    return EXITS["settled"]


def _lines(moves: tuple[PlanMove, ...], commit: str) -> list[str]:
    """Return a line for each move, and one for the commit."""
    if not moves:
        return ["No plan is due for another class."]
    lines = []
    for move in moves:
        line = f"{move.outcome:<9} {move.plan}  {move.from_class} → {move.to_class}"
        lines.append(f"{line}  {move.reason or move.document}")
    if commit:
        lines.append(f"Committed as {commit[:9]}. Take it back: git revert {commit[:9]}")
    return lines


def _data(moves: tuple[PlanMove, ...], commit: str, *, dry_run: bool) -> dict[str, Any]:
    rows = []
    for move in moves:
        row = to_builtins(move)
        rows.append({"reason": "", **row})
    return {"dry_run": dry_run, "moves": rows, "commit": commit}
