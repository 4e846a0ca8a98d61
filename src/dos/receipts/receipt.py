"""A receipt: what was checked, on which tree of which repository, by whom; signed as a whole.

What is signed is the receipt without its signature, as JSON with sorted keys and without spaces, after a prefix that
nothing else begins with. Every field is in it, so bytes cannot wander from one into another.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from msgspec import Struct, ValidationError, convert, structs, to_builtins
from msgspec import json as compact

from dos.errors import BadInput
from dos.text import quote

SCHEMA = "dos.receipt@2"
RELEASED_SCHEMA = "dos.attest/receipt@1"
LARGEST_BYTES = 1_000_000
NAMESPACE = "dos-receipt"  # of signatures that ssh-keygen makes
_PREFIX = b"dos-receipt signed payload\0"
_LONGEST_NUMBER = 12
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
_EMPTY: dict[Any, Any] = {str: "", bool: False, tuple[str, ...]: (), int | None: None}
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Algorithm(StrEnum):
    ED25519 = "ED25519"
    SSHSIG = "SSHSIG"
    NONE = "none"  # recorded, and never valid


class Source(StrEnum):
    """Who declared the command that was run."""

    UNIT = "unit"
    WORKSPACE = "workspace"
    BOTH = "unit+workspace"
    CALLER = "caller"
    NOBODY = ""


class Receipt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No field has a default: one that is missing is a receipt that was changed."""

    schema: str
    claim: str
    unit: str
    narrated: str  # what the claimant said; nobody reads it
    repo: str  # digest of the first commits of the history
    commit: str
    tree: str
    base: str
    commits: tuple[str, ...]  # after the base, oldest first
    target: str  # the branch as a whole ref
    ancestor: bool  # the branch held the commit when this was signed
    survives: bool  # and none of what it changed had been changed again
    region: tuple[str, ...]
    region_root: str  # the folder that the globs start in, as git's paths begin
    paths_in_region: bool
    command: tuple[
        str, ...
    ]  # empty where it holds what a receipt may not: then its digest stands for it
    command_digest: str
    command_source: str
    bound: bool  # the command was declared for this unit before its commit was made
    exit_code: int | None
    output_digest: str
    started: str
    ended: str
    runner: str  # the host; with the key it is who ran it
    nonce: str
    expires: str  # empty: never
    witness_surface: str
    witness_author: str
    accountability_tier: str
    verdict: str
    believe: bool
    refuted: bool
    timestamp: str
    algorithm: str
    key_id: str
    signature: str


class CommandRun(Struct, frozen=True, kw_only=True):
    """A command that a runner saw end."""

    script: str  # for the shell
    exit_code: int | None  # None: it was ended by us, or never began
    output_digest: str
    started: str
    ended: str


class NotAReceipt(Struct, frozen=True, kw_only=True):
    """Why what was given is not a receipt."""

    why: str
    malformed: bool = False  # it is not even the kind of thing that could be one


class _OddNumber(Struct, frozen=True):
    """A number that no receipt has: a fraction, -0, one without end."""

    text: str


def unsigned_receipt(**known: Any) -> Receipt:
    """A receipt that says nothing but what is given, and is not signed."""
    empty = {field.name: _EMPTY[field.type] for field in structs.fields(Receipt)}
    fixed = {"schema": SCHEMA, "verdict": "UNWITNESSED", "algorithm": Algorithm.NONE}
    return Receipt(**(empty | fixed | known))


def validated(receipt: Receipt) -> Receipt:
    """The receipt itself, or an error: nothing in it is ever cleaned."""
    if why := _problem(receipt):
        raise BadInput(
            f"this cannot stand in a receipt: {why}",
            hint="Leave it out, or write it in plain text.",
        )
    return receipt


def canonical_bytes(receipt: Receipt) -> bytes:
    return compact.encode(to_builtins(receipt), order="sorted")


def signed_payload(receipt: Receipt) -> bytes:
    """The bytes that are signed."""
    fields = to_builtins(receipt)
    del fields["signature"]
    return _PREFIX + compact.encode(fields, order="sorted")


def parse_receipt(data: bytes) -> Receipt | NotAReceipt:
    """The receipt in a file. What was written twice, retyped, added or left out makes it none."""
    if len(data) > LARGEST_BYTES:
        return NotAReceipt(why=f"it is larger than {LARGEST_BYTES:,} bytes", malformed=True)
    try:
        found = json.loads(
            data.decode(),
            object_pairs_hook=_without_duplicates,
            parse_float=_OddNumber,
            parse_int=_number,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        return NotAReceipt(
            why=f"it is not UTF-8 text: byte {error.start + 1} is none", malformed=True
        )
    except RecursionError:
        return NotAReceipt(why="it is nested too deeply to be read", malformed=True)
    except ValueError as error:
        return NotAReceipt(
            why=f"it is not JSON: {str(error)[:1].lower()}{str(error)[1:]}", malformed=True
        )
    return decode_receipt(found)


def decode_receipt(found: Any) -> Receipt | NotAReceipt:
    """The receipt in a JSON value."""
    if not isinstance(found, dict):
        return NotAReceipt(
            why=f"a receipt is a JSON object, and this is a {_type_name(found)}", malformed=True
        )
    if found.get("schema") == RELEASED_SCHEMA:
        return NotAReceipt(
            why="it is of the released kind, whose fields can be forged without the key"
        )
    if found.get("schema") != SCHEMA:
        named = found.get("schema")
        what = f"its schema is {quote(named)}" if isinstance(named, str) else "it names no schema"
        return NotAReceipt(why=f"{what}, and {SCHEMA!r} is read here", malformed=True)
    if odd := next((value for value in found.values() if isinstance(value, _OddNumber)), None):
        return NotAReceipt(why=f"it holds the number {quote(odd.text, 20)}, which no receipt has")
    try:
        receipt = convert(found, Receipt)
        same = canonical_bytes(receipt) == compact.encode(found, order="sorted")
    except ValidationError as error:
        return NotAReceipt(
            why=f"it does not have the fields of a receipt: {quote(str(error), 120)}"
        )
    except (UnicodeEncodeError, TypeError, RecursionError):
        return NotAReceipt(why="a field holds what no receipt can hold")
    if not same:
        return NotAReceipt(why="a field is not of the type that it was signed with")
    why = _problem(receipt)
    return NotAReceipt(why=why) if why else receipt


def parse_timestamp(text: str) -> datetime | None:
    """The time that an RFC 3339 stamp names; None when it names none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None and text[10:11] == "T" else None


def repository_digest(roots: Iterable[str]) -> str:
    """What all full clones of one repository share."""
    return sha256("\n".join(sorted(roots)).encode()).hexdigest()


def command_digest(argv: tuple[str, ...]) -> str:
    return sha256(b"\0".join(word.encode("utf-8", "surrogatepass") for word in argv)).hexdigest()


def combined_digest(digests: Sequence[str]) -> str:
    """Of one thing its own; of several, the digest of their digests, each on a line."""
    return (
        digests[0]
        if len(digests) == 1
        else sha256("".join(f"{each}\n" for each in digests).encode()).hexdigest()
    )


def is_plain_text(text: str) -> bool:
    """No control characters, line separators or halves of characters: it looks like what it is."""
    return text.isprintable() or not any(
        unicodedata.category(character) in _CONTROLS for character in text
    )


def _problem(receipt: Receipt) -> str:
    for name, text in _texts(receipt):
        if not is_plain_text(text):
            return f"{name} holds a control character: {quote(text)}"
    for name in ("started", "ended", "timestamp", "expires"):
        stamp = getattr(receipt, name)
        if stamp and parse_timestamp(stamp) is None:
            return f"{name} is no moment: {quote(stamp)}"
    named = (
        receipt.commit,
        receipt.tree,
        *receipt.commits,
        *([receipt.base] if receipt.base else []),
    )
    strange = next((sha for sha in named if not _DIGEST.fullmatch(sha)), None)
    return "" if strange is None else f"{quote(strange)} is no object of git"


def _texts(receipt: Receipt) -> Iterator[tuple[str, str]]:
    for name, value in structs.asdict(receipt).items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str):
                yield name, text


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands in it twice")
    return found


def _number(text: str) -> int | _OddNumber:
    return _OddNumber(text) if len(text) > _LONGEST_NUMBER or text == "-0" else int(text)


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _type_name(found: Any) -> str:
    return {list: "list", str: "text", bool: "truth value", int: "number", type(None): "null"}.get(
        type(found), "value"
    )


class IssuedReceipt(Struct, frozen=True, kw_only=True):
    receipt: dict[str, Any] | None  # None: it could not be made
    message: str = ""
