"""Reads the skills that the package brings."""

from functools import cache
from pathlib import Path

from dos.skills.skill import FILE_NAME, Skill, parse_skill

FOLDER = Path(__file__).parents[1]


@cache
def skills() -> dict[str, Skill]:
    """Return all skills by name, in the order of their names."""
    found = {}
    for path in sorted(FOLDER.glob(f"*/{FILE_NAME}")):
        skill = parse_skill(path.parent.name, path.read_text(encoding="utf-8"))
        found[skill.name] = skill
    return found


def names() -> tuple[str, ...]:
    """Return the names of all skills without reading them."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{FILE_NAME}")))
