"""Reads the strings and comments of languages that are not in the table, by Pygments.

Many of its lexers take quadratic or exponential time on texts that are made for it. Those that are
named here were tried on such texts, and what they read is short; all others stay unknown.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from dos.verify.code.languages import Language
from dos.verify.code.scanner import Segment

LARGEST_TEXT = 60_000  # characters of a text that is read
_LONG_BLANK = re.compile(r"\s{200}")  # some of them look back over it at each character
# The name of a lexer, and the suffixes or names of its files. In the first group indentation
# means something, in the second it does not.
_INDENTED = """
    elm elm; gdscript gd; haskell hs; idris idr; koka kk; lean lean; mojo mojo; nimrod nim nims;
    cython pyx pxd; sass sass; vyper vy
"""
_FREE = """
    caddyfile caddyfile; capnp capnp; clojure clj cljc edn; clojurescript cljs;
    cobol cob cpy; dylan dylan; eiffel e; elixir ex exs; emacs-lisp el;
    factor factor; fish fish; futhark fut; gherkin feature; glsl glsl vert frag geo; graphql
    graphql gql; hare ha; haxe hx; hlsl hlsl; json5 json5; jsonnet jsonnet libsonnet; julia jl;
    kconfig kconfig; nasm asm nasm; nginx nginx; odin odin; pony pony; procfile procfile; prql
    prql; properties properties; racket rkt; rego rego; smithy smithy; sml sml sig; stan stan;
    tcsh csh tcsh; wast wat wast; webidl webidl; wren wren; yang yang
"""
_KEPT = ("Hashbang", "Preproc", "PreprocFile", "Directive")  # kinds of comments that are code
_OBEYED = re.compile(r"#!|\{-#|!\$|!DIR\$|/\*[!+]|--\+")

_DOCUMENTATION = re.compile(
    r"@(?:module|type)?doc[ \t]++(?:(?:~[sS])?+\"{3}[^\"]*+(?:\"(?!\"\")[^\"]*+)*+\"{3}"
    r"|\"(?!\"\")[^\"\\\n]*+(?:\\[^\n][^\"\\\n]*+)*+\")"
)
_IN_USE = re.compile(r"iex>|#\{")  # a test that a runner reads, and code in a text


def segments(suffix: str, text: str) -> tuple[list[Segment], Language] | None:
    """The strings and comments of a text with the code around them, and how it is laid out.

    None if no lexer is known for the suffix, or the text is too long for one.
    """
    name, is_indented = _lexer_names().get(suffix, ("", False))
    if not name or len(text) > LARGEST_TEXT or _LONG_BLANK.search(text):
        return None
    pieces = _lexer(name).get_tokens_unprocessed(text)
    if name == "elixir":
        pieces = _without_documentation(pieces, text)
    return list(_joined(pieces)), Language(indented=is_indented)


def _without_documentation(
    pieces: Iterable[tuple[int, Any, str]], text: str
) -> Iterator[tuple[int, Any, str]]:
    """The pieces of Elixir, with its `@doc` as comments unless they hold tests or code."""
    read_to = 0
    for start, kind, piece in pieces:
        end = start + len(piece)
        if end <= read_to:
            continue
        found = _DOCUMENTATION.match(text, start) if piece[:1] == "@" else None
        if found and kind[:2] == ("Name", "Attribute") and not _IN_USE.search(found[0]):
            yield start, ("Comment",), found[0]
            read_to = found.end()
        else:
            first = max(start, read_to)
            yield first, kind, text[first:end]


def _joined(pieces: Iterable[tuple[int, Any, str]]) -> Iterator[Segment]:
    """The segments of a text from the pieces of a lexer, neighbours of one kind together."""
    code = ""
    for kind, group in itertools.groupby(pieces, _kind):
        text = "".join(text for _, _, text in group)
        if kind == "code":
            code += text
            continue
        is_comment = kind == "comment" and not _OBEYED.match(text)
        ends = "\n" if is_comment and text.endswith("\n") else ""  # which is none of its own
        yield Segment(code, text.removesuffix(ends), is_comment, is_docstring=False)
        code = ends
    yield Segment(code, "", is_comment=False, is_docstring=False)


def _kind(piece: tuple[int, Any, str]) -> str:
    """Whether a piece is code, a comment or a string."""
    _, kind, text = piece
    if kind[:1] == ("Comment",):
        return "code" if kind[1:] and kind[1] in _KEPT else "comment"
    if kind[:2] == ("Literal", "String"):
        return "comment" if kind[2:] == ("Doc",) else "string"
    return "string" if text[:1] in ("'", '"') else "code"


@cache
def _lexer(name: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # at use: it takes longer than most answers

    return get_lexer_by_name(name)


@cache
def _lexer_names() -> dict[str, tuple[str, bool]]:
    """The name of the lexer by suffix, and whether indentation means something."""
    names: dict[str, tuple[str, bool]] = {}
    for table, is_indented in ((_INDENTED, True), (_FREE, False)):
        for entry in table.split(";"):
            name, *suffixes = entry.split()
            for suffix in suffixes:
                names[suffix] = name, is_indented
    return names
