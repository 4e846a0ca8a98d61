"""Run ids: `RID-`, nine characters of time, six of chance; and the run that an environment names.

They sort by time, and they are safe as a segment of a path.
"""

from collections.abc import Mapping

from msgspec import Struct

from dos.errors import NameInvalid
from dos.text import quote, validated_name

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ENTROPY_BITS = 30
_LENGTH = 19
# The variables that name the run of a process: what a worker sets, then what other launchers do.
LAUNCHER_VARIABLES = ("CID_RUN_ID", "DISPATCH_RUN_ID")
VARIABLES = ("DOS_RUN_ID", *LAUNCHER_VARIABLES)
_LONGEST_NAME = 200  # of a run that another launcher made up


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


def all_named_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the runs that an environment names, the nearest launcher's first.

    That is what the process was told, and proves nothing. Other launchers have ids of their own
    form; a value that no event can hold names no run.
    """
    values = [environment.get(name, "") for name in VARIABLES]
    return tuple(value for value in values if _is_name(value))


def named_in(environment: Mapping[str, str]) -> str:
    """Return the run that an environment names, "" where it names none: see `all_named_in`."""
    return next(iter(all_named_in(environment)), "")


def _is_name(value: str) -> bool:
    """Whether a value can be the name of a run."""
    return 0 < len(value) <= _LONGEST_NAME and value.isascii() and value.isprintable()


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
