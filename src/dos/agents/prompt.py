"""The prompts: what an agent is told about a unit, or about a plan that it should groom.

A prompt names the unit, the paths it may change, how its work is judged, and earlier attempts.
"""

import re
from collections.abc import Sequence

from dos.units.unit import Unit

_TRAILER = re.compile(r"must be the line:\n\n {4}(\S+: [^\n]+)\n")
_COMMITTING = """Commit your work. The last paragraph of the commit message must be the line:

    {trailer}

Name no other unit in such a line or at the start of the subject: one commit is for one unit.
Uncommitted changes do not count. Saying that the work is done does not count either."""

_KEEP_TESTS = (
    "Do not remove, loosen or skip existing tests, and leave the settings of the test runner as"
    " they are: such work is rejected. New tests are welcome."
)
_TESTS_MAY_CHANGE = "Existing tests may be changed where the work asks for it."

_GROOMING = """No unit of the plan can be started. Edit these documents so that one can:

{documents}

- Turn vague items into units. Each unit has a name, a lane, the paths that it may change, a
  description of the work, and an acceptance command that exits with 0 once the work is done.
- Remove nothing that is not done. Check the repository before you call anything done.
- Do none of the work itself."""


def unit_prompt(
    unit: Unit,
    *,
    globs: Sequence[str],
    acceptance: str,
    history: Sequence[str],
    messages: Sequence[str] = (),
) -> str:
    """The prompt for one unit.

    `globs` are the paths of its lane, `history` says why each earlier attempt did not land,
    `messages` are what people have to say. The prompt is complete: the agent needs to know nothing
    about dos.
    """
    parts = [f"# Unit {unit.name}: {unit.title}", unit.text, _allowed_paths(globs)]
    if unit.paths:
        parts.append(f"The work belongs in: {', '.join(unit.paths)}.")
    parts.append(_COMMITTING.format(trailer=f"Unit: {unit.name}"))
    if acceptance:
        parts.append(
            "The work is accepted when this command exits with 0 on your commit:\n\n"
            f"    {acceptance}"
        )
    parts.append(_TESTS_MAY_CHANGE if unit.tests_may_change else _KEEP_TESTS)
    if history:
        parts.append(f"Earlier attempts did not land:\n\n{_list(history)}")
    parts.append(_messages(messages))
    return "\n\n".join(part for part in parts if part) + "\n"


def trailer_in(prompt: str) -> str:
    """The line that a prompt of dos wants at the end of commit messages; "": it wants none."""
    wanted = _TRAILER.search(prompt)
    if wanted is None:
        return ""
    return wanted[1]


def replan_prompt(
    documents: Sequence[str],
    *,
    lanes: Sequence[str],
    held: Sequence[str],
    globs: Sequence[str],
    messages: Sequence[str] = (),
) -> str:
    """The prompt for grooming the plan documents when no unit can be started.

    `held` names the units that cannot be started, each with its reason. `messages` are what people
    have to say.
    """
    parts = [
        "# Groom the plan",
        _GROOMING.format(documents=_list(documents)),
        f"The lanes are: {', '.join(lanes)}.",
        _allowed_paths(globs or documents),
        _COMMITTING.format(trailer="Plan: replan"),
    ]
    if held:
        parts.append(f"These units are held, with the reason:\n\n{_list(held)}")
    parts.append(_messages(messages))
    return "\n\n".join(part for part in parts if part) + "\n"


def _messages(messages: Sequence[str]) -> str:
    """What people have to say; it changes neither the paths nor how the work is judged."""
    if not messages:
        return ""
    return f"The people who run this repository say:\n\n{_list(messages)}"


def _allowed_paths(globs: Sequence[str]) -> str:
    """The rule that work outside of the lane is rejected, with the paths that are inside."""
    return f"You may change only: {', '.join(globs)}. Work that touches other paths is rejected."


def _list(items: Sequence[str]) -> str:
    """A bullet list; further lines of an item are indented below it."""
    return "\n".join("- " + item.replace("\n", "\n  ") for item in items)
