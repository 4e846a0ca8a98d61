"""The table [enforcement] of `dos.toml`: what is refused before it happens, and by whom."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from dos.fields import Seconds, Table, check_not_blank
from dos.permission.ask import Posture

POSTURE_VARIABLE = "DOS_HOOK_POSTURE"


class Enforcement(Table, frozen=True, kw_only=True):
    """[enforcement]: what the hooks and the pipes of agent programs refuse."""

    posture: Posture = Posture.OBSERVE
    """Your own sessions, in regions that a worker holds: `observe`, `gate`, `block` or `assist`."""
    ask_person: tuple[str, ...] = ()
    """Tools that an agent of the fleet may use only when you allow it: names, `*` as in globs."""
    answer_seconds: Seconds = 1800.0
    """How long such an agent waits for your answer; then the tool is denied to it."""

    def __post_init__(self) -> None:
        for place, pattern in enumerate(self.ask_person):
            check_not_blank(pattern, ("ask_person", place))

    def needs_person(self, tool: str) -> bool:
        """Whether only a person may allow this tool."""
        return any(fnmatchcase(tool, pattern) for pattern in self.ask_person)


def posture_in_use(enforcement: Enforcement, environment: Mapping[str, str]) -> Posture:
    """The posture of the table, or the one that the environment names; an unknown one is none."""
    named = environment.get(POSTURE_VARIABLE, "").strip().lower()
    if named in tuple(Posture):
        return Posture(named)
    return enforcement.posture
