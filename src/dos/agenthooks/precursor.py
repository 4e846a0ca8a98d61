"""Was what a tool needs looked up before it is called?"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct, field

from dos.fields import Table

Words = tuple[str, ...]


class Precursor(Table, frozen=True, kw_only=True):
    """[precursor]: which tools have to be used before others. The agent is only told."""

    requires: dict[str, Words] = field(default_factory=dict)
    """For each tool that changes something: the tools of which one has to be used before it."""
    aliases: dict[str, Words] = field(default_factory=dict)
    """Other names of a tool that looks something up."""


class Answer(StrEnum):
    """What the earlier calls of the conversation show."""

    ATTESTED = "ATTESTED"  # one of them was used
    REFUTED = "REFUTED"  # none of them was
    NO_SIGNAL = "NO_SIGNAL"  # nothing is required, or nothing was called yet


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a call follows what it requires."""

    answer: Answer = field(name="verdict")
    tool: str
    required: tuple[str, ...] = ()
    seen: str = ""  # the tool that attests it
    reason: str = ""


def canonical(name: str) -> str:
    """Return a tool's name without case, and with one kind of separator."""
    return name.casefold().replace("-", "_").replace(".", "_")


def judge(tool: str, earlier: Collection[str], policy: Precursor) -> Verdict:
    """Look for what a tool requires among the tools that were used before it."""
    required = _canonical_table(policy.requires).get(canonical(tool), ())
    if not required:
        return Verdict(
            answer=Answer.NO_SIGNAL, tool=tool, reason=f"{tool} requires nothing before it"
        )
    if not earlier:
        return Verdict(
            answer=Answer.NO_SIGNAL, tool=tool, required=required, reason="no call is known yet"
        )
    aliases = _canonical_table(policy.aliases)
    accepted = {canonical(name) for name in required}
    for name in required:
        accepted.update(canonical(alias) for alias in aliases.get(canonical(name), ()))
    for name in earlier:
        if canonical(name) in accepted:
            return Verdict(
                answer=Answer.ATTESTED,
                tool=tool,
                required=required,
                seen=name,
                reason=f"{name} was used before",
            )
    names = " or ".join(required)
    return Verdict(
        answer=Answer.REFUTED,
        tool=tool,
        required=required,
        reason=f"{tool} was called without {names} before it",
    )


def _canonical_table(table: Mapping[str, Words]) -> dict[str, Words]:
    """The table by canonical names; entries that mean one tool are joined."""
    joined: dict[str, Words] = {}
    for name, words in table.items():
        joined[canonical(name)] = joined.get(canonical(name), ()) + words
    return joined
