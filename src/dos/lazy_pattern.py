"""Regular expressions that cost nothing before they are used.

A short command loads many patterns and needs few of them; compiling all would be most of its time.
"""

import re
from collections.abc import Iterator
from functools import cached_property


class LazyPattern:
    """A pattern that is compiled at its first use. The methods are those of `re.Pattern`."""

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def match(self, text: str, begin: int = 0) -> re.Match[str] | None:
        return self.compiled.match(text, begin)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def search(self, text: str, begin: int = 0) -> re.Match[str] | None:
        return self.compiled.search(text, begin)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)

    def split(self, text: str) -> list[str]:
        return self.compiled.split(text)

    def sub(self, new: str, text: str) -> str:
        return self.compiled.sub(new, text)
