"""Run ids: `RID-`, nine characters of time, six of chance.

They sort by time, and they are safe as a segment of a path.
"""

from msgspec import Struct

from dos.errors import NameInvalid
from dos.text import quote, validated_name

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ENTROPY_BITS = 30
_LENGTH = 19


class RunIdentity(Struct, frozen=True, kw_only=True):
    """A run with its parent, and the root of the tree of runs that it belongs to."""

    run_id: str
    process_id: str
    parent_id: str | None
    root_id: str
    ts_ms: int


def mint(
    ts_ms: int, entropy: int, process: str, *, parent: str | None = None, root: str | None = None
) -> RunIdentity:
    """Return the identity of a new run.

    Its root is the given one, else the parent, else itself. Raises NameInvalid for a process name
    or a run id that is not valid.
    """
    process = validated_name(process, "process name")
    if not process.startswith("PROC-"):
        process = f"PROC-{process}"
    if parent is not None:
        validated_run_id(parent)
    if root is not None:
        validated_run_id(root)
    run_id = f"RID-{_encode(ts_ms, 9)}{_encode(entropy, 6)}"
    return RunIdentity(
        run_id=run_id,
        process_id=process,
        parent_id=parent,
        root_id=root or parent or run_id,
        ts_ms=ts_ms,
    )


def is_run_id(text: str) -> bool:
    """Whether the text is a run id."""
    if len(text) != _LENGTH or not text.startswith("RID-"):
        return False
    return set(text[4:]) <= set(ALPHABET)


def validated_run_id(text: str) -> str:
    """Return the run id. Raises NameInvalid for anything else, because it becomes part of paths."""
    if not is_run_id(text):
        raise NameInvalid(
            f"{quote(text)} is not a run id",
            hint="A run id is RID- and 15 characters; `dos timeline LANE` shows that of a lane.",
        )
    return text


def started_ms(run_id: str) -> int:
    """Return the time that is encoded in a run id. Raises NameInvalid for anything else."""
    number = 0
    for character in validated_run_id(run_id)[4:13]:
        number = number * 32 + ALPHABET.index(character)
    return number


def _encode(number: int, width: int) -> str:
    characters = []
    for _ in range(width):
        number, digit = divmod(number, 32)
        characters.append(ALPHABET[digit])
    return "".join(reversed(characters))
