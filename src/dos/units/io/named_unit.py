"""Which unit is meant by a word: its whole name, or its id where only one plan has it."""

from collections.abc import Sequence

from dos.errors import BadInput
from dos.text import quote
from dos.units.io import units
from dos.units.unit import Unit
from dos.world import World


def resolve(world: World, word: str) -> str:
    """The unit's name; the word itself where no plan has it: callers may have units of their own."""
    if "/" in word:
        return word
    found = find(units.read(world.workspace, world.config).units, word)
    return found.name if found else word


def find(declared: Sequence[Unit], word: str) -> Unit | None:
    by_name = next((unit for unit in declared if unit.name == word), None)
    fits = [unit for unit in declared if unit.id == word]
    if by_name is None and len(fits) > 1:
        names = ", ".join(unit.name for unit in fits)
        raise BadInput(
            f"{quote(word)} is in several plans: {names}", hint="Give one of these names."
        )
    return by_name or next(iter(fits), None)
