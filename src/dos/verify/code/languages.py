"""How each language writes its comments and its strings, by the suffix of a file.

A language becomes one pattern whose named groups say what was matched: `keep` is a string or the
like, `drop` a comment, `nest` opens a comment that can contain another, `raw` opens text that ends
at a mark of its own. Every repetition is possessive, and what is never closed runs to the end of
the text or is short, so reading takes linear time.
"""

import re
from enum import StrEnum
from functools import cache

from msgspec import Struct, structs


class Breaks(StrEnum):
    """What the end of a line means."""

    NOTHING = "nothing"  # no more than a space
    SOME = "some"  # it ends a statement, unless a bracket is open or an operator stands there
    EVERY = "every"


class Language(Struct, frozen=True, kw_only=True):
    """The comments and strings of one language, as fragments of a pattern; and its layout."""

    begins: str = ""  # the characters that any of its fragments can begin with
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    obeyed: str = ""  # how a comment begins that a compiler or a runner reads: it is none
    obeyed_first: bool = False  # and such a one stands in the first two lines
    preamble: str = ""  # comment lines that the line after them makes code; group: code
    nest: tuple[str, str] | None = None  # how a comment that nests opens and closes
    raw: str = ""  # its groups name the end of it; `dashes` says that it is a comment
    here_ends: str = ""  # a line that ends a document inside the text; group: word
    lines: tuple[str, ...] = ()  # a line that begins with one of these is a comment
    indented: bool = False  # how far a line is indented means something
    tight: bool = False  # spaces beside brackets, commas and the like mean nothing
    docstrings: bool = False  # a string that stands alone is a comment
    breaks: Breaks = Breaks.EVERY  # the rest tells which layouts of tight languages are alike
    commas: str = ""  # before which brackets a last comma means nothing
    loose_braces: bool = False  # braces around one statement mean nothing
    like_quotes: bool = False  # 'a' is "a"
    loose_semicolons: bool = False  # the end of a line can stand for a semicolon
    line_bound: str = ""  # in a text that has this, the end of every line means something
    recipes: bool = False  # a tab at the beginning of a line means something


class CompiledLanguage(Struct, frozen=True, kw_only=True):
    """A language with its patterns compiled; None where it has nothing of the kind."""

    language: Language
    finds: re.Pattern[str] | None
    nests: re.Pattern[str] | None
    obeyed: re.Pattern[str] | None
    preamble: re.Pattern[str] | None
    line_bound: re.Pattern[str] | None
    closes_here: re.Pattern[str] | None  # a line that may end a document inside the text


# Strings. One that is never closed ends with its line, or with the text if it can be longer.
_DOUBLE = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?'
_SINGLE = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?"
_LONG_DOUBLE = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_LONG_SINGLE = r"'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)"
_BARE_DOUBLE = r'"[^"]*+(?:"|\Z)'
_BARE_SINGLE = r"'[^']*+(?:'|\Z)"
_TRIPLE_DOUBLE = r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+(?:"""|\\?\Z)'
_TRIPLE_SINGLE = r"'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+(?:'''|\\?\Z)"
_BARE_TRIPLE = r'"""[^"]*+(?:"(?!"")[^"]*+)*+(?:"""|\Z)'
_BACKTICK = r"`[^`\\]*+(?:\\.[^`\\]*+)*+(?:`|\\?\Z)"
_BARE_BACKTICK = r"`[^`]*+(?:`|\Z)"
_CHARACTER = r"'(?:\\[^\n]{1,9}?|[^\\'\n])'"
_VERBATIM = r'(?<=@)"[^"]*+(?:""[^"]*+)*+(?:"|\Z)'
# Where an operand may stand, a slash begins a pattern and not a division.
_REGEX = (
    r"(?:(?<=[=(:,\[!&|?{};+~])|(?<=[=(:,\[!&|?{};+~] )|(?<=return )|^)/(?![/*])"
    r"(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,200}+\]){1,400}+/"
)
_PHP_TEXT = r"[^<]*+(?:<(?!\?)[^<]*+)*+(?:<\?(?:php\b|=)?|\Z)"  # outside of its code
_SHEBANG = r"\A\#![^\n]*+"

_HERE_ENDS = r"\n[ \t]*+(?P<word>\w++)(?=\n|\Z)"

# Comments.
_SLASHES = r"//[^\n]*+"
_SPLICED = r"//[^\\\n]*+(?:\\.[^\\\n]*+)*+"  # goes on after a backslash
_BLOCK = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)"
_MARKUP_BLOCK = r"<!--[^-]*+(?:-(?!->)[^-]*+)*+(?:-->|\Z)"
_HASH = r"\#[^\n]*+"
_HASH_WORD = r"(?<![^\s;&|(){}\[\]])\#[^\n]*+"
_SHELL_HASH = r"(?<![^\s;&|()])\#[^\n]*+"
_DASHES = r"--[^\n]*+"
UNCLOSED = re.compile(r"/\*(?!.*\*/\Z)|<!--(?!.*-->\Z)|<\#(?!.*\#>\Z)", re.DOTALL)

_C_COMMENTS = (_BLOCK, _SLASHES)

_C = Language(
    begins="\"'/",
    keep=(_DOUBLE, _CHARACTER),
    drop=(_BLOCK, _SPLICED),
    tight=True,
    breaks=Breaks.NOTHING,
    commas="}",
    loose_braces=True,
)

# By suffixes, or by the names of files without one. What a language adds to its neighbours:
# - C++ and Rust have raw strings, whose end is named at their beginning;
# - Kotlin, Scala, Swift and Rust nest their block comments, so do OCaml and F#;
# - a quote in Rust may begin a lifetime, so only a whole character literal is kept;
# - JavaScript has patterns between slashes, in which `//` is no comment;
# - in Python and YAML, in Makefiles and F#, indentation means something;
# - in shells a `#` begins a comment only where a word begins: `${x#y}` and `a#b` have none;
# - in shells, Ruby and PHP a document may stand in the text, and `#` is text in it; so it is in the
#   indented texts of YAML;
# - a shebang is a comment by its looks, and decides how the file runs, so it is kept.
# Languages that are not here are read by Pygments, if it has a lexer that takes linear time.

_TABLE = {
    "c h m mm": _C,
    "proto zig v sol d thrift prisma wgsl": structs.replace(_C, drop=_C_COMMENTS),
    "cc cpp cxx hh hpp ino cu cuh": structs.replace(_C, raw=r'(?<=R)"(?P<mark>[^()\\\s"]{0,16})\('),
    "java": structs.replace(_C, keep=(_BARE_TRIPLE, _DOUBLE, _CHARACTER), drop=_C_COMMENTS),
    "kt kts swift": Language(
        begins="\"'/",
        keep=(_BARE_TRIPLE, _DOUBLE, _CHARACTER),
        drop=(_SLASHES,),
        nest=(r"/\*", r"\*/"),
        tight=True,
        breaks=Breaks.SOME,
        commas=")]",
    ),
    "scala": Language(
        begins="\"'/",
        keep=(_BARE_TRIPLE, _DOUBLE, _CHARACTER),
        drop=(_SLASHES,),
        nest=(r"/\*", r"\*/"),
        indented=True,
        tight=True,
    ),
    "rs": Language(
        begins="\"'/#",
        keep=(_LONG_DOUBLE, _CHARACTER),
        drop=(_SLASHES,),
        nest=(r"/\*", r"\*/"),
        raw=r'(?:(?<=\br)|(?<=\bbr))(?P<hashes>\#*+)"',
        tight=True,
        breaks=Breaks.NOTHING,
        commas=")]}",
    ),
    "go": Language(
        begins="\"'/`",
        keep=(_BARE_BACKTICK, _DOUBLE, _CHARACTER),
        drop=_C_COMMENTS,
        obeyed=(
            r"//(?:go:|export |line |[ \t]*+\+build\b)"
            r'|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/\n?import[ \t]++"C"'  # which is compiled as C
        ),
        preamble=(
            r'(?:\A|^(?!//)[^\n]*+\n)(?P<code>(?://[^\n]*+\n)++)import[ \t]++"C"'  # so is this
        ),
        tight=True,
        breaks=Breaks.SOME,
        commas=")]}",
    ),
    "cs": structs.replace(
        _C, keep=(_VERBATIM, _BARE_TRIPLE, _DOUBLE, _CHARACTER), drop=_C_COMMENTS
    ),
    "js jsx mjs cjs ts tsx": Language(
        begins="\"'/`#",
        keep=(_SHEBANG, _BACKTICK, _DOUBLE, _SINGLE, _REGEX),
        drop=_C_COMMENTS,
        obeyed=(
            r"///[ \t]*+<(?:reference|amd-)|/[/*]@cc_on|/\*[*\s]*+(?:webpack[A-Z]|@vite-ignore"
            r"|@jsx|@(?:jest|vitest)-environment)"
        ),
        tight=True,
        breaks=Breaks.SOME,
        commas=")]}",
        loose_braces=True,
        like_quotes=True,
        loose_semicolons=True,
    ),
    "php": Language(
        begins="\"'/#<?",
        keep=(
            _SHEBANG,
            rf"\?>{_PHP_TEXT}",
            rf"\A(?=<(?!\?)){_PHP_TEXT}",
            _LONG_DOUBLE,
            _LONG_SINGLE,
        ),
        drop=(_BLOCK, r"(?://|\#(?!\[))[^\n?]*+(?:\?(?!>)[^\n?]*+)*+"),
        raw=r"<<<[ \t]*+[\"']?+(?P<here>\w++)[\"']?+(?=\n)",
        here_ends=r"\n[ \t]*+(?P<word>\w++)",
        tight=True,
        breaks=Breaks.NOTHING,
        commas=")]",
        loose_braces=True,
    ),
    "dart groovy gradle": Language(
        begins="\"'/",
        keep=(_TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
        drop=_C_COMMENTS,
        tight=True,
        breaks=Breaks.SOME,
        commas=")]}",
    ),
    "py pyi bzl bazel star": Language(
        begins="\"'#",
        keep=(_SHEBANG, _TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
        drop=(_HASH,),
        obeyed=r"\#[^\n]*?coding[:=]",
        obeyed_first=True,
        indented=True,
        tight=True,
        docstrings=True,
    ),
    "rb gemspec podspec rakefile gemfile cr": Language(
        begins="\"'#<=",
        keep=(_SHEBANG, _LONG_DOUBLE, _LONG_SINGLE),
        drop=(
            r"^=begin\b[^\n]*+(?:\n(?!=end\b)[^\n]*+)*+(?:\n=end[^\n]*+|\Z)",
            _HASH_WORD,
        ),
        obeyed=(
            r"\#[-*\s]*+(?:frozen_string_literal|(?:en)?coding|warn_indent"
            r"|shareable_constant_value|warn_past_scope)[ \t]*+[:=]"
        ),
        raw=r"<<(?=[~-]|[\"']?[A-Z_])[~-]?+[\"'`]?+(?P<here>[^\W\d]\w*+)[\"'`]?+",
        here_ends=_HERE_ENDS,
    ),
    "pl pm t": Language(
        begins="\"'#<=",
        keep=(_SHEBANG, _DOUBLE, _SINGLE),
        drop=(
            r"^=[a-z]\w*+[^\n]*+(?:\n(?!=cut\b)[^\n]*+)*+(?:\n=cut[^\n]*+|\Z)",
            _HASH_WORD,
        ),
        raw=r"<<(?=~?[\"'A-Z_])~?+[\"']?+(?P<here>[^\W\d]\w*+)[\"']?+",
        here_ends=_HERE_ENDS,
    ),
    "sh bash zsh bats": Language(
        begins="\"'#\\\\<",
        keep=(_SHEBANG, r"\\.", _LONG_DOUBLE, _BARE_SINGLE),
        drop=(_SHELL_HASH,),
        raw=r"(?<!<)<<-?+[ \t]*+[\"'\\]?+(?P<here>[^\W\d]\w*+)[\"']?+",
        here_ends=_HERE_ENDS,
    ),
    "ps1 psd1 psm1": Language(
        begins="\"'#<`",
        keep=(_SHEBANG, r"`.", r'"[^"`]*+(?:`.[^"`]*+)*+(?:"|\Z)', _BARE_SINGLE),
        drop=(r"<\#[^#]*+(?:\#(?!>)[^#]*+)*+(?:\#>|\Z)", _HASH_WORD),
    ),
    "r awk tcl test": Language(
        begins="\"'#", keep=(_SHEBANG, _TRIPLE_DOUBLE, _DOUBLE, _SINGLE), drop=(_HASH,)
    ),
    "cmake": Language(
        begins='"#[',
        keep=(_LONG_DOUBLE,),
        drop=(_HASH,),
        raw=r"(?P<dashes>\#)?\[(?P<equals>=*+)\[",
    ),
    "mk makefile": Language(
        begins="#\\\\", keep=(_SHEBANG, r"\\."), drop=(_SHELL_HASH,), indented=True, recipes=True
    ),
    "dockerfile": Language(lines=("#",), obeyed=r"\#[ \t]*+(?:syntax|escape|check)[ \t]*+="),
    "env gitignore gitattributes dockerignore": Language(lines=("#",)),
    "yml yaml": Language(
        begins="\"'#|>",
        keep=(
            r'(?<![^\s\[{,:])"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)',
            r"(?<![^\s\[{,:])'[^']*+(?:''[^']*+)*+(?:'|\Z)",
        ),
        drop=(r"(?<!\S)\#[^\n]*+",),
        raw=r"(?<=[:-] )[|>](?P<scalar>[-+\d]{0,2}+)(?=[ \t]*+(?:\#[^\n]*+)?\n)",
        indented=True,
    ),
    "toml": Language(
        begins="\"'#",
        keep=(_TRIPLE_DOUBLE, r"'''[^']*+(?:'(?!'')[^']*+)*+(?:'''|\Z)", _DOUBLE, r"'[^'\n]*+'?"),
        drop=(_HASH,),
        tight=True,
        breaks=Breaks.SOME,
        commas="]",
    ),
    "tf tfvars hcl nix": Language(begins='"/#', keep=(_DOUBLE,), drop=(*_C_COMMENTS, _HASH)),
    "sql": Language(
        begins="\"'/-",
        keep=(_BARE_SINGLE, _BARE_DOUBLE),
        drop=(_BLOCK, _DASHES),
        obeyed=r"/\*[!+]|--\+",
        breaks=Breaks.NOTHING,
        line_bound=r"[$\\#]|^[ \t]*+(?i:go|delimiter|prompt|spool|rem)\b",  # of its clients
    ),
    "lua": Language(
        begins="\"'-[",
        keep=(_DOUBLE, _SINGLE),
        drop=(_DASHES,),
        raw=r"(?P<dashes>--)?\[(?P<equals>=*+)\[",
    ),
    "ml": Language(begins="\"'(", keep=(_LONG_DOUBLE, _CHARACTER), nest=(r"\(\*(?!\))", r"\*\)")),
    "fs": Language(
        begins="\"'(/",
        keep=(_BARE_TRIPLE, _LONG_DOUBLE, _CHARACTER),
        drop=(_SLASHES,),
        nest=(r"\(\*(?!\))", r"\*\)"),
        indented=True,
    ),
    "lisp scm": Language(begins='";\\\\', keep=(_LONG_DOUBLE, r"\\."), drop=(r";[^\n]*+",)),
    "erl": Language(begins="\"'%$", keep=(_LONG_DOUBLE, _SINGLE, r"\$."), drop=(r"%[^\n]*+",)),
    "ini cfg conf editorconfig": Language(lines=("#", ";")),
    "f f90 f95": Language(lines=("!", "C ", "c ")),
    "s": Language(lines=(";", "#", "//")),
    "adb ads": Language(lines=("--",)),
    "vim": Language(lines=('"',)),
    "service timer socket desktop ninja po pot npmrc gn gni": Language(lines=("#", ";")),
    "pas": Language(lines=("//",)),
    "html htm xhtml xml xsd xsl xslt svg md csproj fsproj props targets xaml resx plist": Language(
        begins="<", drop=(_MARKUP_BLOCK,), obeyed=r"<!--(?:\[if\b|\#\w)"
    ),
    "vue svelte astro": Language(
        begins='"`</',
        keep=(_BACKTICK, _DOUBLE),
        drop=(_MARKUP_BLOCK, _BLOCK, r"(?<![:\w])//[^\n]*+"),
    ),
    "css": Language(begins="\"'/", keep=(_DOUBLE, _SINGLE), drop=(_BLOCK,)),
    "scss less jsonc": Language(
        begins="\"'/", keep=(_DOUBLE, _SINGLE), drop=(_BLOCK, r"(?<![:(])//[^\n]*+")
    ),
    "json ipynb": Language(begins='"', keep=(_DOUBLE,), tight=True, breaks=Breaks.NOTHING),
    "bat cmd": Language(lines=("rem ", "Rem ", "REM ", "@rem ", "@REM ", "::")),
    "vb": Language(begins="\"'", keep=(r'"[^"\n]*+"?',), drop=(r"'[^\n]*+",)),
    "coffee": Language(
        begins="\"'#",
        keep=(_TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
        drop=(r"\#\#\#[^#]*+(?:\#(?!\#\#)[^#]*+)*+(?:\#\#\#|\Z)", _HASH),
        indented=True,
    ),
    "styl pug haml slim": Language(indented=True),  # comments of theirs are kept
}
_BY_SUFFIX = {
    suffix: language for suffixes, language in _TABLE.items() for suffix in suffixes.split()
}


@cache
def compiled_language(suffix: str) -> CompiledLanguage | None:
    """The language of a file by its suffix, or by its name if it has none; None if unknown."""
    language = _BY_SUFFIX.get(suffix)
    if language is None:
        return None
    return CompiledLanguage(
        language=language,
        finds=_finds(language),
        nests=_nests(language),
        obeyed=_optional(language.obeyed),
        preamble=_optional(language.preamble),
        line_bound=_optional(language.line_bound),
        closes_here=_optional(language.here_ends),
    )


def _finds(language: Language) -> re.Pattern[str] | None:
    """Matches code up to the next string or comment, and that string or comment as a group."""
    if not language.begins:
        return None
    groups = []
    if language.raw:  # first: its opening quote is no ordinary one
        groups.append(f"(?P<raw>{language.raw})")
    if language.keep:
        groups.append(f"(?P<keep>{'|'.join(language.keep)})")
    if language.nest:
        groups.append(f"(?P<nest>{language.nest[0]})")
    if language.drop:
        groups.append(f"(?P<drop>{'|'.join(language.drop)})")
    escaped = re.sub(r"([\]\[^-])", r"\\\1", language.begins)
    return _compiled(rf"[^{escaped}]*+(?:{'|'.join(groups)}|.|\Z)")


def _nests(language: Language) -> re.Pattern[str] | None:
    """Matches what opens a comment that nests, as a group, and what closes one."""
    if language.nest is None:
        return None
    opens, closes = language.nest
    return _compiled(f"({opens})|{closes}")


def _optional(pattern: str) -> re.Pattern[str] | None:
    return _compiled(pattern) if pattern else None


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL | re.MULTILINE)
