"""What settings tables are made of: their base class, the ranges of fields, and checks of values.

A table of `dos.toml` is the policy class of the rule that it configures, and lives beside that
rule; `config` composes the tables. The string below a field describes the setting.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self

from msgspec import Meta, Struct, json, structs

from dos import regions
from dos.errors import NameInvalid, RegionInvalid
from dos.text import comparison_key, quote, validated_name

Key = tuple[str | int, ...]  # ("lanes", "trees", "api", 0)

LONGEST_LANE_NAME = 100

# Every duration has an upper bound of about ten years, so that it always fits a timedelta.
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Positive = Annotated[int, Meta(ge=1, le=1_000_000)]
Tokens = Annotated[int, Meta(ge=0, le=10**15)]
Milliseconds = Annotated[float, Meta(ge=0, le=315_360_000_000)]
Seconds = Annotated[float, Meta(ge=1, le=315_360_000)]
Minutes = Annotated[float, Meta(ge=0, le=5_256_000)]
Hours = Annotated[float, Meta(ge=0, le=87_600)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(gt=0, le=1_000_000_000)]
Ratio = Annotated[float, Meta(ge=0, le=1_000_000)]


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base class of settings tables. A key that is not a field is an error."""


class BadValue(ValueError):
    """A value of the right type that is not valid.

    `key` is relative to the table that raises it.
    """

    def __init__(self, key: Key, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.hint = hint


def check_name(name: str, key: Key, what: str) -> None:
    """Raise BadValue for a name that cannot be stored, or that has spaces around it."""
    try:
        validated_name(name, what, longest=LONGEST_LANE_NAME)
    except NameInvalid as error:
        raise BadValue(key, error.message, error.hint) from error
    if name != name.strip():
        raise BadValue(
            key, f"the {what} {quote(name)} has spaces around it", f'Write "{name.strip()}".'
        )


def check_one_spelling(spelled: Iterable[tuple[str, Key]], what: str) -> None:
    """Raise BadValue for two names that differ only by case: file systems may take them for one."""
    first_by_key: dict[str, str] = {}
    for name, key in spelled:
        first = first_by_key.setdefault(comparison_key(name), name)
        if first != name:
            raise BadValue(
                key,
                f"the {what}s {quote(first)} and {quote(name)} differ only by case",
                "Use one spelling, or two names that differ in more than case.",
            )


def check_globs(globs: Sequence[str], key: Key) -> None:
    """Raise BadValue for a glob that is not valid."""
    for number, glob in enumerate(globs):
        try:
            regions.region((glob,))
        except RegionInvalid as error:
            raise BadValue((*key, number), error.message, error.hint) from error


def check_text(text: str, key: Key) -> None:
    """Raise BadValue for a NUL character, which no program and no path can take."""
    if "\0" in text:
        raise BadValue(key, "the text has a NUL character in it", "Remove the NUL.")


def check_not_blank(text: str, key: Key) -> None:
    """Raise BadValue for an empty text or a NUL character."""
    check_text(text, key)
    if not text.strip():
        raise BadValue(
            key, "the text is empty", "Give it a value, or remove the line for the default."
        )


class PublicRecord(Struct, frozen=True):
    """A record that callers of the Python API get."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON has it: strings, numbers, lists and dictionaries."""
        decoded: dict[str, Any] = json.decode(json.encode(self))
        return decoded

    def __replace__(self, /, **changes: Any) -> Self:
        """Return a copy with changes, for `copy.replace`."""
        return structs.replace(self, **changes)


# Numbers in evidence and policies

LARGEST = 1 << 62  # more than a store can hold


def check_counts(**counts: int | None) -> None:
    """Raise ValueError for a count that is negative or too large for a store; None is allowed."""
    for name, count in counts.items():
        if count is None:
            continue
        if count < 0:
            raise ValueError(f"{name} is {count}; it cannot be below 0")
        if count >= LARGEST:
            raise ValueError(f"{name} is {count}; that is not a number to count with")


def check_positive(**counts: int) -> None:
    """Raise ValueError for a count that is below 1 or too large for a store."""
    check_counts(**counts)
    for name, count in counts.items():
        if count == 0:
            raise ValueError(f"{name} is 0; it must be at least 1")


def check_amounts(**amounts: float | None) -> None:
    """Raise ValueError for an amount that is negative or not finite; None is allowed."""
    for name, amount in amounts.items():
        if amount is not None and not 0 <= amount < LARGEST:  # also catches NaN
            raise ValueError(f"{name} is {amount}; it must be a number from 0 upwards")
