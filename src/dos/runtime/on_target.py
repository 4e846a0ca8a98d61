"""What the target branch already holds: units that a person committed, or that were landed before this journal was."""

from collections.abc import Sequence

from msgspec import structs

from dos.errors import DosError
from dos.evidence.work import shipped
from dos.evidence.work.shipped import Ask
from dos.journal.states.fleet import Fleet
from dos.journal.states.fleet import Unit as Seen
from dos.records.units import Unit
from dos.sources.git import Git
from dos.sources.workspace import Workspace
from dos.sources.world import World


class OnTarget:
    """Asked at every survey; history is looked at only when the branch or the plans have changed."""

    def __init__(self, place: Workspace) -> None:
        self._place = place
        self._asked: tuple[object, ...] = ()
        self._found: dict[str, str] = {}

    def known(self, fleet: Fleet, units: Sequence[Unit], target: str) -> Fleet:
        """The fleet's state, with these units as landed. It is a copy: only what happened is kept in the journal."""
        ref = f"refs/heads/{target}"
        open_units = [unit for unit in units if not _is_settled(fleet.units.get(unit.name))]
        asked = (Git(self._place.root).commit_of(ref), *(unit.name for unit in open_units))
        if asked != self._asked:
            self._found, self._asked = self._shipped(open_units, ref), asked
        if not self._found:
            return fleet
        landed = {
            name: structs.replace(fleet.units.get(name, Seen()), landed=commit) for name, commit in self._found.items()
        }
        return structs.replace(fleet, units={**fleet.units, **landed})

    def _shipped(self, units: Sequence[Unit], ref: str) -> dict[str, str]:
        try:
            with World(self._place.root) as world:
                verdicts = shipped.verify(world, [(unit.plan, unit.id) for unit in units], Ask(ref=ref, asks_ci=False))
        except DosError:
            return {}  # nothing is taken off the list on the word of what cannot be read
        return {unit.name: each.sha for unit, each in zip(units, verdicts, strict=True) if each.shipped}


def _is_settled(seen: Seen | None) -> bool:
    """It landed, or a landing of it is under way, which its worker finishes."""
    return seen is not None and bool(seen.landed or seen.intended)
