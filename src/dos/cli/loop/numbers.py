"""Parse the numbers and policy options of the verdict verbs.

Every refused value becomes BadInput, so that a verb exits with 2 and a hint, never with a
traceback.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from msgspec import Struct, structs

from dos.errors import BadInput
from dos.text import quote

# With a sign; a longer number would not fit into a store, and `int` takes long for some.
MOST_DIGITS = 19
P = TypeVar("P", bound=Struct)


def parse_numbers(text: str, flag: str) -> tuple[int, ...]:
    """Parse 5,4,3 into numbers; an empty text has none. Raises BadInput for any other word."""
    if not text.strip():
        return ()
    words = [word.strip() for word in text.split(",")]
    for word in words:
        digits = word.removeprefix("-")
        if not digits.isascii() or not digits.isdecimal() or len(word) > MOST_DIGITS:
            raise BadInput(
                f"{flag}: {quote(word)} is not a whole number", hint=f"For example: {flag} 5,4,3"
            )
    return tuple(map(int, words))


def with_options(policy: P, **options: object) -> P:
    """Return the policy of dos.toml with the options that were given; None stands for not given."""
    given = {name: value for name, value in options.items() if value is not None}
    return structs.replace(policy, **given)


@contextmanager
def values_checked(verb: str) -> Iterator[None]:
    """Turn a value that a policy or an evidence record refuses into BadInput."""
    try:
        yield
    except ValueError as error:
        raise BadInput(str(error), hint=f"`dos {verb} --help` shows what it takes.") from error
