"""Whether the copies of the skills in a repository are those of this version, and how to mend them.

Each copy is a file that people and agents can edit, so it is compared by its whole text.
"""

from collections.abc import Mapping
from enum import StrEnum
from shlex import quote

from msgspec import Struct

from dos.skills.skill import CORE, FILE_NAME, FOLDERS, Skill


class CopyState(StrEnum):
    """What is at the place of a copy."""

    CURRENT = "CURRENT"
    DRIFTED = "DRIFTED"  # another text: edited, or of another version
    MISSING = "MISSING"
    BLOCKED = "BLOCKED"  # a link, or no file


class SkillCopy(Struct, frozen=True, kw_only=True):
    """One copy of a skill: where it is or would be, and what is there."""

    skill: str
    path: str  # from the top of the repository
    state: CopyState

    @property
    def fix(self) -> str:
        """The command that makes it the text of this version; "" where nothing is wrong."""
        if self.state is CopyState.DRIFTED:
            return f"dos init --skill {self.skill} --force"
        if self.state is CopyState.MISSING:
            return f"dos init --skill {self.skill}"
        if self.state is CopyState.BLOCKED:
            return f"rm -r {quote(self.path)} && dos init --skill {self.skill}"
        return ""


def copy_path(folder: str, skill: str) -> str:
    """Return where the copy of a skill is, from the top of the repository."""
    return f"{folder}/{skill}/{FILE_NAME}"


def compare(skill: Skill, path: str, found: bytes | None, *, blocked: bool = False) -> SkillCopy:
    """Compare a copy with the skill. `found` is its content; None: there is no such file."""
    if blocked:
        state = CopyState.BLOCKED
    elif found is None:
        state = CopyState.MISSING
    elif found == skill.text.encode():
        state = CopyState.CURRENT
    else:
        state = CopyState.DRIFTED
    return SkillCopy(skill=skill.name, path=path, state=state)


def findings(copies: Mapping[str, list[SkillCopy]]) -> list[SkillCopy]:
    """Return the copies to mend, of all copies by skill.

    A missing copy is one where its skill is installed in the other folder, and for the core
    skills, which call one another, where any skill is installed.
    """
    present = {
        name
        for name, places in copies.items()
        if any(place.state is not CopyState.MISSING for place in places)
    }
    found = []
    for name, places in copies.items():
        is_wanted = name in present or (name in CORE and bool(present))
        for place in places:
            if place.state is CopyState.CURRENT:
                continue
            if place.state is not CopyState.MISSING or is_wanted:
                found.append(place)
    return found


def places(skill: str) -> tuple[str, ...]:
    """Return all places of the copies of a skill."""
    return tuple(copy_path(folder, skill) for folder in FOLDERS)
