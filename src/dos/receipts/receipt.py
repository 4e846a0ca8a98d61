"""A receipt: what was checked, on which tree of which repository, by whom; signed as a whole.

The signed bytes are a prefix that nothing else starts with, and the receipt without its signature
as JSON with sorted keys and no spaces. Every field is in it, so that no bytes can move from one
field to another.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct, ValidationError, convert, structs, to_builtins

from dos.errors import BadInput
from dos.text import quote

SCHEMA = "dos.receipt@3"
SECOND_SCHEMA = "dos.receipt@2"  # without what the command said on the base, and who did the work
SCHEMAS = (SCHEMA, SECOND_SCHEMA)  # that this version reads
RELEASED_SCHEMA = "dos.attest/receipt@1"
LARGEST_BYTES = 1_000_000
NAMESPACE = "dos-receipt"  # of signatures that ssh-keygen makes
_PREFIX = b"dos-receipt signed payload\0"
_LONGEST_NUMBER = 12
_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
_EMPTY: dict[Any, Any] = {str: "", bool: False, tuple[str, ...]: (), int | None: None}
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Algorithm(StrEnum):
    """How a receipt is signed."""

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
    """A signed record of one check. No field has a default: a missing one means it was changed."""

    schema: str
    claim: str
    unit: str
    narrated: str  # what the claimant said; it decides nothing
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
    # Empty where it holds what a receipt may not: then its digest stands for it.
    command: tuple[str, ...]
    command_digest: str
    command_source: str
    bound: bool  # the command was declared for this unit before its commit was made
    exit_code: int | None
    output_digest: str
    started: str
    ended: str
    # What the same command said on the commit below the work; empty where it was not run there.
    base_tree: str
    base_exit_code: int | None  # None also for a command that did not end in time
    base_output_digest: str
    tells_apart: bool  # it failed on the base and passed on the commit
    prior_tests: bool  # by tests that were there before: the work changed none
    red_tests: tuple[str, ...]  # those that the command names
    setup_digest: str  # of the setup command and the lock files
    sandbox: str  # what kept the command from the rest of the system
    agent: str  # who did the work
    model: str
    agent_version: str
    runner: str  # the host that ran the check
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


# The fields that the second schema did not have.
_NEW_FIELDS = (
    "base_tree", "base_exit_code", "base_output_digest", "tells_apart", "prior_tests", "red_tests",
    "setup_digest", "sandbox", "agent", "model", "agent_version",
)  # fmt: skip


class CommandRun(Struct, frozen=True, kw_only=True):
    """A command that ended under the eyes of the runner."""

    script: str  # for the shell
    exit_code: int | None  # None: dos ended it, or it never started
    output_digest: str
    started: str
    ended: str


class NotAReceipt(Struct, frozen=True, kw_only=True):
    """Why some data is not a receipt."""

    why: str
    malformed: bool = False  # not even data of the right kind


class _OddNumber(Struct, frozen=True):
    """A number that no receipt has: a fraction, -0, a number of too many digits."""

    text: str


def unsigned_receipt(**known: Any) -> Receipt:
    """Return an unsigned receipt with the given fields; all others are empty."""
    empty = {field.name: _EMPTY[field.type] for field in structs.fields(Receipt)}
    fixed = {"schema": SCHEMA, "verdict": "UNWITNESSED", "algorithm": Algorithm.NONE}
    return Receipt(**(empty | fixed | known))


def validated(receipt: Receipt) -> Receipt:
    """Return the receipt, or raise BadInput for one that no reader would accept.

    Nothing in it is ever cleaned, since a signature would no longer match.
    """
    problem = _problem(receipt)
    if problem:
        raise BadInput(
            f"a receipt cannot hold this: {problem}",
            hint="Leave it out, or write it in plain text.",
        )
    return receipt


def canonical_bytes(receipt: Receipt) -> bytes:
    """Return the receipt as JSON with sorted keys and no spaces."""
    return msgspec.json.encode(receipt_fields(receipt), order="sorted")


def receipt_fields(receipt: Receipt) -> dict[str, Any]:
    """Return the receipt as a JSON object, with exactly the fields of its schema."""
    fields: dict[str, Any] = to_builtins(receipt)
    if receipt.schema == SECOND_SCHEMA:
        for name in _NEW_FIELDS:
            del fields[name]
    return fields


def signed_payload(receipt: Receipt) -> bytes:
    """Return the bytes that are signed: the prefix, and every field but the signature itself."""
    fields = receipt_fields(receipt)
    del fields["signature"]
    return _PREFIX + msgspec.json.encode(fields, order="sorted")


def parse_receipt(data: bytes) -> Receipt | NotAReceipt:
    """Return the receipt in a file's bytes, or why it is none.

    A key that is written twice, retyped, added or left out makes it none: what is read must be
    exactly what was signed.
    """
    if len(data) > LARGEST_BYTES:
        return NotAReceipt(why=f"it is larger than {LARGEST_BYTES:,} bytes", malformed=True)
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=_without_duplicates,
            parse_float=_OddNumber,
            parse_int=_number,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        return NotAReceipt(why=f"it is not UTF-8 text at byte {error.start + 1}", malformed=True)
    except RecursionError:
        return NotAReceipt(why="it is nested too deeply to be read", malformed=True)
    except ValueError as error:
        message = str(error)
        lowered = message[:1].lower() + message[1:]
        return NotAReceipt(why=f"it is not JSON: {lowered}", malformed=True)
    return decode_receipt(value)


def decode_receipt(value: Any) -> Receipt | NotAReceipt:
    """Return the receipt in a JSON value, or why it is none.

    The value has to encode to the very bytes that the receipt encodes to.
    """
    wrong_kind = _schema_problem(value)
    if wrong_kind:
        return wrong_kind
    for field in value.values():
        if isinstance(field, _OddNumber):
            return NotAReceipt(
                why=f"it holds the number {quote(field.text, 20)}, which no receipt has"
            )
    try:
        receipt = convert(_with_all_fields(value), Receipt)
        same = canonical_bytes(receipt) == msgspec.json.encode(value, order="sorted")
    except ValidationError as error:
        return NotAReceipt(
            why=f"it does not have the fields of a receipt: {quote(str(error), 120)}"
        )
    except (UnicodeEncodeError, TypeError, RecursionError):
        return NotAReceipt(why="a field holds a value that no receipt can hold")
    if not same:
        return NotAReceipt(why="a field is not of the type that it was signed with")
    problem = _problem(receipt)
    if problem:
        return NotAReceipt(why=problem)
    return receipt


def _with_all_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a receipt; those that its schema did not have are empty.

    A receipt of the second schema that has one of them does not encode to the bytes it came from.
    """
    if value["schema"] != SECOND_SCHEMA:
        return value
    types = {field.name: field.type for field in structs.fields(Receipt)}
    return value | {name: _EMPTY[types[name]] for name in _NEW_FIELDS}


def _schema_problem(value: Any) -> NotAReceipt | None:
    """Refuse what is no JSON object, and objects of another schema."""
    if not isinstance(value, dict):
        kind = _type_name(value)
        return NotAReceipt(why=f"a receipt is a JSON object, and this is a {kind}", malformed=True)
    schema = value.get("schema")
    if schema in SCHEMAS:
        return None
    if schema == RELEASED_SCHEMA:
        return NotAReceipt(
            why="dos-kernel 0.30 or older made it, and such receipts can be forged without the key"
        )
    what = "it names no schema"
    if isinstance(schema, str):
        what = f"its schema is {quote(schema)}"
    return NotAReceipt(why=f"{what}; this version reads {SCHEMA!r}", malformed=True)


def parse_timestamp(text: str) -> datetime | None:
    """Return the time of an RFC 3339 timestamp with a zone, or None for any other text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None or text[10:11] != "T":
        return None
    return moment


def repository_digest(roots: Iterable[str]) -> str:
    """Return the digest of the first commits, which all full clones of a repository share."""
    return sha256("\n".join(sorted(roots)).encode()).hexdigest()


def command_digest(argv: tuple[str, ...]) -> str:
    """Return the digest of a command's words."""
    return sha256(b"\0".join(word.encode("utf-8", "surrogatepass") for word in argv)).hexdigest()


def combined_digest(digests: Sequence[str]) -> str:
    """Return the only digest, or the digest of several digests, one a line."""
    if len(digests) == 1:
        return digests[0]
    return sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


def is_plain_text(text: str) -> bool:
    """Whether a text shows what it is: no control characters, line separators or surrogates."""
    if text.isprintable():
        return True
    return not any(unicodedata.category(character) in _CONTROLS for character in text)


def _problem(receipt: Receipt) -> str:
    """Return why a receipt of the right fields is unfit to be signed, or an empty text."""
    for name, text in _texts(receipt):
        if not is_plain_text(text):
            return f"{name} holds a control character: {quote(text)}"
    for name in ("started", "ended", "timestamp", "expires"):
        stamp = getattr(receipt, name)
        if stamp and parse_timestamp(stamp) is None:
            return f"{name} is not a timestamp: {quote(stamp)}"
    objects = [receipt.commit, receipt.tree, *receipt.commits]
    objects += [name for name in (receipt.base, receipt.base_tree) if name]
    for name in objects:
        if not _DIGEST.fullmatch(name):
            return f"{quote(name)} is not the name of a git object"
    return ""


def _texts(receipt: Receipt) -> Iterator[tuple[str, str]]:
    """Yield every text of the receipt with the name of its field."""
    for name, value in structs.asdict(receipt).items():
        values = value
        if not isinstance(value, tuple):
            values = (value,)
        for text in values:
            if isinstance(text, str):
                yield name, text


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a JSON object with a repeated key: parsers disagree on which one counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is in it twice")
    return found


def _number(text: str) -> int | _OddNumber:
    """Return an integer, or a marker for a number that no receipt has."""
    if len(text) > _LONGEST_NUMBER or text == "-0":
        return _OddNumber(text)
    return int(text)


def _constant(text: str) -> Any:
    """Refuse NaN and Infinity, which Python's parser reads and JSON does not have."""
    raise ValueError(f"{text} is not JSON")


_TYPE_NAMES: dict[type, str] = {
    list: "list",
    str: "text",
    bool: "truth value",
    int: "number",
    type(None): "null",
}


def _type_name(value: Any) -> str:
    """Return the kind of a JSON value in words."""
    return _TYPE_NAMES.get(type(value), "value")


class IssuedReceipt(Struct, frozen=True, kw_only=True):
    """The result of issuing a receipt for a landing."""

    receipt: dict[str, Any] | None  # None: it could not be made
    message: str = ""  # what the receipt lacks, or that a key was made
