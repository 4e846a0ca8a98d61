"""What every record that callers of their own handle can do, whatever version of Python and msgspec they have."""

from typing import Any, Self

from msgspec import Struct, json, structs


class PublicRecord(Struct, frozen=True):
    def to_dict(self) -> dict[str, Any]:
        """The record as JSON has it: names, strings, numbers, lists, dictionaries."""
        found: dict[str, Any] = json.decode(json.encode(self))
        return found

    def __replace__(self, /, **changes: Any) -> Self:
        """For `copy.replace`."""
        return structs.replace(self, **changes)
