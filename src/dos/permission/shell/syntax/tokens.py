"""The tokens of a shell text: words, redirections, operators, and what only some shells have."""

import re

from msgspec import Struct, field

_STREAM = re.compile(r"[0-9]+-?|-")
_EXPANDED = re.compile(r"[$`\\]")
_SUBSTITUTES = re.compile(r"\$[(\[]|`|\$\{(?!\w+\})")


class NotReadable(Exception):
    """The text is too long or nests too deeply to be read."""


class Word(Struct, kw_only=True):
    """A word as a program gets it, except for what the shell would expand."""

    text: str = ""
    is_literal: bool = True  # False: holds a variable, a substitution, or arithmetic
    is_keyword: bool = False  # by its place
    is_quoted: bool = False  # some of it was quoted or escaped, so it is no keyword
    has_glob: bool = False
    has_brace: bool = False
    has_tilde: bool = False
    variables: tuple[str, ...] = ()  # whose text is part of it; "" for a substitution
    is_split: bool = False  # an expansion outside of quotes can become several words, or none


class Redirect(Struct, kw_only=True):
    """A redirection: to or from a file, or from a heredoc."""

    operator: str  # without the number of the stream
    target: Word
    body: str | None = None  # of a heredoc
    strips_tabs: bool = False
    variable: str = ""  # of `{NAME}>`, which is set to the number of the stream

    @property
    def body_is_data(self) -> bool:
        """Whether the shell hands the heredoc on as it stands, because it expands nothing in it."""
        if self.target.is_quoted or self.body is None:
            return True
        return not _SUBSTITUTES.search(self.body)

    @property
    def is_stream(self) -> bool:
        """Whether the target is another stream, or nothing."""
        return self.operator == ">&" and bool(_STREAM.fullmatch(self.target.text))

    @property
    def is_verbatim(self) -> bool:
        """Whether a program gets the heredoc letter by letter, so that it can be read here."""
        if self.target.is_quoted or self.body is None:
            return True
        return not _EXPANDED.search(self.body)


class Operator(Struct, kw_only=True):
    """What stands between commands: `;`, `&&`, a newline, a parenthesis, and so on."""

    text: str


class Arithmetic(Struct, kw_only=True):
    """`((…))` where a command or the header of a loop stands."""


Token = Word | Redirect | Operator | Arithmetic


class Script(Struct, kw_only=True):
    """The tokens of a shell text, and those of the substitutions in its words."""

    tokens: list[Token] = field(default_factory=list)
    substitutions: list["Script"] = field(default_factory=list)
    arithmetic: list[str] = field(default_factory=list)  # as it was written
    unknown: str = ""  # why it may mean something else
    parameters: list[str] = field(default_factory=list)  # between the braces of `${…}`
