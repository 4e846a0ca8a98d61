"""Mark landed units in the plan documents, for `dos plan --tick`.

Which units landed is read from the rows of the board, so that a tick and the board never disagree.
"""

import shlex
from collections.abc import Sequence

from dos.approval.io.approve import approve_plan_edit
from dos.cli.plans.board import Row
from dos.units.io import sources
from dos.units.io.ticked_documents import TickedDocument, tick_documents, write_document
from dos.units.unit import PlanClaim, Unit
from dos.verbs.context import Reply, actor
from dos.world import World


def tick(world: World, rows: Sequence[Row], *, dry_run: bool) -> Reply:
    """Mark the units that landed and that their plan does not call shipped.

    The edit of an approved document is approved as well, so that no fleet asks about it. With
    `dry_run` nothing is written. Committing the edit is left to the person.
    """
    units = _landed_and_not_marked(world, rows)
    planned = tick_documents(world.workspace.root, units, world.config.enumerate)
    notes = []
    ticked: list[str] = []
    refused: dict[str, str] = {}
    documents = []
    for document in planned:
        if not dry_run:
            notes += _write(document, world)
        if document.ticked:
            documents.append(document.name)
        ticked += [unit.name for unit in document.ticked]
        refused |= document.refused
    return Reply(
        text="\n".join([*_lines(planned, dry_run=dry_run), *notes]),
        data={
            "ticked": ticked,
            "refused": refused,
            "documents": documents,
            "dry_run": dry_run,
        },
    )


def _landed_and_not_marked(world: World, rows: Sequence[Row]) -> list[Unit]:
    """Return the declared units whose work is on the target branch and whose line says otherwise.

    A row that was named on the command line and that no plan declares has no line to mark.
    """
    declared = {unit.name: unit for unit in sources.read(world.workspace, world.config).units}
    found = []
    for row in rows:
        unit = declared.get(f"{row.plan}/{row.phase}")
        if unit and row.oracle_shipped and unit.claimed != PlanClaim.SHIPPED:
            found.append(unit)
    return found


def _write(planned: TickedDocument, world: World) -> list[str]:
    """Write one document and approve the edit; a note where a fleet will ask about it."""
    if not planned.ticked:
        return []
    write_document(world.workspace.root, planned)
    is_approved = approve_plan_edit(
        world.workspace,
        world.config,
        planned.name,
        before=planned.before,
        after=planned.after,
        by=actor(),
    )
    if is_approved:
        return []
    return [f"{planned.name} has other edits that are not approved: see `dos decisions`"]


def _lines(planned: Sequence[TickedDocument], *, dry_run: bool) -> list[str]:
    """Return a line for each mark and each refusal, and the command that commits the edits."""
    word = "ticked"
    if dry_run:
        word = "would tick"
    lines = []
    for document in planned:
        lines += [f"{word} {unit.name}  {document.name}:{unit.line}" for unit in document.ticked]
        lines += [f"not ticked {name}: {why}" for name, why in document.refused.items()]
    if not lines:
        return ["Every landed unit is ticked already."]
    names = " ".join(shlex.quote(document.name) for document in planned if document.ticked)
    if names and not dry_run:
        lines.append(f"Commit it: git commit -m 'Tick landed units' -- {names}")
    return lines
