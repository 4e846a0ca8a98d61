"""The commit id that a lane claims to have reached."""

import re

from dos.handover.refusal import Refused, Rule
from dos.text import quote

MOST_BYTES = 65  # an id of a SHA-256 repository and a line end
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def is_id(text: str, base: str) -> bool:
    """Whether a text is a whole id in the object format of the base."""
    return len(text) == len(base) and _ID.fullmatch(text.encode("utf-8", "replace")) is not None


def parse_claim(line: bytes, base: str) -> str | Refused:
    """Return the id on a line that a lane printed; only a whole one, and nothing else, counts."""
    text = line[:MOST_BYTES].removesuffix(b"\n").decode("ascii", "replace")
    if is_id(text, base):
        return text
    return Refused(
        rule=Rule.CLAIM, reason=f"the HEAD of the lane is {quote(text)}, which is not a commit id"
    )
