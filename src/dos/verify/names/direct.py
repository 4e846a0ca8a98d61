"""The unit that begins a subject: `AUTH1: log in`, `docs/AUTH AUTH1: log in`."""

import re
from collections.abc import Sequence
from functools import cached_property

from dos.text import ascii_lower
from dos.verify.names.spelling import END, any_of, contains_plan, literal

ANY_FOLDER = r"(?:[\w.\-]+/)?"


class DirectName:
    """The names of one unit as they begin a subject.

    `folders` is a pattern for what may stand before the plan. Where it is not any folder, the id
    has to stand beside its plan.
    """

    def __init__(self, plan: str, spellings: Sequence[str], folders: str) -> None:
        self._plan = plan
        self._spellings = list(spellings)
        self._folders = folders
        self._bare = [name for name in spellings if contains_plan(plan, name)]

    def find(self, text: str) -> tuple[int, int] | None:
        """Where the unit begins and ends; None if the text does not begin with it."""
        head, colon, _ = text.partition(":")
        if colon and ascii_lower(head) in self._words:
            return 0, len(head) + 1
        match = self._pattern.match(text)
        return match.span("unit") if match else None

    @cached_property
    def _words(self) -> frozenset[str]:
        """The names of one word, in lower case: most names are, and no pattern is needed."""
        if self._folders != ANY_FOLDER:
            return frozenset()
        longer = (name for name in self._bare if len(name) > len(self._plan))
        return frozenset(ascii_lower(name) for name in longer if not set(name) & set(" \t:/"))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        series = literal(self._plan)
        any_spelling = any_of(self._spellings)
        spaced = f"{series}:?[ \\t]+{any_spelling}{END}"
        if self._folders != ANY_FOLDER:
            return re.compile(f"{self._folders}(?P<unit>{spaced})")
        glued = f"{series}{any_spelling}:"
        if self._bare:
            glued += f"|{any_of(self._bare)}:"
        return re.compile(f"{self._folders}(?P<unit>{spaced}|{glued})")
