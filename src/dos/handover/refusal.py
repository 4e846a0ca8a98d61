"""Why a hand-over was refused, in words that go back to the agent."""

from enum import StrEnum

from msgspec import Struct

from dos.text import printable_path


class Rule(StrEnum):
    """The rule that a hand-over broke."""

    CLAIM = "claim"  # what was sent as a commit's id is none
    SENDER = "sender"  # the git of the lane failed while it sent
    PACK = "pack"  # what was sent is not a valid pack
    LIMIT = "limit"  # more than `Limits` allows
    INCOMPLETE = "incomplete"  # an object is missing
    SURPLUS = "surplus"  # objects that no commit needs
    ANCESTRY = "ancestry"  # the work is not based on the commit that the lane was given
    NAME = "name"
    MODE = "mode"
    COLLISION = "collision"
    LINK = "link"
    SUBMODULE = "submodule"
    UNCHECKED = "unchecked"  # the check itself failed; this says nothing about the work


_SAYS_NOTHING = (Rule.UNCHECKED, Rule.SENDER)


class Refused(Struct, frozen=True, kw_only=True):
    """A hand-over that was not taken. Nothing of it is in the user's repository."""

    rule: Rule
    reason: str  # a sentence without its full stop

    @property
    def retryable(self) -> bool:
        """Whether the same work may be taken at the next attempt."""
        return self.rule in _SAYS_NOTHING


def show_path(path: bytes) -> str:
    """Return a path of a tree as a message shows it."""
    return printable_path(path.decode("utf-8", "surrogateescape"))
