"""What an agent is told: the unit, where it may work, how it will be judged, what was tried before."""

from collections.abc import Sequence

from dos.records.units import Unit

_COMMITTING = """Commit your work. The last paragraph of the commit message must be the line:

    Unit: {unit}

Uncommitted changes do not count; saying that it is done does not count either."""


def prompt(unit: Unit, *, globs: Sequence[str], acceptance: str, history: Sequence[str]) -> str:
    parts = [
        f"# Unit {unit.name}: {unit.title}",
        unit.text,
        f"You may change only: {', '.join(globs)}. Work that touches anything else is not taken.",
        _COMMITTING.format(unit=unit.name),
    ]
    if acceptance:
        parts.append(f"It is accepted when this command exits with 0 on your commit:\n\n    {acceptance}")
    if history:
        tries = "\n".join(f"- {why}" for why in history)
        parts.append(f"It was tried before and did not land:\n\n{tries}")
    return "\n\n".join(part for part in parts if part) + "\n"
