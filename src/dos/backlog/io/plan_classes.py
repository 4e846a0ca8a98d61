"""The plan documents of a workspace with their class, and the writing of another class.

A class is written only if the parser then reads the same units and the new class.
"""

from collections.abc import Mapping
from pathlib import Path

from dos.backlog.io import landed
from dos.backlog.io.landed import Landed
from dos.errors import BadInput
from dos.journal import streams
from dos.journal.events.doors import LifecycleTicked
from dos.journal.events.reader import select
from dos.journal.store import Store
from dos.machine.filesystem import write_whole
from dos.units.io.documents import read_documents, read_text
from dos.units.lifecycle import Outcome, PlanState
from dos.units.markdown import document
from dos.units.markdown.classification import classification, with_classification
from dos.units.markdown.document import Document
from dos.units.policy import Grammar
from dos.units.unit import PlanMove
from dos.unknown import Unknown
from dos.world import World


def read_plans(world: World) -> list[PlanState]:
    """Return the plan documents that declare units, with what git says of each unit.

    Raises BadInput for a document that cannot be read: its units would be missing.
    """
    paths = world.config.paths
    found = []
    root = world.workspace.root
    for each in read_documents(root, paths.plans_glob, world.config.enumerate, paths.next_packets):
        if isinstance(each, tuple):
            name, unread = each
            raise BadInput(f"{name}: {unread.why}", hint="Repair it, or move it away.")
        if each.units:
            found.append(each)
    truths = landed.gather(world, [unit.name for plan in found for unit in plan.units])
    return [_state(root, plan, truths) for plan in found]


def _state(root: Path, plan: Document, truths: Mapping[str, landed.Truth]) -> PlanState:
    """Sort the units of a document by what git says of them."""
    on_target = []
    missing = []
    unknown = []
    for unit in plan.units:
        truth = truths[unit.name]
        if isinstance(truth, Landed):
            on_target.append(unit.name)
        elif isinstance(truth, Unknown):
            unknown.append(unit.name)
        else:
            missing.append(unit.name)
    text = read_text(root / plan.name)
    return PlanState(
        plan=plan.plan,
        document=plan.name,
        plan_class=classification(text) if isinstance(text, str) else "",
        landed=tuple(on_target),
        missing=tuple(missing),
        unknown=tuple(unknown),
    )


def last_moves(journal: Store) -> dict[str, int]:
    """Return when each document was moved last."""
    moved = {}
    for event, fact in select(journal.load(streams.LIFECYCLE), LifecycleTicked):
        for move in fact.moves:
            if move.outcome == Outcome.MOVED:
                moved[move.document] = event.at_ms
    return moved


class Edit:
    """One document before and after its class was changed."""

    def __init__(self, world: World, move: PlanMove) -> None:
        """Plan the edit; `refusal` says why it cannot be made."""
        self._path = world.workspace.root / move.document
        self.document = move.document
        self.before = ""
        self.after = ""
        self.refusal = self._plan(move.to_class, world.config.enumerate)

    def _plan(self, to_class: str, grammar: Grammar) -> str:
        text = read_text(self._path)
        if not isinstance(text, str) or text.encode() != self._path.read_bytes():
            return f"{self.document} is not plain UTF-8 text"
        changed = with_classification(text, to_class)
        is_same = _units(text, self.document, grammar) == _units(changed, self.document, grammar)
        if classification(changed) != to_class or not is_same:
            return f"the front matter of {self.document} cannot be changed; edit it by hand"
        self.before = text
        self.after = changed
        return ""

    def write(self) -> None:
        """Write the document. Raises BadInput if it was edited since it was read."""
        if read_text(self._path) != self.before:
            raise BadInput(
                f"{self.document} was edited meanwhile", hint="Run `dos lifecycle tick` again."
            )
        write_whole(self._path, self.after.encode())


def _units(text: str, name: str, grammar: Grammar) -> list[tuple[str, str]]:
    """Return the units of a document with what an agent is asked to do for each."""
    found = document.read(text, plan=document.plan_name(name), document=name, grammar=grammar)
    return [(unit.name, unit.fingerprint) for unit in found.units]
