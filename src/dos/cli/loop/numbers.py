"""Numbers as they are typed: a list of them, and what a question's records say of one that means nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.text import quote

MOST_DIGITS = 19
P = TypeVar("P", bound=Struct)


def parse_numbers(text: str, flag: str) -> tuple[int, ...]:
    """5,4,3 as numbers; nothing, where nothing is written."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    for word in words:
        if (
            not word.removeprefix("-").isascii()
            or not word.removeprefix("-").isdecimal()
            or len(word) > MOST_DIGITS
        ):
            raise BadInput(
                f"{flag}: {quote(word)} is not a whole number", hint=f"For example: {flag} 5,4,3"
            )
    return tuple(map(int, words))


def with_options(policy: P, **typed: object) -> P:
    """The policy of `dos.toml`, but for what was typed: what is None was not."""
    return structs.replace(
        policy, **{name: value for name, value in typed.items() if value is not None}
    )


@contextmanager
def values_checked(verb: str) -> Iterator[None]:
    """What the records refuse was typed."""
    try:
        yield
    except ValueError as error:
        raise BadInput(str(error), hint=f"`dos {verb} --help` says what it takes.") from error
