"""The event that an agent program hands to a hook on its input, and the dialect that the hook was told to speak."""

import sys
from typing import Any

from msgspec import DecodeError, json

from dos.claims import hook_dialects as dialects
from dos.cli import input as given_text
from dos.errors import BadInput
from dos.text import quote

LONGEST = 64 << 20  # bytes


def at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def event(*, may_be_missing: bool = False) -> dict[str, Any]:
    """The event. Where none need be there, an empty input is an event that says nothing."""
    said = given_text.piped(LONGEST)
    if not said.strip():
        if may_be_missing:
            return {}
        raise BadInput(
            "the input holds no event of a hook",
            hint="Agent programs call this verb. To try it: dos hook stop < event.json",
        )
    if len(said) > LONGEST:
        raise BadInput(f"the event on the input is larger than {LONGEST >> 20} MiB")
    try:
        found = json.decode(said)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"the input is not an event of a hook: {error}") from error
    if not isinstance(found, dict):
        raise BadInput("the input is JSON, and not an event of a hook")
    return found


def check_dialect(name: str) -> None:
    """Bytes in the wrong dialect would be passed over in silence by the program that reads them."""
    if name not in dialects.REFUSALS:
        raise BadInput(
            f"there is no dialect {quote(name)}",
            hint=f"The dialects are {', '.join(dialects.REFUSALS)}.",
        )
