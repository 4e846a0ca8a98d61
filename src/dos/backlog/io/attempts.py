"""The tries at a unit: those of the journal, or those that a caller wrote down."""

from collections.abc import Mapping
from typing import Any

from msgspec import DecodeError, json

from dos.backlog.attempt_state import Attempts
from dos.errors import BadInput
from dos.journal import fold
from dos.world import World


def recorded(world: World) -> Attempts:
    state, _ = fold.current(world.journal, Attempts)
    return state


def written(text: str) -> list[Mapping[str, Any]]:
    """The rows of a list in JSON. What is no row is passed over: an attempt that cannot be read was none."""
    try:
        rows = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"--attempts is not JSON: {error}", hint="Give a list, such as []."
        ) from error
    if not isinstance(rows, list):
        raise BadInput("--attempts is not a list", hint="Give a list, such as [].")
    return [row for row in rows if isinstance(row, Mapping)]
