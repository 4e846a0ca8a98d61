"""Mark landed units as shipped in the plan documents of a checkout.

A mark is written only if the parser then reads exactly one claim more: the unit's own. So a mark
can never end up on a line that means another unit.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from dos.errors import BadInput
from dos.machine.filesystem import write_whole
from dos.units.io.documents import read_text
from dos.units.markdown import document, tick
from dos.units.policy import Grammar
from dos.units.unit import PlanClaim, Unit


class TickedDocument(Struct, frozen=True, kw_only=True):
    """A plan document before and after its landed units were marked."""

    name: str
    before: str
    after: str
    ticked: tuple[Unit, ...]
    refused: Mapping[str, str]  # unit -> why its line cannot be marked


def tick_documents(root: Path, units: Sequence[Unit], grammar: Grammar) -> list[TickedDocument]:
    """Plan the marks for these units, which have landed. Nothing is written."""
    by_document: dict[str, list[Unit]] = {}
    for unit in units:
        by_document.setdefault(unit.document, []).append(unit)
    return [
        _tick_document(root, name, landed, grammar) for name, landed in sorted(by_document.items())
    ]


def write_document(root: Path, planned: TickedDocument) -> None:
    """Write the document. Raises BadInput if it was edited since it was read."""
    path = root / planned.name
    if read_text(path) != planned.before:
        raise BadInput(f"{planned.name} was edited meanwhile", hint="Run `dos plan --tick` again.")
    write_whole(path, planned.after.encode())


def _tick_document(
    root: Path, name: str, units: Sequence[Unit], grammar: Grammar
) -> TickedDocument:
    """Plan the marks of one document. Units whose line cannot be marked are refused, with why."""
    before = read_text(root / name)
    if not isinstance(before, str) or before.encode() != (root / name).read_bytes():
        refused = {unit.name: f"{name} is not plain UTF-8 text" for unit in units}
        return TickedDocument(name=name, before="", after="", ticked=(), refused=refused)
    after = before
    ticked: list[Unit] = []
    refused = {}
    for unit in units:
        marked = tick.tick(after, [unit.line])
        if _claims(marked, name, grammar) == _claims(after, name, grammar) | {
            unit.name: PlanClaim.SHIPPED
        }:
            after = marked
            ticked.append(unit)
        else:
            refused[unit.name] = f"a mark in {name}:{unit.line} would not be read as this unit's"
    return TickedDocument(
        name=name, before=before, after=after, ticked=tuple(ticked), refused=refused
    )


def _claims(text: str, name: str, grammar: Grammar) -> dict[str, str]:
    """What the document says about each of its units."""
    plan = document.plan_name(name)
    found = document.read(text, plan=plan, document=name, grammar=grammar)
    return {unit.name: unit.claimed for unit in found.units}
