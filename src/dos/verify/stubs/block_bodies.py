"""Reads the functions, classes and statements of languages that write blocks, without a parser.

Comments and strings are taken out first, and only marks are left of them, so that every brace is
one of the program. What is in doubt counts as real work.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dos.verify import content
from dos.verify.stubs.bodies import DELIBERATE, ERROR_CLASS, NOTHING_BY_NAME, UNFINISHED, Kind, Part

BRACED = frozenset(
    (
        "c", "cc", "cjs", "cpp", "cs", "cxx", "dart", "go", "h", "hh", "hpp", "java", "js", "jsx",
        "kt", "kts", "mjs", "php", "rs", "scala", "swift", "ts", "tsx",
    )
)  # fmt: skip
RUBY = "rb"
SHELLS = frozenset(("sh", "bash", "zsh"))
SUFFIXES = BRACED | SHELLS | {RUBY}
# What is left of strings and comments: that they say that the work is not done, or is to be empty.
_TODO = "\ue000"  # in a string
_NOTE = "\ue002"  # in a comment
_MEANT = "\ue001"
_ALL_MARKS = _TODO + _NOTE + _MEANT
_MARKS = str.maketrans("", "", _ALL_MARKS)
_EMPTY_TYPES = re.compile(r"\b(?:interface|struct)\s*\{\s*\}(?:\s*\{\s*\})?")  # of Go
_EXPANSION = re.compile(r"\$\{[^{}\n]*\}")  # of shells
_BRACE = re.compile(r"[{}]")
_HEAD_BEGINS = re.compile(r"[;{}]|\n[ \t]*\n")
_CONTROL = re.compile(
    r"^(?:\}?\s*else\b|(?:if|for|foreach|while|switch|catch|match|do|try|finally|using|lock|select"
    r"|synchronized|loop|unsafe|guard|defer|with|case|default|when)\b)"
)
_CONTAINER = re.compile(
    r"\b(?:class|interface|trait|struct|enum|impl|namespace|module|mod|object|extension|protocol"
    r"|record|union|package|extern|type)\b(?![^\n]*\bfunc\b)"
)
_INTERFACE = re.compile(r"\b(?:interface|protocol|trait)\b|\btype\s+\w+\s*=\s*$")
_CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)[^()]*$|\btype\s+(\w+)\s+struct\s*$")
_FUNCTION = re.compile(r"\)[^(){};]*$|=>\s*$|\bfunction\s+[\w-]+\s*$")
_FUNCTION_NAME = re.compile(r"([\w$~]+[?!]?)\s*(?:<[^<>()]*>)?\s*\(")
_ARROW_NAME = re.compile(r"\b([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?\(?[^=]*=>\s*$")
_CONSTRUCTOR = re.compile(
    r"^(?:(?:public|private|protected|internal|explicit|constexpr|const|inline|override)\s+)*"
    r"(?:constructor|init|__construct|deinit|~\w+|[A-Z]\w*(?:::~?[A-Z]\w*)?)\s*\("
)
_GO_MARKER = re.compile(r"\)\s*is[A-Z]\w*\s*\(\)\s*$")
_RUBY_FUNCTION = re.compile(r"(?P<indent>[ \t]*)def[ \t]+(?P<name>[^\s(;]+)(?P<rest>[^\n]*)")
_RUBY_EMPTY_CLASS = re.compile(r"^[ \t]*class[ \t]+([\w:]+)([^\n;]*)(?:;|\n)\s*end\b", re.MULTILINE)

# Statements that do nothing yet. A string is `""` by now, and one that says so is `"\ue000"`.
_STUB = re.compile(
    r"(?:return\s+)?(?:todo|unimplemented)!\s*[(\[{].*"
    r"|(?:return\s+)?throw\s+(?:new\s+)?(?:\w+\.)*"
    r"(?:NotImplemented|Unimplemented|NotSupported|UnsupportedOperation)\w*.*"
    r"|(?:return\s+)?TODO\s*\(.*\)|fatalError\s*\(\s*\)|\?\?\?|raise\s+NotImplementedError.*"
)
_SAYING = re.compile(
    r"(?:return\b|throw\b|raise\b|panic!?\s*\(|fatalError|preconditionFailure|die\b|abort\b|exit\b"
    r"|console\.|System\.|std::|print|fmt\.|log|Log|Err\s*\(|Promise\.reject|echo\b|puts\b|warn"
    r"|e?println!|assert).*"
)
_RETURNED_TEXT = re.compile(r"return\s+[^(]*")  # a text is a value, whatever it says
_NO_VALUE = re.compile(r"(?:return\b\s*)?(?:null|nil|undefined|None|void 0|nil, nil)?|exit(?: 0)?")
_FILLER = re.compile(r":|true|_ = \w+|let _ = \w+|\(void\)\s*\w+")  # as empty as no statement
_EMPTY_VALUE = re.compile(
    r"(?:return\s+)?(?:-?[\d.]+\w*|\"\"|''|``|false|true|\[\s*\]|\{\s*\}|default(?:\(\w*\))?"
    r"|Ok\(\(\)\)|Default::default\(\)|String::new\(\)|vec!\[\]|Vec::new\(\)|\"\", nil|0, nil"
    r"|\w+\.empty\(\)|(?:List|Map|Set)\.of\(\)|new \w+(?:<[^<>]*>)?\(\)|\(\))"
)
_VALUE = re.compile(r".*(?:=>|(?<![=!<>])=(?!=))\s*(?P<value>.*)")

# Pieces outside of functions that are no work by themselves.
_DECLARES = re.compile(
    r"^(?:import|use|using|package|export\s*[{*]|export\s+default\s+\w+$|from|include|require"
    r"|require_relative|require_once|module\.exports|exports\.|mod|pub\s+mod|pub\s+use|namespace"
    r"|extern|typedef|declare|abstract|override|end\b|class|interface|trait|struct|enum|impl"
    r"|protocol|object|extension|record|sealed|data|type|public:|private:|protected:|attr_\w+"
    r"|extend|module|set\s+-|source|\.\s|@\w|\#|\[[A-Z]\w*|<\?php|main\b|else|fi|then)"
)
_CALL = re.compile(r"^(?:await\s+)?[\w.$:!]+\s*\(")
_UNIT_STRUCT = re.compile(r"^(?:pub(?:\([^)]*\))?\s+)?struct\s+(\w+)$")


class _Block(NamedTuple):
    """A pair of braces: where its header begins, where they open and close, and the header."""

    begins: int
    opens: int
    closes: int
    header: str


def parts(path: str, text: str) -> list[Part]:
    """Return the parts of a file."""
    suffix = path.rpartition(".")[2].lower()
    code = _marked_code(path, text)
    if suffix == RUBY:
        return list(_ruby_parts(code))
    if suffix in SHELLS:
        code = _EXPANSION.sub("x", code)
    if suffix == "go":
        code = _EMPTY_TYPES.sub("any", code)
    return list(_braced_parts(code, suffix))


def _marked_code(path: str, text: str) -> str:
    """The text with a mark in place of each comment and string that says something about stubs."""
    code: list[str] = []
    for segment in content.segments(path, text):
        code.append(segment.code)
        mark = ""
        if UNFINISHED.search(segment.literal):
            mark = _NOTE if segment.is_comment else _TODO
        elif DELIBERATE.search(segment.literal):
            mark = _MEANT
        if segment.is_comment:
            code.append(f"{mark} ")
        elif segment.literal:
            code.append(f'"{mark}"')
    return "".join(code)


def _braced_parts(code: str, suffix: str) -> Iterator[Part]:
    """Yield functions, empty classes, and what is left outside of both."""
    outside: list[str] = []
    done = 0
    for block in _blocks(code):
        if block.begins < done:
            continue
        body = code[block.opens + 1 : block.closes]
        if _is_function(block.header, suffix):
            outside.append(code[done : block.begins])
            yield _function(block.header, body)
            done = block.closes + 1
        elif _CONTAINER.search(block.header):
            named = _CLASS.search(block.header)
            if named and not body.translate(_MARKS).strip():
                yield _empty_class(named[1] or named[2], block.header, body)
            elif _INTERFACE.search(block.header) and not _FUNCTION_NAME.search(block.header):
                yield Part(Kind.DECLARATION, block.header, body)
                outside.append(code[done : block.begins])
                # Default methods of an interface are bodies like any others.
                yield from _braced_functions(body, suffix)
                done = block.closes + 1
    outside.append(code[done:])
    yield from _outside("\n".join(outside))


def _braced_functions(code: str, suffix: str) -> Iterator[Part]:
    """Yield only the functions of a block."""
    done = 0
    for block in _blocks(code):
        if block.begins >= done and _is_function(block.header, suffix):
            yield _function(block.header, code[block.opens + 1 : block.closes])
            done = block.closes + 1


def _blocks(code: str) -> Iterator[_Block]:
    """Yield every pair of braces in the order in which they open; unclosed ones are left out."""
    opened: list[int] = []
    pairs: dict[int, int] = {}
    for brace in _BRACE.finditer(code):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            pairs[opened.pop()] = brace.start()
    for opens in sorted(pairs):
        begins = 0
        for edge in _HEAD_BEGINS.finditer(code, max(0, opens - 2000), opens):
            begins = edge.end()
        yield _Block(begins, opens, pairs[opens], code[begins:opens].translate(_MARKS).strip())


def _is_function(header: str, suffix: str) -> bool:
    """Whether a block with this header is the body of a function."""
    if _CONTROL.search(header):
        return False
    if suffix in SHELLS:
        return re.search(r"(?:^|\n)\s*(?:function\s+)?[\w-]+\s*(?:\(\s*\))?$", header) is not None
    if _CONTAINER.search(header) and not re.search(r"\b(?:fn|func|fun|function|def)\b", header):
        return False
    return _FUNCTION.search(header) is not None


def _function(header: str, body: str) -> Part:
    """A function as a part. Its name is that before the first bracket, or of the variable."""
    arrow = _ARROW_NAME.search(header)
    named = arrow or _FUNCTION_NAME.search(re.sub(r"^\s*func\s*\([^)]*\)", "", header))
    name = named[1] if named else header.rpartition(" ")[2]
    return Part(_body_kind(name, header, body), name, f"{header}{{{body.translate(_MARKS)}}}")


def _body_kind(name: str, header: str, body: str) -> Kind:
    """Return whether a body is real, a stub, or empty for a reason."""
    is_unfinished = _NOTE in body
    is_meant = not is_unfinished and (_MEANT in body or NOTHING_BY_NAME.search(name))
    pieces = [piece for piece in _pieces(body) if not _FILLER.fullmatch(piece)]
    if not all(_is_idle(piece, is_unfinished=is_unfinished) for piece in pieces):
        return Kind.REAL
    if is_meant:
        return Kind.DECLARATION
    if is_unfinished or any(_STUB.fullmatch(piece) or _TODO in piece for piece in pieces):
        return Kind.STUB
    if pieces or _CONSTRUCTOR.match(header) or _GO_MARKER.search(header):
        return Kind.DECLARATION
    return Kind.STUB


def _is_idle(piece: str, *, is_unfinished: bool) -> bool:
    """Whether a statement does nothing; a value is nothing where a comment says what is missing."""
    if _STUB.fullmatch(piece) or _NO_VALUE.fullmatch(piece):
        return True
    if _TODO in piece:
        return _SAYING.fullmatch(piece) is not None and not _RETURNED_TEXT.fullmatch(piece)
    return is_unfinished and _EMPTY_VALUE.fullmatch(piece) is not None


def _pieces(code: str) -> list[str]:
    """The statements of a code, without the marks that comments left at their ends."""
    pieces = []
    for line in re.split(r"[;\n]", code):
        piece = line.strip().strip(_ALL_MARKS).strip()
        if piece:
            pieces.append(piece)
    return pieces


def _empty_class(name: str, header: str, body: str) -> Part:
    """An empty class as a part; an exception is complete without a body."""
    parents = header.partition(name)[2]
    is_meant = _MEANT in body or NOTHING_BY_NAME.search(name)
    if ERROR_CLASS.search(parents) or (is_meant and _NOTE not in body):
        return Part(Kind.DECLARATION, name, header)
    return Part(Kind.STUB, name, header)


def _outside(code: str) -> Iterator[Part]:
    """Yield the statements outside of functions: declarations, calls, values, stubs."""
    for line in code.split("\n"):
        for piece in _pieces(line):
            if any(map(str.isalnum, piece)):
                yield _outside_part(piece, is_unfinished=_NOTE in line)


def _outside_part(piece: str, *, is_unfinished: bool) -> Part:
    unit_struct = _UNIT_STRUCT.match(piece)
    if unit_struct:
        return Part(Kind.STUB, unit_struct[1], piece)
    value = _VALUE.match(piece)
    if value and "(" in piece[: value.start("value")]:
        stated = value["value"].strip()
        if _is_idle(stated, is_unfinished=is_unfinished) and (
            is_unfinished or _STUB.fullmatch(stated)
        ):
            named = _FUNCTION_NAME.search(piece)
            return Part(Kind.STUB, named[1] if named else piece, piece)
    if _TODO in piece and _SAYING.fullmatch(piece):
        return Part(Kind.STUB, piece.translate(_MARKS), piece)
    if _DECLARES.match(piece):
        return Part(Kind.DECLARATION, "", piece)
    has_value = value is not None and re.search(r"[(\[{]|=>", value["value"])
    if has_value or _CALL.match(piece):
        return Part(Kind.REAL, "", piece)
    return Part(Kind.DECLARATION, "", piece)


def _ruby_parts(code: str) -> Iterator[Part]:
    """Yield methods, empty classes, and what is left outside of both."""
    outside: list[str] = []
    lines = iter(code.split("\n"))
    for line in lines:
        method = _RUBY_FUNCTION.match(line)
        if method is None:
            outside.append(line)
            continue
        body = ""
        if not re.search(r";\s*end\s*$", line):
            body = "\n".join(_until(lines, f"{method['indent']}end"))
        text = f"{method['rest']}{body}".translate(_MARKS)
        yield Part(_body_kind(method["name"], "", body), method["name"], text)
    rest = "\n".join(outside)
    for match in _RUBY_EMPTY_CLASS.finditer(rest):
        yield _empty_class(match[1], match[0], match[0])
    yield from _outside(_RUBY_EMPTY_CLASS.sub("", rest))


def _until(lines: Iterator[str], end: str) -> Iterator[str]:
    """Yield lines up to the one that closes a block, by its indentation."""
    for line in lines:
        if line.rstrip() == end:
            return
        yield line
