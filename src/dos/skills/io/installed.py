"""Reads and writes the copies of skills in a repository."""

import os
from pathlib import Path

from dos.errors import BadInput
from dos.machine import filesystem
from dos.skills import copies
from dos.skills.copies import CopyState, SkillCopy
from dos.skills.io import packaged
from dos.skills.skill import FOLDERS, Skill
from dos.text import LONGEST_PATH, quote


def read_copies(root: Path) -> dict[str, list[SkillCopy]]:
    """Return the copies of each skill, also those that are missing."""
    found = {}
    for name, skill in packaged.skills().items():
        found[name] = [_read_copy(root, skill, path) for path in copies.places(name)]
    return found


def _read_copy(root: Path, skill: Skill, path: str) -> SkillCopy:
    """Compare one copy. A link on the way to it is not followed."""
    content = None
    if _blocking_part(root, path):
        return copies.compare(skill, path, None, blocked=True)
    if os.path.lexists(root / path):
        content = (root / path).read_bytes()
    return copies.compare(skill, path, content)


def install(root: Path, names: tuple[str, ...], *, force: bool, dry_run: bool) -> list[SkillCopy]:
    """Write the copies of these skills, and return what was there before.

    A copy with another text is left alone without `force`. Raises BadInput, before anything is
    written, where a link or something else than a file is in the way.
    """
    before = []
    for name in names:
        before += [_read_copy(root, packaged.skills()[name], path) for path in copies.places(name)]
    for copy in before:
        if copy.state is CopyState.BLOCKED:
            part = _blocking_part(root, copy.path)
            raise BadInput(
                f"{quote(part, LONGEST_PATH)} is a link or no file; skills are not written there",
                hint=f"Move it away, and run again: dos init --skill {copy.skill}",
            )
    for copy in before:
        if not dry_run and is_written(copy, force=force):
            target = root / copy.path
            target.parent.mkdir(parents=True, exist_ok=True)
            filesystem.write_whole(
                target, packaged.skills()[copy.skill].text.encode(), follow_link=False
            )
    return before


def is_written(before: SkillCopy, *, force: bool) -> bool:
    """Whether installing writes a copy, given what was there before."""
    if before.state is CopyState.DRIFTED:
        return force
    return before.state is CopyState.MISSING


def is_available(root: Path, skill: str) -> bool:
    """Whether a program started in this repository finds the skill: there or in the user's home."""
    for top in (root, Path.home()):
        for folder in FOLDERS:
            if (top / copies.copy_path(folder, skill)).is_file():
                return True
    return False


def _blocking_part(root: Path, path: str) -> str:
    """Return what keeps a copy from being a plain file in plain folders; "" if nothing does."""
    place = root
    *folders, name = Path(path).parts
    for part in folders:
        place = place / part
        if not os.path.lexists(place):
            return ""
        if not filesystem.is_real_folder(place):
            return str(place)
    place = place / name
    if os.path.lexists(place) and (place.is_symlink() or not place.is_file()):
        return str(place)
    return ""
