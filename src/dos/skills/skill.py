"""A skill: its name, its description, its text, and the commands that it tells an agent to run."""

import re

from msgspec import Struct

from dos.errors import BadInput
from dos.text import did_you_mean, plural, quote

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
# What `dos init --skills` copies. The others serve purposes that not every repository has.
CORE = ("dos-next-up", "dos-dispatch", "dos-dispatch-loop", "dos-replan")
# Where agent programs look for skills: Claude Code in the first folder, most others in the second.
FOLDERS = (".claude/skills", ".agents/skills")
FILE_NAME = "SKILL.md"

_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FENCE = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


class Skill(Struct, frozen=True, kw_only=True):
    """One skill of the package."""

    name: str
    description: str
    text: str  # the whole SKILL.md

    @property
    def command_lines(self) -> tuple[str, ...]:
        """The commands in its fences, in order, with placeholders in capital letters."""
        found = []
        for block in _FENCE.findall(self.text):
            found += [line.strip() for line in block.splitlines() if line.strip()]
        return tuple(found)


def parse_skill(directory: str, text: str) -> Skill:
    """Return the skill of a SKILL.md. Raises BadInput for one that agent programs would not load.

    The name has to be that of its directory, and name and description have to keep the limits of
    the format (agentskills.io).
    """
    match = _FRONT_MATTER.fullmatch(text)
    if match is None:
        raise BadInput(
            f"{directory}/{FILE_NAME} has no front matter", hint="Begin it with --- and a name."
        )
    fields = {}
    for line in match[1].splitlines():
        key, _, value = line.partition(":")
        fields[key.strip()] = value.strip()
    skill = Skill(name=fields.get("name", ""), description=fields.get("description", ""), text=text)
    if skill.name != directory or not _NAME.fullmatch(skill.name) or len(skill.name) > LONGEST_NAME:
        raise BadInput(
            f"{directory}/{FILE_NAME} has the name {quote(skill.name)}",
            hint=f"The name of a skill is that of its directory, at most {LONGEST_NAME} small"
            " letters, digits and -.",
        )
    if not 0 < len(skill.description) <= LONGEST_DESCRIPTION:
        raise BadInput(
            f"the description of {directory} has {len(skill.description)} characters",
            hint=f"It needs from 1 to {LONGEST_DESCRIPTION}.",
        )
    return skill


def choose(
    known: tuple[str, ...], *, core: bool = False, named: tuple[str, ...] = (), every: bool = False
) -> tuple[str, ...]:
    """Return the names of the skills to install, each once, in the order of the package.

    Raises BadInput for a name that no skill has, with the nearest one.
    """
    for name in named:
        if name not in known:
            raise BadInput(
                f"there is no skill {quote(name)}; " + did_you_mean(name, known, "skills"),
                hint=f"`dos skills list` shows the {plural(len(known), 'skill')}.",
            )
    wanted = {*named}
    if core:
        wanted.update(CORE)
    if every:
        wanted.update(known)
    return tuple(name for name in known if name in wanted)


def skill_of_prompt(prompt: str, known: tuple[str, ...]) -> str:
    """Return the skill that a prompt such as `/dos-dispatch-loop --lane api` starts; "" if none."""
    word = prompt.split(maxsplit=1)[:1]
    name = word[0].removeprefix("/") if word and word[0].startswith("/") else ""
    if name not in known:
        return ""
    return name
