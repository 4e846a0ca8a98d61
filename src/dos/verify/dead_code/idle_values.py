"""Finds texts of Ruby and of shells that stand alone: nothing takes them."""

import re
from collections.abc import Iterator, Sequence

from dos.verify.code.scanner import Segment
from dos.verify.dead_code.span import Span

# In a text in which comments are blank, texts without code in them are `x`, and others `$`. A
# command of a shell expands its arguments and opens its files, so these have to be plain.
_COLON = re.compile(r"^[ \t]*+:(?:[ \t]*+$|[ \t]++[^\n$`&|;<>()]*+$|x++[ \t]*+$)", re.MULTILINE)
_HERE = re.compile(r"<<[~-]?+[ \t]*+(?P<quote>[\"'\\]?)\w++[\"']?+;?[ \t]*+")
_EXPANDED = {"shell": re.compile(r"[$`]"), "ruby": re.compile(r"#[{$@]|`")}
_LOOK_BACK = 200  # characters of code before a string that tell whether a statement begins there
_ENDED = re.compile(r"[\w)\]};][?!]?\Z")  # how a statement of Ruby may end, and how it may not
_OPEN = re.compile(r"\b(?:and|or|not|when|in|if|unless|while|until|case|return|yield)\Z")
_AFTER = re.compile(
    r"[ \t]*+;?[ \t]*+\n\s*?(?P<margin>^[ \t]*+)(?!(?:end|else|elsif|when|in|rescue|ensure)\b)"
    r"[\w@$:]",
    re.MULTILINE,
)


def spans(kind: str, segments: Sequence[Segment]) -> list[Span]:
    """The texts that stand alone: strings of Ruby, and what a shell gives to `:`."""
    if kind == "shell":
        masked = "".join(_masked(kind, segments))
        return [Span(found.start(), found.end()) for found in _COLON.finditer(masked)]
    return list(_idle_strings(segments))


def _masked(kind: str, segments: Sequence[Segment]) -> Iterator[str]:
    for segment in segments:
        yield segment.code
        if segment.is_comment:
            yield " " * len(segment.literal)
        elif segment.literal:
            yield ("x" if _is_inert(kind, segment.literal) else "$") * len(segment.literal)


def _is_inert(kind: str, literal: str) -> bool:
    """Whether a string or a here document has no code in it, and nothing stands beside it."""
    if literal[:2] == "<<":
        opening = _HERE.fullmatch(literal.partition("\n")[0])
        if opening is None:
            return False
        return opening["quote"] in ("'", "\\") or not _is_expanded(kind, literal)
    if literal[:1] == "'":
        return True
    return literal[:1] in ('"', "\\") and not _is_expanded(kind, literal)


def _is_expanded(kind: str, literal: str) -> bool:
    return _EXPANDED[kind].search(literal) is not None


def _idle_strings(segments: Sequence[Segment]) -> Iterator[Span]:
    """Yield the strings of Ruby that are statements, but not the last of their block."""
    at = 0
    depth = 0
    statement = ""  # the end of the statement before, without comments
    for segment, after in zip(segments, (*segments[1:], None), strict=True):
        depth += sum(map(segment.code.count, "([{")) - sum(map(segment.code.count, ")]}"))
        statement = (statement + segment.code)[-_LOOK_BACK:]
        start = at + len(segment.code)
        at = start + len(segment.literal)
        if segment.is_comment or not segment.literal:
            continue
        is_alone = depth <= 0 and after is not None and _is_statement(statement, after.code)
        if is_alone and _is_inert("ruby", segment.literal):
            yield Span(start, at)
        statement = "x"


def _is_statement(before: str, after: str) -> bool:
    """Whether a string between two pieces of code is a statement, and others follow in its block.

    The last value of a block is what the block returns.
    """
    code, _, margin = before.rpartition("\n")
    follows = _AFTER.match(after)
    if margin.strip() or follows is None or follows["margin"] != margin:
        return False
    code = code.rstrip()
    return not code or bool(_ENDED.search(code) and not _OPEN.search(code))
