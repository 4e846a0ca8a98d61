"""What an agent is told: the unit, where it may work, how it will be judged, what was tried before."""

from collections.abc import Sequence

from dos.units.unit import Unit

_COMMITTING = """Commit your work. The last paragraph of the commit message must be the line:

    {trailer}

Name no other unit in such a line or at the start of the subject: a commit is for one unit alone. Uncommitted changes do
not count; saying that it is done does not count either."""

_GROOMING = """Nothing in the plan can be started. Make these documents such that something can:

{documents}

- Turn what is vague into units. Each has a name, a lane, the paths that it may change, what is to be done, and an
  acceptance command that exits with 0 once it is done.
- Remove nothing that is not done. Look into the repository before you call anything done.
- Do none of the work itself."""


def unit_prompt(
    unit: Unit, *, globs: Sequence[str], acceptance: str, history: Sequence[str]
) -> str:
    parts = [
        f"# Unit {unit.name}: {unit.title}",
        unit.text,
        f"You may change only: {', '.join(globs)}. Work that touches anything else is not taken.",
        f"The work is to be in: {', '.join(unit.paths)}." if unit.paths else "",
        _COMMITTING.format(trailer=f"Unit: {unit.name}"),
    ]
    if acceptance:
        parts.append(
            f"It is accepted when this command exits with 0 on your commit:\n\n    {acceptance}"
        )
    if history:
        parts.append(f"It was tried before and did not land:\n\n{_list(history)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def replan_prompt(
    documents: Sequence[str], *, lanes: Sequence[str], held: Sequence[str], globs: Sequence[str]
) -> str:
    """What an agent is told when nothing can be started: make the plan such that something can."""
    parts = [
        "# Groom the plan",
        _GROOMING.format(documents=_list(documents)),
        f"The lanes are: {', '.join(lanes)}.",
        f"You may change only: {', '.join(globs or documents)}. Work that touches anything else is not taken.",
        _COMMITTING.format(trailer="Plan: replan"),
    ]
    if held:
        parts.append(f"These units are held, and why:\n\n{_list(held)}")
    return "\n\n".join(parts) + "\n"


def _list(items: Sequence[str]) -> str:
    return "\n".join("- " + item.replace("\n", "\n  ") for item in items)
