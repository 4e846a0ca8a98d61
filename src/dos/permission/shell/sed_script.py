"""Whether a sed script only edits what it prints: no `w`, no `e`, nothing that cannot be read."""

import re

_ADDRESS = re.compile(r"[0-9]+(?:~[0-9]+)?|\$")
_SECOND = re.compile(r"[+~]?[0-9]+|\$")
_SIMPLE = re.compile(r"[=dDgGhHlLnNpPqQxzF][ \t]*[0-9]*")
_LABEL = re.compile(r"[:btTv][ \t]*[\w.-]*", re.ASCII)
_FLAGS = re.compile(r"[gpiImM0-9]*")
_BLANK = re.compile(r"[\s;]*")
_END = re.compile(r"[ \t]*(?=[;\n}#]|\Z)")


def only_prints(script: str) -> bool:
    """Whether a script, as sed reads it, writes no file and runs no program."""
    return _Reader(script).read()


class _Reader:
    """Goes through a script once; whatever it does not know ends it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def read(self) -> bool:
        """Whether every command was understood and is harmless."""
        while True:
            self._skip(_BLANK)
            if self._position >= len(self._text):
                return True
            if not (self._addresses() and self._command()):
                return False

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._position)
        if found is None:
            return False
        self._position = found.end()
        return True

    def _here(self) -> str:
        return self._text[self._position : self._position + 1]

    def _addresses(self) -> bool:
        """Skip what selects the lines; False where a pattern has no end."""
        if self._here() and self._here() in "/\\":
            if not self._pattern():
                return False
        elif not self._skip(_ADDRESS):
            return True
        self._skip(re.compile(r"[ \t]*"))
        if self._here() == ",":
            self._position += 1
            self._skip(re.compile(r"[ \t]*"))
            found = self._pattern() if self._here() in ("/", "\\") else self._skip(_SECOND)
            if not found:
                return False
        return self._skip(re.compile(r"[ \t!]*"))

    def _pattern(self) -> bool:
        """Skip a pattern in slashes, or between others after a backslash."""
        if self._here() == "\\":
            self._position += 1
        delimiter = self._here()
        self._position += 1
        return self._to(delimiter) and self._skip(re.compile("[IM]*"))

    def _to(self, delimiter: str) -> bool:
        """Skip what lies before the next delimiter that is not escaped."""
        if delimiter in ("", "\n", "\\"):
            return False
        while self._position < len(self._text):
            here = self._here()
            self._position += 2 if here == "\\" else 1
            if here == delimiter:
                return True
        return False

    def _command(self) -> bool:
        self._skip(re.compile(r"[ \t!]*"))
        here = self._here()
        match here:
            case "{" | "}":
                self._position += 1
                return True
            case "#" | "r" | "R":
                self._to_line_end()
                return True
            case "a" | "i" | "c":
                self._to_text_end()
                return True
            case "s" | "y":
                self._position += 2
                delimiter = self._text[self._position - 1 : self._position]
                if not (self._to(delimiter) and self._to(delimiter)):
                    return False
                if here == "s":
                    self._skip(_FLAGS)
                return self._skip(_END)
        return (self._skip(_LABEL) or self._skip(_SIMPLE)) and self._skip(_END)

    def _to_line_end(self) -> None:
        end = self._text.find("\n", self._position)
        self._position = len(self._text) if end < 0 else end

    def _to_text_end(self) -> None:
        """Skip the text of `a`, `i` and `c`: lines that end with a backslash continue."""
        while self._position < len(self._text) and self._here() != "\n":
            self._position += 2 if self._here() == "\\" else 1
