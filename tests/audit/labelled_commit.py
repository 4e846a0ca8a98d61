"""A small commit with the right answers to both questions of the audit, and why they are right."""

from msgspec import Struct


class LabelledCommit(Struct, frozen=True, kw_only=True):
    """A change of a few files under a subject, labelled by a person who read it."""

    subject: str
    files: dict[str, tuple[str | None, str | None]]  # path -> before and after; None: no file
    claim: str  # done, not_done
    tests: str  # not_touched, kept, strengthened, weakened
    why: str
    body: str = ""
