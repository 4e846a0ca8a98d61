"""What a settings table is made of: its base class, the ranges of its fields, and the error that names a key.

A table of `dos.toml` is the policy class of the rule that it sets, and lives beside that rule; `config` composes them.
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
Milliseconds = Annotated[float, Meta(ge=0, le=315_360_000_000)]
Seconds = Annotated[float, Meta(ge=1, le=315_360_000)]
Minutes = Annotated[float, Meta(ge=0, le=5_256_000)]
Hours = Annotated[float, Meta(ge=0, le=87_600)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(gt=0, le=1_000_000_000)]
Ratio = Annotated[float, Meta(ge=0, le=1_000_000)]


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of the file: a key that is not a field is an error."""


class BadValue(ValueError):
    """A value that has the right type and is wrong; `key` is relative to the table that found it."""

    def __init__(self, key: Key, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.hint = hint


def check_name(name: str, key: Key, what: str) -> None:
    try:
        validated_name(name, what, longest=LONGEST_LANE_NAME)
    except NameInvalid as error:
        raise BadValue(key, error.message, error.hint) from error
    if name != name.strip():
        raise BadValue(
            key, f"the {what} {quote(name)} has spaces around it", f'Write "{name.strip()}".'
        )


def check_one_spelling(spelled: Iterable[tuple[str, Key]], what: str) -> None:
    """Two names that differ only by case are one lane to git on half of all machines."""
    seen: dict[str, str] = {}
    for name, key in spelled:
        first = seen.setdefault(comparison_key(name), name)
        if first != name:
            raise BadValue(
                key,
                f"the {what}s {quote(first)} and {quote(name)} differ only by case",
                "Use one spelling, or two names that differ in more than case.",
            )


def check_globs(globs: Sequence[str], key: Key) -> None:
    for place, glob in enumerate(globs):
        try:
            regions.region((glob,))
        except RegionInvalid as error:
            raise BadValue((*key, place), error.message, error.hint) from error


def check_text(text: str, key: Key) -> None:
    """No text of the file can be handed to a program or a path with a NUL in it."""
    if "\0" in text:
        raise BadValue(key, "the text has a NUL character in it", "Take the NUL out.")


def check_not_blank(text: str, key: Key) -> None:
    check_text(text, key)
    if not text.strip():
        raise BadValue(
            key, "the text is empty", "Give it a value, or take the line out to get the default."
        )


class PublicRecord(Struct, frozen=True):
    def to_dict(self) -> dict[str, Any]:
        """The record as JSON has it: names, strings, numbers, lists, dictionaries."""
        found: dict[str, Any] = json.decode(json.encode(self))
        return found

    def __replace__(self, /, **changes: Any) -> Self:
        """For `copy.replace`."""
        return structs.replace(self, **changes)
